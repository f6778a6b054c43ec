package main

import (
	"path/filepath"
	"strings"
	"testing"

	"pihc/data"
	"pihc/grid"
	"pihc/report"
	"pihc/train"
)

// Predictions are compared with the residuals that the run was scored with on the same grid, and with
// their own beginnings.
func TestJudgeWarnings(t *testing.T) {
	dir := t.TempDir()
	scored := metrics{Split: "test", Evaluation: report.Evaluation{Grid: []int{5, 8}, RelativeResidual: &report.Summary{Max: 0.02}}}
	scored.Grids = []report.Evaluation{{Grid: []int{5, 16}, RelativeResidual: &report.Summary{Max: 0.2}}}
	if err := data.WriteSealedJSON(filepath.Join(dir, train.MetricsFile), scored); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir    string
		points int
		far    []int
		want   string
	}{
		{dir, 8, nil, "2 of 3 predictions leave a residual more than three times the largest of the test samples (2.00 %), and may be far off: sample 1 has 7.00 %"},
		{dir, 16, nil, ""},
		{dir, 32, nil, ""}, // not scored there
		{t.TempDir(), 8, nil, ""},
		{t.TempDir(), 8, []int{2}, "1 of 3 predictions do not begin with their initial condition, and may be far off: sample 2 is the first, and the worst is off by 30.00 % (rms)"},
	} {
		j := &judge{grid: &grid.Grid{Axes: []grid.Axis{{Points: 5}, {Points: c.points}}}, residuals: []float64{0.05, 0.07, 0.3}, far: c.far, worst: 0.3}
		if got := strings.Join(j.warnings(c.dir), "\n"); got != c.want {
			t.Errorf("%d points: %q, want %q", c.points, got, c.want)
		}
	}
}
