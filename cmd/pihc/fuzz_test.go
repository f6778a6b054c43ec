package main

import (
	"encoding/json"
	"io"
	"testing"

	"github.com/spf13/cobra"

	"pihc/experiment"
	"pihc/internal/disk"
	"pihc/pde"
)

// metrics.json, on any bytes: what is accepted can be printed and written.
func FuzzMetrics(f *testing.F) {
	f.Add([]byte(`{"version": 3, "problem": "p", "method": "moe", "grid": [3, 4], "samples": 2, "relative_l2": {"mean": 0.1, "std": 0, "median": 0.1, "max": 0.2},
"experts": [{"iterations": {"mean": 1}, "constraint_rms": {}, "statuses": {"converged (gradient)": 2}}], "error_over_time": {"time": [0, 1], "relative_l2": [null, 0.2]}, "grids": [{"grid": [2, 2]}], "split": "test", "points": 3}`))
	f.Add([]byte(`{"grids": [null, {}], "experts": [], "relative_l2": null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var m experiment.Metrics
		if disk.DecodeJSON(text, &m) != nil {
			return
		}
		if err := printMetrics(io.Discard, &m); err != nil {
			t.Error(err)
		}
		m.Evaluation = *m.WithoutSamples()
		if _, err := json.Marshal(&m); err != nil {
			t.Error(err)
		}
	})
}

// --grid, on any text: a usage error, an error of the problem, or a grid with the
// points asked for.
func FuzzGrid(f *testing.F) {
	for _, text := range []string{"t=101,x=256", "x=0", "x=-1", "x=99999999999999999999", "y=3", "x=3,x=4", "=", "x", ",", "x=1e3", "t=2147483647,x=2147483647"} {
		f.Add(text)
	}
	p, err := pde.Open("diffusion-sorption")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var flags gridFlags
		c := &cobra.Command{}
		flags.add(c)
		if c.ParseFlags([]string{"--grid", text}) != nil {
			return
		}
		o, err := flags.evaluation(&app{}, c)
		if err != nil {
			return
		}
		g, err := p.Grid(o.Grid)
		if err != nil {
			return
		}
		for _, axis := range g.Axes {
			if n, ok := o.Grid[axis.Name]; ok && n != axis.Points {
				t.Errorf("%q: %s has %d points", text, axis.Name, axis.Points)
			}
		}
	})
}
