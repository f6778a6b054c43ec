package train

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"pihc/compute"
	"pihc/constraint"
	"pihc/engine"
	"pihc/internal/check"
	"pihc/internal/kernel"
	"pihc/model"
)

// adamReference is Adam as its paper states it (Kingma and Ba 2015, algorithm
// 1): bias-corrected moments by name, one parameter at a time, in float64.
type adamReference struct {
	p, m, v []float64
	t       int
}

func (a *adamReference) step(g []float64, rate float64) {
	a.t++
	for i := range a.p {
		a.m[i] = kernel.Beta1*a.m[i] + (1-kernel.Beta1)*g[i]
		a.v[i] = kernel.Beta2*a.v[i] + (1-kernel.Beta2)*g[i]*g[i]
		mhat := a.m[i] / (1 - math.Pow(kernel.Beta1, float64(a.t)))
		vhat := a.v[i] / (1 - math.Pow(kernel.Beta2, float64(a.t)))
		a.p[i] -= rate * mhat / (math.Sqrt(vhat) + kernel.Epsilon)
	}
}

func newAdam[T compute.Float](t *testing.T, s *engine.State[T], spec model.TrainingSpec) *adam[T] {
	t.Helper()
	a := &adam[T]{training: spec, mu: new(sync.Mutex)}
	if err := a.Begin(s); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAdam(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testAdam[float64](t, 1e-13) })
	t.Run("float32", func(t *testing.T) { testAdam[float32](t, 2e-6) })
}

func testAdam[T compute.Float](t *testing.T, tolerance float64) {
	const n = 33003
	rng := rand.New(rand.NewPCG(1, 2))
	s := &engine.State[T]{Params: make([]T, n), First: make([]T, n), Second: make([]T, n)}
	a := newAdam(t, s, model.TrainingSpec{})
	ref := adamReference{p: make([]float64, n), m: make([]float64, n), v: make([]float64, n)}
	for i := range s.Params {
		s.Params[i] = T(rng.NormFloat64())
		ref.p[i] = float64(s.Params[i])
	}
	g, scaled := a.grad, make([]float64, n)
	for step := range 12 {
		rate, scale := 0.01/float64(1+step), 1.0
		if step%3 == 1 {
			scale = 0.125 // as a clipped gradient; exact in either precision
		}
		for i := range g {
			g[i] = T(rng.NormFloat64() * math.Pow(10, float64(i%7-3)))
			scaled[i] = scale * float64(g[i])
		}
		a.update(scale, rate)
		ref.step(scaled, rate)
	}
	got := make([]float64, n)
	for i, p := range s.Params {
		got[i] = float64(p)
	}
	check.Close(t, got, ref.p, 0, tolerance)
	if s.Updates != 12 {
		t.Errorf("%d updates counted", s.Updates)
	}
}

// The first step of Adam has the size of the learning rate, whatever the
// gradient's.
func TestAdamFirstStep(t *testing.T) {
	s := &engine.State[float64]{Params: make([]float64, 4), First: make([]float64, 4), Second: make([]float64, 4)}
	a := newAdam(t, s, model.TrainingSpec{})
	copy(a.grad, []float64{1e-3, -5, 1e4, 0})
	a.update(1, 0.25)
	check.Close(t, s.Params, []float64{-0.25, 0.25, -0.25, 0}, 0, 1e-5)
}

func TestSquares(t *testing.T) {
	for _, n := range []int{0, 1, 4097, 32767, 32768, 32769, 70000} {
		rng := rand.New(rand.NewPCG(uint64(n), 1))
		g, want := make([]float32, n), 0.0
		for i := range g {
			g[i] = float32(rng.NormFloat64())
			want += float64(g[i]) * float64(g[i])
		}
		a := newAdam(t, &engine.State[float32]{Params: make([]float32, n)}, model.TrainingSpec{})
		copy(a.grad, g)
		if got := a.squares(); math.Abs(got-want) > 1e-12*want {
			t.Errorf("%d: %.17g, want %.17g", n, got, want)
		}
	}
}

// The gradient is scaled to the largest norm, and only where it is longer. After
// one step the first moment is (1-beta1) times the gradient used.
func TestClip(t *testing.T) {
	for _, test := range []struct {
		override string
		want     func(norm float64) float64
	}{
		{"training.clip=0", func(norm float64) float64 { return norm }},
		{"training.clip=1e-3", func(float64) float64 { return 1e-3 }},
		{"training.clip=1e9", func(norm float64) float64 { return norm }},
	} {
		e := newExperiment(t, "training.steps=1", "network.precision=float64", test.override)
		dir, _ := e.train(t, Options{})
		s, _, err := readCheckpoint[float64](dir, stepName(1), e.trainer(t).info.Layout, true)
		if err != nil {
			t.Fatal(err)
		}
		norm := float64(*records(t, dir)[0].GradientNorm) // as it was before clipping
		a := newAdam(t, &s.State, e.spec.Training)
		copy(a.grad, s.First)
		got := math.Sqrt(a.squares()) / (1 - kernel.Beta1)
		if want := test.want(norm); math.Abs(got-want) > 1e-12*want {
			t.Errorf("%s: a gradient of norm %g is used with norm %g, want %g", test.override, norm, got, want)
		}
		if norm < 1e-2 {
			t.Errorf("the gradient's norm %g is too small for this test", norm)
		}
	}
}

// The average forgets the random start quickly, and then moves with its decay.
func TestAverage(t *testing.T) {
	spec := model.TrainingSpec{Average: 0.95}
	s := &state[float64]{State: engine.State[float64]{Params: []float64{0}, First: []float64{0}, Second: []float64{0}, Average: []float64{0}}}
	a := newAdam(t, &s.State, spec)
	want := 0.0
	for n := 1; n <= 200; n++ {
		a.grad[0] = -1
		a.update(1, 1) // a gradient that does not change moves the parameter by the rate
		d := min(0.95, float64(1+n)/float64(10+n))
		want = d*want + (1-d)*float64(n)
		if math.Abs(s.Average[0]-want) > 1e-5*want {
			t.Fatalf("after %d updates %g, want %g", n, s.Average[0], want)
		}
	}
	if e := s.evaluated(); &e[0] != &s.Average[0] {
		t.Error("evaluation does not use the average")
	}
	s.Average = nil
	if a.update(1, 1); s.Average != nil {
		t.Error("an average appears")
	}
	if e := s.evaluated(); &e[0] != &s.Params[0] {
		t.Error("without an average, evaluation does not use the parameters")
	}
}

// Every epoch sees every sample once, in an order of its own that only the seed
// decides.
func TestEpochOrder(t *testing.T) {
	a, b, c := make([]int, 50), make([]int, 50), make([]int, 50)
	epochOrder(a, 1, 0)
	epochOrder(b, 1, 1)
	epochOrder(c, 2, 0)
	seen := make([]bool, 50)
	same := 0
	for i := range a {
		if seen[a[i]] {
			t.Fatalf("sample %d twice", a[i])
		}
		seen[a[i]] = true
		if a[i] == b[i] || a[i] == c[i] {
			same++
		}
	}
	if same > 10 {
		t.Errorf("orders of two epochs or seeds agree in %d of 50 places", same)
	}
	epochOrder(b, 1, 0)
	for i := range a {
		if a[i] != b[i] {
			t.Fatal("the same epoch has two orders")
		}
	}
}

// The step alone is the position in the data: epoch after epoch, whatever steps
// were skipped, each sample's points drawn from (seed, step, sample).
func TestBatches(t *testing.T) {
	e := newExperiment(t, "network.precision=float64", "training.batch=3", "seed=5")
	tr := e.trainer(t)
	order := make([]int, 7)
	at := 0
	for step := range 10 {
		tr.state.step, tr.state.Updates = step, step/2
		b := tr.nextBatch()
		if len(b.Inputs) != 3 || len(b.Seeds) != 3 {
			t.Fatalf("step %d: %d samples, %d seeds", step, len(b.Inputs), len(b.Seeds))
		}
		if want := float64(step) / float64(e.spec.Training.Steps); b.Progress != want || b.Pass != 1 {
			t.Errorf("step %d: progress %g, want %g", step, b.Progress, want)
		}
		for i, seed := range b.Seeds {
			epochOrder(order, 5, at/7)
			sample := order[at%7]
			at++
			if want := (constraint.Seed{Run: 5, Step: uint64(step), Sample: uint64(sample)}); seed != want {
				t.Errorf("step %d, sample %d: seed %+v, want %+v", step, i, seed, want)
			}
			if &b.Inputs[i][0] != &tr.samples.inputs[sample][0] {
				t.Errorf("step %d, sample %d: not initial condition %d", step, i, sample)
			}
		}
	}
	// Evaluation has points of its own, the same every time.
	if seeds, again := EvaluationSeeds(5), EvaluationSeeds(4); seeds[3] != again[3] || seeds[3] == seeds[4] || seeds[0].Step < 1<<40 {
		t.Error("evaluation samples points of training")
	}
}
