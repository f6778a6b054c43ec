package model

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pihc/constraint"
	"pihc/internal/check"
	"pihc/internal/kernel"
	"pihc/pde"
)

// build makes an engine of a spec.
type build[T kernel.Float] func(t testing.TB, s *Spec, p *pde.Problem) Engine[T]

// conformance is what every engine must do, told through the interface alone:
// the suite for the engines to come. tolerance is relative, for sums formed in
// another order.
func conformance[T kernel.Float](t *testing.T, make build[T], tolerance float64) {
	for _, problem := range []string{"diffusion-sorption", "diffusion-sorption-published", "../pde/testdata/burgers.yaml"} {
		for _, method := range Methods {
			for _, form := range []string{"mean-square", "norm"} {
				t.Run(fmt.Sprint(problem, " ", method, " ", form), func(t *testing.T) {
					spec, err := LoadSpec("toy", fmt.Appendf(nil, toySpec, problem, method, form, 2))
					if err != nil {
						t.Fatal(err)
					}
					p, err := pde.Open(problem)
					if err != nil {
						t.Fatal(err)
					}
					e := make(t, spec, p)
					defer e.Close()
					conform(t, e, spec, p, tolerance)
				})
			}
		}
	}
}

func conform[T kernel.Float](t *testing.T, e Engine[T], spec *Spec, p *pde.Problem, tolerance float64) {
	cfg, err := NetworkConfig(spec, p)
	if err != nil {
		t.Fatal(err)
	}
	params := make([]T, cfg.Size())
	wide := make([]float64, cfg.Size())
	cfg.Init(wide, rand.New(rand.NewPCG(9, 9)))
	for i, v := range wide {
		params[i] = T(v)
	}
	for _, tensor := range cfg.Layout() {
		if tensor.Name == "output.bias" { // away from the kink of R at u = 0
			for i := range params[tensor.Offset : tensor.Offset+tensor.Size()] {
				params[tensor.Offset+i] += 1
			}
		}
	}
	before := slices.Clone(params)
	batch := toyBatch(24, 3)
	field := make([][]float64, 3)
	var losses []float64

	// Predict goes through the batch in order, with all there is to know.
	next := 0
	err = e.Predict(params, batch, func(i int, q *Prediction) error {
		if i != next {
			t.Errorf("sample %d comes after %d", i, next-1)
		}
		next++
		field[i] = slices.Clone(q.Field)
		losses = append(losses, q.Loss)
		if len(q.Field) != 9*24 || len(q.MeanSquares) == 0 || math.IsNaN(q.Loss) || q.Loss <= 0 {
			t.Errorf("sample %d: %d values, %d mean squares, loss %g", i, len(q.Field), len(q.MeanSquares), q.Loss)
		}
		if want := map[string]int{Soft: 0, Hard: 1, MoE: 3}[spec.Method]; len(q.Experts) != want {
			t.Errorf("sample %d: %d experts, want %d", i, len(q.Experts), want)
		}
		if spec.Method != MoE && q.JumpRMS != 0 {
			t.Errorf("a jump of %g without borders", q.JumpRMS)
		}
		return nil
	})
	if err != nil || next != 3 {
		t.Fatalf("%d samples, %v", next, err)
	}

	// A sample's field does not depend on the batch around it.
	alone := Batch{Initial: batch.Initial[2:], Seeds: batch.Seeds[2:]}
	if err := e.Predict(params, alone, func(_ int, q *Prediction) error {
		check.Equal(t, q.Field, field[2])
		return nil
	}); err != nil {
		t.Fatal(err)
	}

	// An error of the caller's function ends the prediction and comes back.
	stop, calls := errors.New("stop"), 0
	if err := e.Predict(params, batch, func(int, *Prediction) error { calls++; return stop }); !errors.Is(err, stop) || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}

	// The loss is the mean over the batch of what Predict says.
	grad := make([]T, len(params))
	st := e.LossAndGrad(grad, params, batch)
	loss, mean := st.Loss, 0.0
	for _, l := range losses {
		mean += l / 3
	}
	if !(math.Abs(loss-mean) <= tolerance*mean) {
		t.Errorf("loss %.15g; from the predictions %.15g", loss, mean)
	}

	// The gradient is added, the same bits come again, the parameters stay.
	twice := slices.Clone(grad)
	e.LossAndGrad(twice, params, batch)
	again := make([]T, len(params))
	if st := e.LossAndGrad(again, params, batch); st.Loss != loss {
		t.Errorf("the same batch has loss %.17g and then %.17g", loss, st.Loss)
	}
	check.Equal(t, again, grad)
	for i := range grad {
		again[i] = 2 * grad[i]
	}
	check.Close(t, twice, again, tolerance, 0)
	check.Equal(t, params, before)

	// It is the mean of the samples' gradients.
	sum := make([]T, len(params))
	for i := range 3 {
		e.LossAndGrad(sum, params, Batch{Initial: batch.Initial[i : i+1], Seeds: batch.Seeds[i : i+1]})
	}
	for i := range sum {
		sum[i] /= 3
	}
	check.Close(t, sum, grad, 10*tolerance, 0)

	// Other points, another loss; soft has none.
	other := Batch{Initial: batch.Initial}
	for i := range 3 {
		other.Seeds = append(other.Seeds, constraint.Seed{Run: 5, Step: 6, Sample: uint64(i)})
	}
	clear(again)
	if st := e.LossAndGrad(again, params, other); (st.Loss == loss) != (spec.Method == Soft) {
		t.Errorf("loss %.17g with other sampled points, %.17g before", st.Loss, loss)
	}
}

func TestConformanceFloat64(t *testing.T) {
	conformance(t, func(t testing.TB, s *Spec, p *pde.Problem) Engine[float64] { return cpu[float64](t, s, p) }, 1e-10)
}

func TestConformanceFloat32(t *testing.T) {
	conformance(t, func(t testing.TB, s *Spec, p *pde.Problem) Engine[float32] { return cpu[float32](t, s, p) }, 2e-5)
}

func cpu[T kernel.Float](t testing.TB, s *Spec, p *pde.Problem) *CPU[T] {
	t.Helper()
	e, err := NewCPU[T](s, p, nil, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Q8: the published loss is the plain norm of the rows, which grows with the
// grid; its text has a square. The mean square says the same on every grid, and
// is the default; `norm` stays. The norm's gradient has the size of its weight
// however small the residual is.
func TestLossForms(t *testing.T) {
	p, err := pde.Open("../pde/testdata/burgers.yaml")
	if err != nil {
		t.Fatal(err)
	}
	value := func(form string, n int, size float64) (loss, gradient float64) {
		g, err := p.Grid(map[string]int{"t": n + 1, "x": n})
		if err != nil {
			t.Fatal(err)
		}
		sys, err := p.Discretize(g)
		if err != nil {
			t.Fatal(err)
		}
		l, err := NewLoss(sys, LossSpec{Form: form, Weights: map[string]float64{"initial": 0}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		u, bar := make([]float64, g.Size()), make([]float64, g.Size())
		for i := range u {
			u[i] = size * math.Sin(2*math.Pi*g.Axes[1].Coordinate(i%n)) * (1 + g.Axes[0].Coordinate(i/n))
		}
		squares := make([]float64, len(sys.Sets))
		loss = l.Evaluate(squares, u, make([]float64, n), bar, 1)
		return loss, math.Sqrt(kernel.SumSquares64(bar))
	}
	const coarse, fine = 32, 128
	a, _ := value("mean-square", coarse, 1)
	b, _ := value("mean-square", fine, 1)
	if math.Abs(b/a-1) > 0.1 {
		t.Errorf("mean square %g on the coarse grid, %g on the fine one", a, b)
	}
	a, _ = value("norm", coarse, 1)
	b, _ = value("norm", fine, 1)
	if math.Abs(b/a/(fine/coarse)-1) > 0.1 {
		t.Errorf("norm %g on the coarse grid, %g on the fine one: not in the ratio of the roots of the numbers of points", a, b)
	}
	_, large := value("norm", coarse, 1e-2)
	_, small := value("norm", coarse, 1e-4)
	if math.Abs(small/large-1) > 0.1 {
		t.Errorf("norm: gradient %g, for a hundredth of the field %g", large, small)
	}
	_, large = value("mean-square", coarse, 1e-2)
	_, small = value("mean-square", coarse, 1e-4)
	if math.Abs(100*small/large-1) > 0.1 {
		t.Errorf("mean square: gradient %g, for a hundredth of the field %g", large, small)
	}
	if loss, gradient := value("norm", coarse, 0); loss != 0 || gradient != 0 {
		t.Errorf("norm of nothing: %g, gradient %g", loss, gradient)
	}
}

// u0 = 0 and a network that proposes nothing are finite everywhere, for all
// methods and problems.
func TestZeroInitialCondition(t *testing.T) {
	for _, problem := range []string{"diffusion-sorption", "diffusion-sorption-published"} {
		for _, method := range Methods {
			e := toyEngine[float32](t, problem, method, "mean-square", 1, 1, "network.precision=float32", "constraint.tolerance=1e-4", "constraint.start=0")
			batch := toyBatch(24, 1)
			clear(batch.Initial[0])
			for _, params := range [][]float32{e.InitialParams(), make([]float32, e.Network.Size())} {
				grad := make([]float32, len(params))
				if st := e.LossAndGrad(grad, params, batch); !st.Finite() {
					t.Errorf("%s, %s: loss %g", problem, method, st.Loss)
				}
				for _, g := range grad {
					if math.IsNaN(float64(g)) || math.IsInf(float64(g), 0) {
						t.Errorf("%s, %s: the gradient has a %g", problem, method, g)
						break
					}
				}
			}
		}
	}
}
