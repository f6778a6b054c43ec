package model

import (
	"math"
	"testing"

	"pihc/internal/kernel"
	"pihc/pde"
)

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
			for _, params := range [][]float32{InitialParams[float32](e.info), make([]float32, e.info.Parameters())} {
				grad := make([]float32, len(params))
				if st, err := e.LossAndGrad(grad, params, batch); err != nil || !st.Finite() {
					t.Errorf("%s, %s: loss %g, %v", problem, method, st.Loss, err)
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
