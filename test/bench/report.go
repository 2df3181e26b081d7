package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"
)

// figure is one result. Ratio is the value over that of Against, below 1 when
// Berth takes less.
type figure struct {
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	Against string  `json:"against,omitempty"` // what it is compared with, and its value
	Ratio   float64 `json:"ratio,omitempty"`
	Aim     float64 `json:"aim,omitempty"` // upper bound, in the same unit
	Missed  bool    `json:"missed,omitempty"`
}

// add records a figure; other is the value that it is compared with, 0 for
// none, aim the upper bound that it should keep, 0 for none.
func (b *bench) add(name string, value float64, unit, against string, other, aim float64) {
	f := figure{Name: name, Value: round(value), Unit: unit, Aim: round(aim), Missed: aim > 0 && value > aim}
	if other > 0 {
		f.Against = fmt.Sprintf("%s: %g %s", against, round(other), unit)
		f.Ratio = round(value / other)
	}
	b.figures = append(b.figures, f)
}

// round keeps three significant digits.
func round(v float64) float64 {
	if v == 0 {
		return 0
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}

func (b *bench) print(w io.Writer) {
	fmt.Fprintf(w, "%s/%s, %d processors, %s, %s\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), time.Now().UTC().Format(time.DateOnly))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "what\tBerth\tcompared with\tratio\taim")
	for _, f := range b.figures {
		ratio, aim := "", ""
		if f.Ratio > 0 {
			ratio = fmt.Sprintf("%.2g", f.Ratio)
		}
		if f.Aim > 0 {
			aim = fmt.Sprintf("under %g", f.Aim)
		}
		if f.Missed {
			aim += " MISSED"
		}
		fmt.Fprintf(t, "%s\t%g %s\t%s\t%s\t%s\n", f.Name, f.Value, f.Unit, f.Against, ratio, aim)
	}
	t.Flush()
}

func (b *bench) write(path string) error {
	data, err := json.MarshalIndent(b.figures, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

// quantile of times, in milliseconds; times are sorted in place.
func quantile(times []time.Duration, q float64) float64 {
	if len(times) == 0 {
		return math.NaN()
	}
	slices.Sort(times)
	at := min(int(q*float64(len(times))), len(times)-1)
	return float64(times[at]) / float64(time.Millisecond)
}

// megabyte is 2^20 bytes, as memory is counted.
const megabyte = 1 << 20
