package conformance

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"berth/backend/provider"
	"berth/test/clis"
)

// TestDrivers runs every case through every driver.
func TestDrivers(t *testing.T) {
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel() // most of the time is waiting
			t.Run("declares", func(t *testing.T) { declares(t, a) })
			a.runCases(t, false)
		})
	}
}

// TestProgram runs the cases that ask most of the parts above the drivers
// through berth serve.
func TestProgram(t *testing.T) {
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			a.runCases(t, true)
		})
	}
}

func (a agent) runCases(t *testing.T, wholeProgram bool) {
	group := "driver/" + a.name
	if wholeProgram {
		group = "program/" + a.name
	}
	for _, c := range slices.Concat(cases, strainCases, lifeCases) {
		if wholeProgram && !c.whole {
			continue
		}
		if c.needs != nil && !c.needs(a.can) {
			continue // "declares" holds that the driver says the same
		}
		if why, ok := a.except[c.name]; ok {
			t.Logf("%s: %s", c.name, why)
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, a, wholeProgram)
			mode := cmp.Or(a.modeFor[c.name], c.mode)
			c.run(t, b, b.talk(provider.Spec{Mode: mode, Instructions: marker}))
			if !t.Failed() {
				count(group)
			}
		})
	}
}

// declares checks the description: version, readiness, and that the driver
// declares exactly what the cases below rely on.
func declares(t *testing.T, a agent) {
	b := newBench(t, a, false)
	k := b.talk(provider.Spec{}) // some agents tell what they can only in a conversation
	k.send("hello")
	wantState(t, k.ended(), "completed")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	d := b.driver.Describe(ctx, b.host)
	want, err := clis.Pinned(a.command)
	if err != nil {
		t.Fatal(err)
	}
	if d.Status != provider.Ready || d.Version != want {
		t.Errorf("status %s (%s %s), version %q, want ready and %q", d.Status, d.Message, d.Detail, d.Version, want)
	}
	if d.Capabilities != a.can {
		t.Errorf("the driver declares\n%+v\nand this test\n%+v", d.Capabilities, a.can)
	}
	if !slices.Equal(slices.Sorted(slices.Values(d.Modes)), slices.Sorted(slices.Values(a.modes))) {
		t.Errorf("the driver declares the modes %v, this test %v", d.Modes, a.modes)
	}
	if !t.Failed() {
		count("driver/" + a.name)
	}
}
