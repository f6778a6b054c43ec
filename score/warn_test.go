package score

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pihc/engine"
	"pihc/model"
	"pihc/pde"
)

const warnSpec = `
defaults: paper
method: soft
problem: p.yaml
network: {width: 4, layers: 1, modes: {t: 2, x: 2}, projection: 4, basis: 2, precision: float64}
`

const warnHeat = `name: heat
unknown: u
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: periodic}
terms: {u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2}}
residual: {expression: u_t - 0.02*u_xx, rows: {t: [1, 0]}}
conditions: {initial: {kind: initial, at: {t: low}, expression: u - u0, weight: 10}}
initial: {distribution: random-sines, low: 0.5, high: 1}
`

const warnPoisson = `name: poisson
unknown: u
time: none
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: periodic}
inputs: {f: {distribution: random-sines, low: 0.5, high: 1, axes: [x]}}
terms: {u_tt: {axis: t, derivative: 2}, u_xx: {axis: x, derivative: 2}}
residual: {expression: u_tt + u_xx + f, rows: {t: [1, 1]}}
conditions: {south: {at: {t: low}, expression: u}, north: {at: {t: high}, expression: u}}
`

// The same, about 300.
var warnKelvin = strings.Replace(warnHeat, "name: heat", "name: kelvin", 1)

// A condition less than values of an instant.
var warnFree = strings.Replace(strings.Replace(warnHeat, "rows: {t: [1, 0]}", "rows: {t: [1, 0], x: [1, 1]}", 1), "boundary: periodic", "boundary: nodes", 1)

// watched4 scores four fields, made from solutions, which may not be told.
func watched4(t *testing.T, text string, told bool, change func(i int, u, v []float64, at func(q int) (time, x float64))) *Evaluation {
	t.Helper()
	p, err := pde.Load("p.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := model.LoadSpec("s.yaml", []byte(warnSpec))
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New[float64](spec, p, engine.Options{Workers: 1, Grid: g})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	info := e.Info()
	origin := 0.5
	if p.Name == "kelvin" {
		origin = 300
	}
	at := func(q int) (float64, float64) { return g.Axes[0].Coordinate(q / 16), g.Axes[1].Coordinate(q % 16) }
	s := Samples{}
	var truths [][]float64
	for i := range 4 {
		v := make([]float64, g.Size())
		for q := range v {
			k := 2 * math.Pi
			time, x := at(q)
			v[q] = origin + math.Exp(-0.02*k*k*time)*math.Sin(k*(x+float64(i)/5))
			if p.Steady {
				v[q] = time * (1 - time) * (1 + float64(i)) / 2
			}
		}
		truths = append(truths, v)
		s.Inputs = append(s.Inputs, slices.Clone(v[:info.InputSize()]))
		if p.Steady {
			for q := range s.Inputs[i] {
				s.Inputs[i][q] = 1 + float64(i)
			}
		}
	}
	if told {
		s.Truth = func(i int) ([]float64, error) { return truths[i], nil }
	}
	sys, err := p.Discretize(g)
	if err != nil {
		t.Fatal(err)
	}
	sc, err := newScorer(info, sys, s)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range truths {
		u := slices.Clone(v)
		change(i, u, v, at)
		if err := sc.add(i, &engine.Prediction{Field: u, MeanSquares: make([]float64, len(info.Rows))}); err != nil {
			t.Fatal(err)
		}
	}
	trivial, err := info.Trivials(s.Inputs, s.Truth)
	if err != nil {
		t.Fatal(err)
	}
	why := sc.estimated()
	out := sc.evaluation()
	out.compare(sc.losses, trivial)
	sc.watch.judge(out, why)
	return out
}

// Every way to be wrong is named, with its number, and a solution is not warned of.
func TestWarnings(t *testing.T) {
	scale := func(by float64) func(int, []float64, []float64, func(int) (float64, float64)) {
		return func(_ int, u, v []float64, _ func(int) (float64, float64)) {
			for q := range u {
				u[q] = by * v[q]
			}
		}
	}
	one := func(at int, by float64) func(int, []float64, []float64, func(int) (float64, float64)) {
		return func(i int, u, v []float64, _ func(int) (float64, float64)) {
			for q := range u {
				if i == at {
					u[q] = by * v[q]
				}
			}
		}
	}
	same := func(i int, u, _ []float64, at func(int) (float64, float64)) {
		for q := range u {
			time, x := at(q)
			u[q] = 0.5 + 0.5*math.Sin(2*math.Pi*(x+time))
		}
	}
	drift := func(_ int, u, _ []float64, at func(int) (float64, float64)) {
		for q := range u {
			time, _ := at(q)
			u[q] += 0.05 * time
		}
	}
	kelvin := func(off float64) func(int, []float64, []float64, func(int) (float64, float64)) {
		return func(_ int, u, v []float64, _ func(int) (float64, float64)) {
			for q := range u {
				u[q] = 300 + (1-off)*(v[q]-300)
			}
		}
	}
	for name, c := range map[string]struct {
		text    string
		told    bool
		change  func(int, []float64, []float64, func(int) (float64, float64))
		verdict string
		want    []string // beginnings
	}{
		"solution":         {warnHeat, true, scale(1), Trusted, nil},
		"4 % off":          {warnHeat, true, scale(1.04), Trusted, nil},
		"6 % off":          {warnHeat, true, scale(1.06), Doubtful, []string{"relative_l2 is 6.00 % in the mean (above 5 %); more"}},
		"30 % off":         {warnHeat, true, scale(1.29), Doubtful, []string{"relative_l2 is 29.00 % in the mean (above 5 %), 29.00 % in sample "}},
		"one sample":       {warnHeat, true, one(2, 1.19), Trusted, nil},
		"one sample far":   {warnHeat, true, one(2, 1.21), Doubtful, []string{"relative_l2 is 5.25 % in the mean (above 5 %), 21.00 % in sample 2, the worst (above 20 %); more"}},
		"zero":             {warnHeat, true, scale(0), Failed, []string{"the run collapsed: predictions are zero; ", "relative_l2 is 100.00 % in the mean (above 5 %), 100.00 % in sample 0, the worst (above 20 %)", "this run does not beat "}},
		"small":            {warnHeat, true, scale(0.01), Failed, []string{"the run collapsed towards zero: the size of predictions is 1.00 % of the size of the solutions (rms); ", "relative_l2 is 99.00 %", "this run does not beat "}},
		"large":            {warnHeat, true, scale(20), Failed, []string{"the run diverged, or never came near: predictions are 20 times as large as the solutions (rms); ", "relative_l2 is 1900.00 %", "this run does not beat "}},
		"half":             {warnHeat, true, scale(0.68), Failed, []string{"relative_l2 is 32.00 %"}},
		"not a number":     {warnHeat, true, scale(math.NaN()), Failed, []string{"the run diverged: 4 of 4 predictions are not finite, sample 0 is the first; ", "this run does not beat "}},
		"one not finite":   {warnHeat, true, one(3, math.Inf(1)), Failed, []string{"the run diverged: 1 of 4 predictions are not finite, sample 3 is the first; ", "this run does not beat "}},
		"same":             {warnHeat, true, same, Failed, []string{"the run collapsed: predictions are one field for every sample, which differs by 0 from sample to sample (rms), and the solutions by 0.", "relative_l2 is ", "this run does not beat "}},
		"drift":            {warnHeat, true, drift, Doubtful, []string{"the mean of u over space, which the solutions keep, drifts by 7."}},
		"kelvin":           {warnKelvin, true, kelvin(0.15), Trusted, nil},
		"kelvin, a fourth": {warnKelvin, true, kelvin(0.25), Doubtful, []string{"the error of u is 25.00 % of what solutions vary by about their mean, 300 (rms; above 20 %), which relative_l2 does not show; more"}},
		"alone":            {warnHeat, false, scale(1), Trusted, nil},
		"alone, zero":      {warnHeat, false, scale(0), Failed, []string{"the run collapsed: predictions are zero; ", "error_estimate is 100.00 % in the mean"}},
		"alone, small":     {warnHeat, false, scale(0.001), Failed, []string{"the run collapsed towards zero: the size of predictions is 0.0", "error_estimate is 99.9"}},
		"alone, 8 % off":   {warnHeat, false, scale(1.08), Doubtful, []string{"error_estimate is 7."}},
		"alone, twice":     {warnHeat, false, scale(2), Failed, []string{"error_estimate is 99."}},
		"alone, same":      {warnHeat, false, same, Failed, []string{"the run collapsed: predictions are one field for every sample, ", "error_estimate is "}},
		"alone, infinite":  {warnHeat, false, scale(math.Inf(1)), Failed, []string{"the run diverged: 4 of 4 "}},
		"steady":           {warnPoisson, true, scale(1.01), Trusted, nil},
		"steady zero":      {warnPoisson, true, scale(0), Failed, []string{"the run collapsed: predictions are zero; ", "relative_l2 is 100.00 %", "this run does not beat "}},
		"steady alone":     {warnPoisson, false, scale(0), Failed, []string{"the run collapsed: predictions are zero; ", "error_estimate is 100.00 %"}},
		// Rows that are marched nowhere, with more values than rows: nothing to compare with.
		"free":        {warnFree, false, scale(1), Doubtful, []string{"there are no solutions to compare with, and no estimate of the error: "}},
		"free, twice": {warnFree, false, scale(2), Failed, []string{"conditions_over_size is ", "there are no solutions to compare with, and no estimate of the error: ", "this run does not beat "}},
	} {
		e := watched4(t, c.text, c.told, c.change)
		ok := e.Verdict == c.verdict && len(e.Warnings) == len(c.want)
		for i := range min(len(c.want), len(e.Warnings)) {
			ok = ok && strings.HasPrefix(e.Warnings[i], c.want[i])
		}
		if !ok {
			t.Errorf("%s: %s\n%s\nwant %s\n%s", name, e.Verdict, strings.Join(e.Warnings, "\n"), c.verdict, strings.Join(c.want, "\n"))
		}
	}
}

// pair is a problem of two unknowns.
func pair(t *testing.T) *pde.System {
	t.Helper()
	p, err := pde.Load("pair.yaml", []byte(pairProblem))
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
	return sys
}

// One of two unknowns that vanishes is named.
func TestWarningsOfOneUnknown(t *testing.T) {
	sys := pair(t)
	w := newWatch(sys, true)
	n := sys.Grid.Size()
	for i := range 3 {
		v := make([]float64, 2*n)
		for q := range n {
			v[q] = math.Sin(float64(q + i))
			v[n+q] = 1000 * math.Cos(float64(q*i))
		}
		u := slices.Clone(v)
		clear(u[n:])
		w.add(i, u, v)
	}
	if got := w.shapes(); len(got) != 1 || !strings.HasPrefix(got[0], "the run collapsed: predictions of v are zero; ") {
		t.Errorf("%q", got)
	}
}

// Of a solution that does not move residuals are 0 where they are rounding, and infinite else.
func TestStillSolutions(t *testing.T) {
	e := watched4(t, warnHeat, true, func(i int, u, v []float64, _ func(int) (float64, float64)) {
		for q := range v {
			if v[q] = 0; i < 2 {
				u[q] = 0
			}
		}
	})
	for i, s := range e.PerSample {
		want := math.Inf(1)
		if i < 2 {
			want = 0
		}
		if s.RelativeResidual != want || s.TruthResidual != 0 || s.RelativeL2 != want || i < 2 && s.ResidualOverRate != 0 || i >= 2 && !(s.ResidualOverRate < 0.2) {
			t.Errorf("sample %d: %+v", i, s)
		}
	}
	if !strings.HasPrefix(strings.Join(e.Warnings, "\n"), "relative_l2 of 2 of 4 samples is infinite: their solution is zero, and the prediction is not; sample 2 is the first") {
		t.Errorf("%q", e.Warnings)
	}
}

// The error of a temperature in kelvin is told in what solutions vary by.
func TestErrorsOverWhatVaries(t *testing.T) {
	sys := pair(t)
	for _, c := range []struct {
		center, off float64
		want        string
	}{
		{300, 0.1, ""}, {300, 0.33, "the error of v is 33.00 % of what solutions vary by about their mean, 300 (rms; above 20 %)"}, {0, 0.1, ""},
	} {
		w := newWatch(sys, true)
		n := sys.Grid.Size()
		for i := range 3 {
			u, v := make([]float64, 2*n), make([]float64, 2*n)
			for q := range n {
				angle := 2 * math.Pi * float64(q+i) / float64(n)
				u[q], v[q] = 5, 5 // one value
				v[n+q] = c.center + math.Sin(angle)
				u[n+q] = c.center + (1-c.off)*math.Sin(angle)
			}
			w.add(i, u, v)
		}
		if got := strings.Join(w.varied(), "; "); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%g off about %g: %q", c.off, c.center, got)
		}
	}
}
