package score

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pihc/engine"
	"pihc/grid"
	"pihc/internal/discrete"
	"pihc/model"
	"pihc/pde"
)

// Predictions that solve the rows of their grid exactly are as far from the solution of the equation, which is known here, as the grid is: on
// a coarse one they are not trusted, whether they are compared with nothing or with themselves; on a fine one they are. What remains is
// put down to the grid, and what they are made larger by is not.
func TestVerdictOfGrid(t *testing.T) {
	for _, c := range []struct {
		points int
		told   bool
		larger float64
		want   string
	}{{8, false, 0, Doubtful}, {8, true, 0, Doubtful}, {64, false, 0, Trusted}, {64, true, 0, Trusted}, {64, false, 0.08, Doubtful}} {
		text := strings.Replace(warnHeat, "x: {range: [0, 1], points: 16", fmt.Sprintf("x: {range: [0, 1], points: %d", c.points), 1)
		text = strings.Replace(text, "points: 9", "points: 33", 1)
		p, err := pde.Load("p.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		g, err := p.Grid(nil)
		if err != nil {
			t.Fatal(err)
		}
		spec, err := model.LoadSpec("s.yaml", []byte(warnSpec))
		if err != nil {
			t.Fatal(err)
		}
		e, err := engine.New[float64](spec, p, engine.Options{Workers: 1, Grid: g})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		truth, rows := make([]float64, g.Size()), make([]float64, g.Size())
		for q := range truth {
			time, x := g.Axes[0].Coordinate(q/c.points), g.Axes[1].Coordinate(q%c.points)
			truth[q] = math.Exp(-0.32*math.Pi*math.Pi*time) * math.Sin(4*math.Pi*x)
		}
		inputs := truth[:c.points]
		d, err := discrete.NewDifferences(p, g, 4)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Solve(make([]float64, g.Size()), rows, inputs); err != nil {
			t.Fatal(err)
		}
		for q := range rows {
			rows[q] *= 1 + c.larger
		}
		of := grid.RelativeL2(rows, truth, 1)
		sys, err := p.Discretize(g)
		if err != nil {
			t.Fatal(err)
		}
		s := Samples{Inputs: [][]float64{inputs}}
		if c.told {
			s.Truth = func(int) ([]float64, error) { return rows, nil }
		}
		sc, err := newScorer(e.Info(), sys, s)
		if err != nil {
			t.Fatal(err)
		}
		if err := sc.add(0, &engine.Prediction{Field: rows, MeanSquares: make([]float64, len(e.Info().Rows))}); err != nil {
			t.Fatal(err)
		}
		why := sc.estimated()
		out := sc.evaluation()
		out.Loss = &Summary{}
		sc.watch.judge(out, why)
		x := &out.PerSample[0]
		t.Logf("%+v: error %.4g, estimated %.4g, of the grid %.4g, from the rows %.4g: %s", c, of, x.ErrorEstimate, x.GridError, x.RowsError, out.VerdictLine())
		if out.Verdict != c.want || !(x.ErrorEstimate > of/1.5 && x.ErrorEstimate < 1.5*of) || math.Abs(x.RowsError-c.larger) > 1e-3 {
			t.Errorf("%+v: %s, %v; the error is %g, and estimated %g, %g, %g", c, out.Verdict, out.Warnings, of, x.ErrorEstimate, x.GridError, x.RowsError)
		}
		if c.larger == 0 && !(x.GridError > of/1.5 && x.GridError < 1.5*of) {
			t.Errorf("%+v: the error of the grid is %g, and estimated %g", c, of, x.GridError)
		}
		if c.told && c.want == Doubtful && (out.RelativeL2.Max != 0 || len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], "relative_l2 is less, so that the reference or the grid is off")) {
			t.Errorf("%+v: %v", c, out.Warnings)
		}
	}
}

// The line says what an error is from, both parts of an estimate, and what is not known.
func TestVerdictLine(t *testing.T) {
	nan := math.NaN()
	for want, got := range map[string]string{
		"trusted: estimated error 1.40 % (0.30 % from the solution of the rows on this grid, 1.33 % of the grid)": VerdictLine(Trusted, nil, Estimates{[]float64{0.014}, []float64{0.0133}, []float64{0.003}}),
		"trusted: estimated error 1.40 % (how much of it is the grid's is not known)":                             VerdictLine(Trusted, nil, Estimates{[]float64{0.014}, []float64{nan}, []float64{nan}}),
		"trusted: error 0.30 % in the mean, 0.40 % at worst (sample 1), from the reference solution; estimated 1.40 % in the mean, 1.50 % at worst (sample 1), from that of the equation (0.30 % from the solution of the rows on this grid, 1.35 % of the grid)": VerdictLine(Trusted, []float64{0.002, 0.004}, Estimates{[]float64{0.013, 0.015}, []float64{0.0135, nan}, []float64{0.003, nan}}),
		"trusted: error 0.30 %, from the reference solution; what the grid and the reference add to it is not known":                                                                                                                                              VerdictLine(Trusted, []float64{0.003}, Estimates{}),
		"doubtful: nothing is known of the error": VerdictLine(Doubtful, []float64{nan}, Estimates{[]float64{nan}, []float64{nan}, []float64{nan}}),
	} {
		if got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// What persistence leaves by rounding alone is not shown as a residual of 0 %.
func TestPersistenceResidual(t *testing.T) {
	for residual, shown := range map[float64]bool{0: false, 3e-13: false, 0.02: true} {
		x := NewSample(0)
		x.Persistence, x.PersistenceResidual = 0.8, residual
		e := &Evaluation{PerSample: []Sample{x}}
		e.Summarize()
		if got := e.TellingPersistenceResidual(); got != nil != shown {
			t.Errorf("%g: %v", residual, got)
		}
		if got := e.persistence(); got.RelativeResidual != nil != shown || got.RelativeL2.Mean != 0.8 {
			t.Errorf("%g: %v, %v", residual, got.RelativeResidual, got.RelativeL2)
		}
	}
}
