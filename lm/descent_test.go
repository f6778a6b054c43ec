package lm

import "testing"

// μ rises by the damping's rule, and after a breakdown to where Cholesky can succeed.
func TestDampingOfDescent(t *testing.T) {
	s := NewSolver(2, Options{})
	w := []float64{3, 4}
	s.bind(given{cost: 1, a: []float64{1, 0, 0, 1}, g: []float64{1, 1}}, w)
	s.moveTo(w)
	s.at.evaluate(true)
	s.at.D[0], s.at.D[1] = 1, 1
	for _, c := range []struct {
		mu, want float64
		k        int
		ok       bool
	}{{1, 2, 1, true}, {1e-30, 4e-30, 2, true}, {1e-30, 2 * epsilon, 1, false}, {1, 8, 3, false}} {
		if mu := (LevenbergMarquardt{}).Reject(s.at, c.mu, c.k, c.ok); mu != c.want {
			t.Errorf("%+v: %g", c, mu)
		}
	}
	if mu := (LevenbergMarquardt{InitialDamping: 0.5}).Start(s.at); mu != 0.5 {
		t.Errorf("μ = %g at the start", mu)
	}
}

// fixed is a descent of steps of that length, which predicts what no trial keeps.
type fixed float64

func (fixed) Start(*Point) float64 { return 1 }

func (f fixed) Step(step []float64, _ *Point, _ float64) (predicted float64, ok bool) {
	step[0] = float64(f)
	return 1, true
}
func (fixed) Accept(t, _, _ float64) float64                    { return t }
func (fixed) Reject(_ *Point, t float64, _ int, _ bool) float64 { return 4 * t }
func (fixed) AcceptFrom() float64                               { return 0.5 }

// A run ends with a rejected step that is too short to change w, and when the
// number of the descent is infinite.
func TestEndOfRejections(t *testing.T) {
	for _, c := range []struct {
		step       float64
		iterations int
	}{{4 * epsilon, 1}, {1, 512}} {
		w := []float64{4}
		res := NewSolver(1, Options{Descent: fixed(c.step), NoRestart: true, MaxIterations: 1000}).Solve(scalar(func(w float64) float64 { return w }, func(float64) float64 { return 1 }), w)
		if res.Iterations != c.iterations || res.Status != StatusStalled || w[0] != 4 {
			t.Errorf("step %g: %+v at %g", c.step, res, w[0])
		}
	}
}
