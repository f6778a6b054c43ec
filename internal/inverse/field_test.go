package inverse

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pihc/grid"
	"pihc/internal/discrete"
	"pihc/pde"
)

const diffusion = `
name: diffusion
unknown: u
axes:
  t: {range: [0, 1], points: %d, boundary: nodes}
  x: {range: [0, 1], points: %d, boundary: periodic}
constants: {D: %g, c: %g}
terms:
  u_t: {axis: t, derivative: 1, order: 2, closure: one-sided}
  u_x: {spectral: derivative, axis: x}
  u_xx: {spectral: derivative, axis: x, derivative: 2}
residual: {expression: u_t - D*u_xx + c*u*u_x, rows: {t: [1, 0]}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - u0}
initial: {distribution: random-series, series: periodic, parameters: {modes: 3, decay: 1}}
`

// fieldModel is u_t + c u u_x = D u_xx on a periodic axis.
func fieldModel(t *testing.T, times, points int, D, c, q float64) *FieldModel {
	t.Helper()
	p, err := pde.Load("diffusion.yaml", fmt.Appendf(nil, diffusion, times, points, D, c))
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBackground(p.PlaceInputs(g)[0])
	if err != nil {
		t.Fatal(err)
	}
	return &FieldModel{Problem: p, Grid: g, Sample: make([]float64, p.InputSize(g)), Input: "u0", Background: b, ModelError: q}
}

// observe appends noise around zero at some points, at instants of the grid.
func (m *FieldModel) observe(count int, sigma float64) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range count {
		m.Observations = append(m.Observations, Observation{At: []float64{float64(rng.IntN(11)) / 10, rng.Float64()}, Value: rng.NormFloat64(), Sigma: sigma})
	}
}

func (m *FieldModel) once(t *testing.T, l level) (*fieldState, *FieldFit) {
	t.Helper()
	out := &FieldFit{}
	s, err := m.solve(context.Background(), l, nil, out)
	if err == nil {
		err = s.describe(out)
	}
	if err != nil || len(out.Warnings) > 0 {
		t.Fatal(err, out.Warnings)
	}
	return s, out
}

// rows are the derivatives of the observations of a linear problem in closed form by other unknowns than those of the fit, all of the deviation
// 1: z and the noise of every step. A step multiplies the wave k by exp(-D (2πk)² h).
func (m *FieldModel) rows(D float64) (all [][]float64) {
	n, functions := m.Grid.Axes[1].Points, len(m.Background.Functions)
	const h = 0.1
	noise := m.ModelError * math.Sqrt(h*float64(n))
	kernel := func(steps, x float64) (sum float64) { // value at x of a unit value at 0, so many steps before
		for k := -n / 2; k <= n/2; k++ {
			w := 1.0
			if k == n/2 || k == -n/2 {
				w = 0.5
			}
			a := 2 * math.Pi * float64(k)
			sum += w * math.Cos(a*x) * math.Exp(-D*a*a*h*steps) / float64(n)
		}
		return sum
	}
	for _, o := range m.Observations {
		at := int(math.Round(o.At[0] / h))
		out := make([]float64, functions+10*n)
		for p := range n {
			x := o.At[1] - float64(p)/float64(n)
			for k, f := range m.Background.Functions {
				out[k] += kernel(float64(at), x) * f[p]
			}
			for s := 1; s <= at; s++ {
				out[functions+(s-1)*n+p] = noise * kernel(float64(at-s)+0.5, x)
			}
		}
		all = append(all, out)
	}
	return all
}

// gaussian is the posterior of a linear problem: the mean and deviation of the field and of the values at the observations.
func (m *FieldModel) gaussian(D float64) (mean, spread, predicted, ranges []float64) {
	n, rows := m.Grid.Axes[1].Points, m.rows(D)
	unknowns := len(rows[0])
	// Least squares with the prior as rows, by the inverse of the normal equations.
	a, b := make([][]float64, unknowns), make([]float64, unknowns)
	for i := range a {
		a[i] = make([]float64, unknowns)
		a[i][i] = 1
	}
	for l, o := range m.Observations {
		r := rows[l]
		for i, v := range r {
			b[i] += v * o.Value / (o.Sigma * o.Sigma)
			for j, w := range r {
				a[i][j] += v * w / (o.Sigma * o.Sigma)
			}
		}
	}
	c := inverse(a)
	of := func(r []float64) (value, deviation float64) {
		for i, v := range r {
			for j, w := range r {
				value += v * c[i][j] * b[j]
				deviation += v * c[i][j] * w
			}
		}
		return value, math.Sqrt(deviation)
	}
	for p := range n {
		r := make([]float64, unknowns)
		for k, f := range m.Background.Functions {
			r[k] = f[p]
		}
		v, d := of(r)
		mean, spread = append(mean, v), append(spread, d)
	}
	for _, r := range rows {
		v, d := of(r)
		predicted, ranges = append(predicted, v), append(ranges, d)
	}
	return mean, spread, predicted, ranges
}

// inverse is that of a matrix, by Gauss and Jordan.
func inverse(a [][]float64) [][]float64 {
	n := len(a)
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, n)
		out[i][i] = 1
	}
	for k := range n {
		pivot := 1 / a[k][k]
		for j := range n {
			a[k][j] *= pivot
			out[k][j] *= pivot
		}
		for i := range n {
			if f := a[i][k]; i != k && f != 0 {
				for j := range n {
					a[i][j] -= f * a[k][j]
					out[i][j] -= f * out[k][j]
				}
			}
		}
	}
	return out
}

// TestGaussian compares a linear problem with the posterior in closed form: weak, and strong as a model without error.
func TestGaussian(t *testing.T) {
	const D = 2e-4
	for _, q := range []float64{0.3, 0.02, 0} {
		m := fieldModel(t, 11, 16, D, 0, q)
		m.observe(25, 0.1)
		_, fit := m.once(t, level{})
		mean, spread, predicted, ranges := m.gaussian(D)
		for name, pair := range map[string][2][]float64{"mean": {fit.Field, mean}, "spread": {fit.Spread, spread}, "predicted": {fit.Predicted, predicted}, "ranges": {fit.Ranges, ranges}} {
			for i, v := range pair[0] {
				if math.Abs(v-pair[1][i]) > 1e-6 {
					t.Errorf("q = %g: %s %d is %.9g, want %.9g", q, name, i, v, pair[1][i])
				}
			}
		}
	}
}

// TestParts draws truths and noise of a linear problem: the means of the parts of chi-squared have to be their degrees.
func TestParts(t *testing.T) {
	const D, sigma, draws = 2e-4, 0.1, 40
	for _, q := range []float64{0.3, 0} {
		m := fieldModel(t, 11, 16, D, 0, q)
		m.observe(25, sigma)
		rows, rng, mean := m.rows(D), rand.New(rand.NewPCG(8, 9)), map[string]float64{}
		var fit *FieldFit
		for range draws {
			truth := make([]float64, len(rows[0]))
			for i := range truth {
				truth[i] = rng.NormFloat64()
			}
			for l, r := range rows {
				m.Observations[l].Value = sigma * rng.NormFloat64()
				for i, v := range r {
					m.Observations[l].Value += v * truth[i]
				}
			}
			_, fit = m.once(t, level{})
			for _, p := range fit.Parts {
				mean[p.Name] += p.ChiSquared / draws
			}
		}
		sum := 0.0
		for _, p := range fit.Parts {
			if sum += p.Degrees; math.Abs(mean[p.Name]-p.Degrees) > 4*math.Sqrt(2*p.Degrees/draws) {
				t.Errorf("q = %g, %s: %g in the mean, want %g", q, p.Name, mean[p.Name], p.Degrees)
			}
		}
		if want := 2 + int(math.Ceil(q)); math.Abs(sum-25) > 1e-6 || len(fit.Parts) != want {
			t.Errorf("q = %g: %d parts of %g degrees, want %d of 25", q, len(fit.Parts), sum, want)
		}
	}
}

// TestModelError requires the deviation of the diffusion equation with a noise of density q that is white in time and space, as far as the
// grid resolves it, whatever the steps: Σ_k q²(1 - exp(-2 D (2πk)² t))/(2 D (2πk)²).
func TestModelError(t *testing.T) {
	const D, q, at = 0.02, 0.4, 0.7
	var got []float64
	for _, size := range [][2]int{{21, 32}, {81, 32}, {21, 64}} {
		m := fieldModel(t, size[0], size[1], D, 0, q)
		m.Observations = []Observation{{At: []float64{at, 0.3}, Sigma: 1e3}}
		_, fit := m.once(t, level{})
		want := q * q * at
		for k := 1; k < 500; k++ {
			a := 2 * D * math.Pow(2*math.Pi*float64(k), 2)
			want += 2 * q * q * (1 - math.Exp(-a*at)) / a
		}
		for _, f := range m.Background.Functions {
			k := 0
			for i := range f { // zeros of a wave, two a period
				if j := (i + 1) % len(f); f[i] == 0 && f[j] != 0 || f[i]*f[j] < 0 {
					k++
				}
			}
			a := D * math.Pow(math.Pi*float64(k), 2)
			v := grid.Resample(f, m.Grid.Axes[1:], []grid.Axis{{Lo: 0.3, Hi: 1.3, Points: 2, Boundary: grid.Nodes}})[0]
			want += math.Pow(v*math.Exp(-a*at), 2)
		}
		got = append(got, fit.Ranges[0]/math.Sqrt(want)-1)
	}
	// What is missing is the noise of waves that die within a step, as the root of it.
	if math.Abs(got[0]) > 0.03 || math.Abs(got[1]) > 0.6*math.Abs(got[0]) || math.Abs(got[2]-got[0]) > 1e-3 {
		t.Errorf("deviations are off by %.4f, in smaller steps by %.4f, on more points by %.4f", got[0], got[1], got[2])
	}
}

// TestStrongLimit has a nonlinear problem: with a small model error the field is nearly that of none, and a case of truth lies in the band.
func TestStrongLimit(t *testing.T) {
	strong := fieldModel(t, 21, 32, 0.02, 0.3, 0)
	truth := make([]float64, 32)
	for k, f := range strong.Background.Functions {
		for i, v := range f {
			truth[i] += v * math.Cos(3*float64(k))
		}
	}
	stepper, err := mustSolver(t, strong).NewStepper(truth, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	u, rng := append([]float64{}, truth...), rand.New(rand.NewPCG(7, 7))
	const steps = 200
	for k := range steps {
		if err := stepper.Step(u, nil, float64(k)/steps, 1./steps); err != nil {
			t.Fatal(err)
		}
		if k%20 == 19 {
			for i := 0; i < 32; i += 4 {
				strong.Observations = append(strong.Observations, Observation{At: []float64{float64(k+1) / steps, float64(i) / 32}, Value: u[i] + 0.05*rng.NormFloat64(), Sigma: 0.05})
			}
		}
	}
	_, want := strong.once(t, level{})
	weak := *strong
	weak.ModelError = 1e-3
	_, got := weak.once(t, level{})
	outside := 0
	for i, v := range got.Field {
		if math.Abs(v-want.Field[i]) > 2e-3*want.Spread[i] || math.Abs(got.Spread[i]/want.Spread[i]-1) > 1e-3 {
			t.Errorf("value %d: %g ± %g, without model error %g ± %g", i, v, got.Spread[i], want.Field[i], want.Spread[i])
		}
		if math.Abs(v-truth[i]) > 1.96*want.Spread[i] {
			outside++
		}
	}
	if outside > 6 {
		t.Errorf("the truth is outside the band at %d of 32 points", outside)
	}
	if want.P < 1e-3 || want.P > 1-1e-3 {
		t.Errorf("p = %g", want.P)
	}
}

func mustSolver(t *testing.T, m *FieldModel) *discrete.Solver {
	t.Helper()
	s, err := discrete.New(m.Problem, m.Grid, []int{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
