package experiment

import (
	"math"
	"strings"
	"testing"

	"pihc/grid"
	"pihc/internal/disk"
	"pihc/pde"
	"pihc/score"
	"pihc/train"
)

// Predictions are compared with the residuals that the run was scored with on the same grid, and with
// their own beginnings.
func TestJudgeWarnings(t *testing.T) {
	dir := t.TempDir()
	scored := Metrics{Split: "test", Evaluation: score.Evaluation{Grid: []int{5, 8}, ResidualOverRate: &score.Summary{Max: 0.02}}}
	scored.Grids = []score.Evaluation{{Grid: []int{5, 16}, ResidualOverRate: &score.Summary{Max: 0.2}}}
	if err := disk.WriteSealedJSON(train.Folder(dir).MetricsFile(), scored); err != nil {
		t.Fatal(err)
	}
	old := t.TempDir() // scored before there was residual_over_rate
	if err := disk.WriteSealedJSON(train.Folder(old).MetricsFile(), Metrics{Split: "test", Evaluation: score.Evaluation{Grid: []int{5, 8}, RelativeResidual: &score.Summary{Max: 0.02}}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir    string
		points int
		far    []int
		want   string
	}{
		{dir, 8, nil, "2 of 3 predictions have a residual_over_rate more than three times the largest of the test samples (2.00 %), and may be far off: sample 1 has 7.00 %"},
		{dir, 16, nil, ""},
		{dir, 32, nil, ""}, // not scored there
		{old, 8, nil, ""},
		{t.TempDir(), 8, nil, ""},
		{t.TempDir(), 8, []int{2}, "1 of 3 predictions do not begin with their initial condition, and may be far off: sample 2 is the first, and the worst is off by 30.00 % (rms)"},
	} {
		j := &judge{grid: &grid.Grid{Axes: []grid.Axis{{Points: 5}, {Points: c.points}}}, residuals: []float64{0.05, 0.07, 0.3}, far: c.far, worst: 0.3}
		if got := strings.Join(j.warnings(c.dir), "\n"); got != c.want {
			t.Errorf("%d points: %q, want %q", c.points, got, c.want)
		}
	}
}

// A field that does not move meets the equation where that leaves rounding of the field, and
// else is no solution.
func TestJudgeOfStillFields(t *testing.T) {
	p, err := pde.Load("heat.yaml", []byte(`name: heat
unknown: u
axes:
  t: {range: [0, 2], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 64, boundary: periodic}
terms: {u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2}}
residual: {expression: u_t - 0.1*u_xx, rows: {t: [1, 0]}}
initial: {distribution: random-sines, low: 0.5, high: 1}
`))
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	sys, err := p.Discretize(g)
	if err != nil {
		t.Fatal(err)
	}
	j, err := newJudge(sys, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range []func(time, x float64) float64{
		func(_, x float64) float64 { return float64(float32(0.7 + 1e-7*math.Sin(1e4*x))) },
		func(time, x float64) float64 { return math.Sin(2*math.Pi*x) * math.Exp(-0.1*4*math.Pi*math.Pi*time) },
		func(_, x float64) float64 { return math.Sin(2 * math.Pi * x) },
		func(_, _ float64) float64 { return 0 },
	} {
		field := make([]float64, g.Size())
		for q := range field {
			field[q] = u(g.Axes[0].Coordinate(q/64), g.Axes[1].Coordinate(q%64))
		}
		j.add(field, field[:64])
	}
	r := j.residuals
	if r[0] != 0 || !(r[1] > 0 && r[1] < 0.3) || !math.IsInf(r[2], 1) || r[3] != 0 {
		t.Errorf("residuals %v", r)
	}
	want := "1 of 4 predictions do not change in time (the derivative in time, or a residual's first term where it has none, is zero) and leave a residual, which is relative to nothing: sample 2 is the first"
	if got := strings.Join(j.warnings(t.TempDir()), "\n"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
