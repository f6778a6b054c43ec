package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pihc/compute"
	"pihc/constraint"
	"pihc/internal/check"
	"pihc/internal/dataset"
	"pihc/model"
	"pihc/pde"
)

const flowSpec = `
defaults: paper
problem: navier-stokes
method: %s
grid: {t: 7, x: 8, y: 12}
network: {width: 5, layers: 2, modes: {t: 2, x: 2, y: 3}, projection: 6, basis: 3, precision: float64,
  omit_coordinates: [x, y], passes: 3,
  features: {w: 1.5, vel_x: 0.07, w_y: 4, residual: 0.2, mean_residual: 0.5}}
constraint: {experts: {x: 2}, points: 100, tolerance: 1e-13, max_iterations: 300}
loss: {relative: true, border_jump: 0.3}
training: {batch: 2, micro_batch: 2}
`

func flowEngine[T compute.Float](t testing.TB, method string, workers int, overrides ...string) *cpu[T] {
	t.Helper()
	spec, err := model.LoadSpec("flow", fmt.Appendf(nil, flowSpec, method), overrides...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := pde.Open(spec.Problem)
	if err != nil {
		t.Fatal(err)
	}
	return engineOn[T](t, spec, p, workers)
}

func engineOn[T compute.Float](t testing.TB, spec *model.Spec, p *pde.Problem, workers int) *cpu[T] {
	t.Helper()
	e, err := newCPU[T](spec, p, Options{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// unweightedFlow is the problem with a residual that counts alike at all times.
func unweightedFlow(t testing.TB) *pde.Problem {
	t.Helper()
	src, err := os.ReadFile("../pde/problems/navier-stokes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const weight = "  weight: 1.6*(1.15 - t/T)\n"
	if !strings.Contains(string(src), weight) {
		t.Fatal("the residual has another weight")
	}
	p, err := pde.Load("flow", []byte(strings.Replace(string(src), weight, "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func flowBatch(t testing.TB, e *cpu[float64], samples int) Batch {
	t.Helper()
	sample, err := dataset.NewFieldSampler(e.Problem.Inputs[0].Sampler, e.Grid.Axes[1:])
	if err != nil {
		t.Fatal(err)
	}
	var b Batch
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range samples {
		u0 := make([]float64, e.InputSize())
		if err := sample(rng, u0); err != nil {
			t.Fatal(err)
		}
		b.Inputs = append(b.Inputs, u0)
		b.Seeds = append(b.Seeds, constraint.Seed{Run: 1, Step: 2, Sample: uint64(i)})
	}
	return b
}

// Features are what their names say, computed here operator by operator on the
// field that keeps its initial values.
func TestFeatures(t *testing.T) {
	spec, err := model.LoadSpec("flow", fmt.Appendf(nil, flowSpec, model.Soft))
	if err != nil {
		t.Fatal(err)
	}
	e := engineOn[float64](t, spec, unweightedFlow(t), 1)
	batch := flowBatch(t, e, 1)
	e.load(batch, 0)
	sys, size := e.System, e.Grid.Size()
	n := sys.InputSize()
	field := make([]float64, size)
	for i := range field {
		field[i] = batch.Inputs[0][i%n]
	}
	term := func(name string) []float64 {
		z := make([]float64, size)
		i := slices.IndexFunc(sys.Terms, func(o pde.Operator) bool { return o.Name == name })
		sys.Terms[i].Apply(z, field)
		return z
	}
	velX, velY, wx, wy, lap := term("vel_x"), term("vel_y"), term("w_x"), term("w_y"), term("lap")
	r, square := make([]float64, size), 0.0
	for i := range r {
		r[i] = velX[i]*wx[i] + velY[i]*wy[i] - 1e-4*lap[i] // w_t = 0
		square += r[i] * r[i] / float64(size)
	}
	rms := math.Sqrt(square)
	for i, f := range []struct {
		values []float64
		scale  float64
	}{{field, 1.5}, {wy, 4}, {velX, 0.07}, {r, rms}, {r, 0.5 * rms}} { // r does not depend on t: nor does its mean
		want := make([]float64, size)
		for p, v := range f.values {
			want[p] = v / f.scale
		}
		check.Close(t, e.inputField(&e.slots[0], 2+i), want, 1e-9, 1e-9)
	}
	if got, want := e.slots[0].amplitude, rms/0.2; math.Abs(got-want) > 1e-9*want {
		t.Errorf("amplitude %g, want %g", got, want)
	}
	if e.Inputs.Count() != 1+1+5 {
		t.Errorf("%d inputs", e.Inputs.Count())
	}
}

func TestMeanFromStart(t *testing.T) {
	f := []float64{1, 10, 3, 10, 8, 10, 2, 10} // two values a slice, four slices
	meanFromStart(f, 2, nil)
	check.Close(t, f, []float64{1, 10, 2, 10, 7.5 / 2, 10, 12.5 / 3, 10}, 1e-15, 0)
}

// A pass starts where the one before ended: on its way to the third the engine goes
// through the fields of one pass and of two, which differ, and a network that
// proposes nothing leaves the initial values at all times.
func TestPassesFollowEachOther(t *testing.T) {
	one, three := flowEngine[float64](t, model.Soft, 1, "network.passes=1"), flowEngine[float64](t, model.Soft, 1)
	params := InitialParams[float64](one.Info())
	batch := flowBatch(t, one, 1)
	var first []float64
	if err := one.Predict(params, batch, func(_ int, p *Prediction) error {
		first = slices.Clone(p.Field)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	three.forward(params, three.load(batch, 0), &batch, 2, false)
	check.Close(t, three.slots[0].corrected.Field, first, 1e-12, 1e-12)
	second := slices.Clone(three.solve(2, &three.slots[0], &Batch{}, true).Field())
	worst := 0.0
	for i := range second { // not the same field again
		worst = max(worst, math.Abs(second[i]-first[i]))
	}
	if worst < 1e-4 {
		t.Errorf("the second pass changed the first by %g at most", worst)
	}
	three.forward(params, three.load(batch, 0), &batch, 3, false)
	check.Close(t, three.slots[0].corrected.Field, second, 1e-12, 1e-12)

	zero := make([]float64, len(params))
	three.forward(zero, three.load(batch, 0), &batch, 3, false)
	n := len(batch.Inputs[0])
	for i, v := range three.solve(3, &three.slots[0], &Batch{}, true).Field() {
		if math.Abs(v-batch.Inputs[0][i%n]) > 1e-14 {
			t.Fatalf("without a proposal the field is %g at %d, want %g", v, i, batch.Inputs[0][i%n])
		}
	}
}

func TestInputErrors(t *testing.T) {
	for override, want := range map[string]string{
		"network.features={vel_z: 1}":  `network.features: "vel_z": want the unknown, a term of the residual of problem navier-stokes, or the residual itself: w, w_t, w_x, w_y, lap, vel_x, vel_y, residual, mean_residual`,
		"network.omit_coordinates=[z]": `network.omit_coordinates: problem navier-stokes has no axis "z"; its axes are t, x, y`,
		"network.features={vel_x: -1}": "network.features.vel_x: -1: want a positive number",
		"network.passes=0":             "network.passes: 0: want at least 1",
		"problem=diffusion-sorption":   "network.passes: 3: problem diffusion-sorption has no `ansatz: offset`",
	} {
		overrides := []string{override}
		if strings.HasPrefix(override, "problem") {
			overrides = append(overrides, "grid={t: 7, x: 8}", "network.modes={t: 2, x: 2}", "network.features={}", "network.omit_coordinates=[]")
		}
		spec, err := model.LoadSpec("flow", fmt.Appendf(nil, flowSpec, model.Soft), overrides...)
		if err == nil {
			var p *pde.Problem
			if p, err = pde.Open(spec.Problem); err != nil {
				t.Fatal(err)
			}
			_, err = newCPU[float64](spec, p, Options{Workers: 1})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", override, err, want)
		}
	}
}

// soft_weight multiplies the field of soft: with s·t/T in the ansatz, 1/s undoes s.
func TestSoftWeight(t *testing.T) {
	fields := map[string][]float64{}
	for _, c := range [][2]string{{"navier-stokes", "1"}, {"navier-stokes-published", "200"}} {
		e := flowEngine[float64](t, model.Soft, 1, "problem="+c[0], "constraint.soft_weight="+c[1], "network.passes=1", "network.features={}")
		if err := e.Predict(InitialParams[float64](e.Info()), flowBatch(t, e, 1), func(_ int, p *Prediction) error {
			fields[c[0]] = slices.Clone(p.Field)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	check.Close(t, fields["navier-stokes-published"], fields["navier-stokes"], 1e-12, 1e-12)
}
