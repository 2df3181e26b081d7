package provider

import (
	"context"
	"testing"
)

// slowDriver answers a look once it is told to.
type slowDriver struct {
	Driver
	name string
	tell chan struct{}
}

func (d slowDriver) Name() string { return d.name }

func (d slowDriver) Describe(ctx context.Context, _ Host) Description {
	select {
	case <-d.tell:
		return Description{Name: d.name, Title: "Slow", Status: Ready}
	case <-ctx.Done():
		return Description{Name: d.name, Status: Broken}
	}
}

func TestSeenDoesNotWaitForALook(t *testing.T) {
	changed := make(chan struct{}, 2)
	c := NewCatalog(Host{}, func(string) (string, []string) { return "", nil }, func() { changed <- struct{}{} })
	slow, quick := slowDriver{name: "slow", tell: make(chan struct{})}, slowDriver{name: "quick", tell: make(chan struct{})}
	c.Add(slow)
	c.Add(quick)
	done := make(chan []Description)
	go func() { done <- c.List(t.Context(), false) }()

	close(quick.tell)
	<-changed
	seen := c.Seen()
	if len(seen) != 2 || seen[0].Status != Unknown || seen[1].Status != Ready {
		t.Errorf("while one look goes on: %+v", seen)
	}

	close(slow.tell)
	if all := <-done; len(all) != 2 || all[0].Status != Ready || all[0].Name != "slow" {
		t.Errorf("after both looks: %+v", all)
	}
}
