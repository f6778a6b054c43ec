package lm

import (
	"math"
	"testing"
)

// placed returns a problem and its point at w = (3, 4), scaled by d.
func placed(p given) (problem, *point, *linear) {
	s := NewSolver(2, Options{})
	q := s.bind(p, []float64{3, 4})
	s.begin([]float64{3, 4})
	q.evaluate(s.at, true)
	return q, s.at, &s.linear
}

// A singular A gets the smallest damping that makes it solvable.
func TestNewtonStepOfSingularMatrix(t *testing.T) {
	p, x, l := placed(given{cost: 1, a: []float64{4, 4, 4, 4}, g: []float64{2, 2}})
	step := newtonStep{v: make([]float64, 2)}
	v, ok := step.at(p, x, []float64{1, 1}, l)
	if !ok || math.Abs(v[0]+v[1]+0.5) > 1e-2 {
		t.Errorf("%v, %v, want a sum of -0.5", v, ok)
	}
	x.a[0] = math.NaN()
	if _, ok := step.at(p, x, []float64{1, 1}, l); !ok {
		t.Error("not kept")
	}
	step.valid = false
	if v, ok := step.at(p, x, []float64{1, 1}, l); ok || v[0] != 0 || v[1] != 0 {
		t.Errorf("%v, %v of NaN", v, ok)
	}
}

// TestDoglegPath: the step is as long as the radius, along −D⁻²g while that is
// shorter than the Cauchy point, then on the way to the Gauss-Newton step, and
// the latter from where it is inside.
func TestDoglegPath(t *testing.T) {
	a, g, d := []float64{4, 1, 1, 9}, []float64{1, -2}, []float64{2, 0.5}
	p, x, l := placed(given{cost: 1, a: a, g: g})
	newton := []float64{-(9*g[0] - g[1]) / 35, -(4*g[1] - g[0]) / 35}
	steepest := []float64{-g[0] / (d[0] * d[0]), -g[1] / (d[1] * d[1])}
	curvature := 0.0
	for i := range 2 {
		curvature += steepest[i] * dot(a[2*i:2*i+2], steepest)
	}
	along := -dot(g, steepest) / curvature
	cauchy := []float64{along * steepest[0], along * steepest[1]}
	short, long := scaledNorm(d, cauchy), scaledNorm(d, newton)
	if !(short < long) {
		t.Fatal(short, long)
	}
	descent := Dogleg{}.descent(2).(*dogleg)
	for _, radius := range []float64{0.3 * short, 0.999 * short, 0.5 * (short + long), 0.999 * long, 2 * long} {
		descent.radius = radius
		step := make([]float64, 2)
		predicted, ok := descent.step(step, p, x, d, l)
		if want := min(radius, long); !ok || math.Abs(scaledNorm(d, step)-want) > 1e-12*want {
			t.Errorf("radius %g: length %g, %v", radius, scaledNorm(d, step), ok)
		}
		if want := x.reduction(step); predicted != want || !(want > 0) {
			t.Errorf("radius %g: predicted %g, want %g", radius, predicted, want)
		}
		// The point lies on the segment it should.
		from, to := []float64{0, 0}, cauchy
		if radius > short {
			from, to = cauchy, newton
		}
		cross := (step[0]-from[0])*(to[1]-from[1]) - (step[1]-from[1])*(to[0]-from[0])
		if math.Abs(cross) > 1e-12 {
			t.Errorf("radius %g: %v is not between %v and %v", radius, step, from, to)
		}
	}
}

// The radius follows Ceres' dogleg_strategy.cc, and runs end where trials are too
// short to change w.
func TestTrustRegionAndLimits(t *testing.T) {
	_, x, _ := placed(given{cost: 1, a: []float64{1, 0, 0, 1}, g: []float64{1, 1}})
	d := []float64{1, 1}
	descent := Dogleg{}.descent(2).(*dogleg)
	if descent.start(x, d); descent.radius != 500 {
		t.Errorf("radius %g at the start, want 100‖Dw‖", descent.radius)
	}
	for _, c := range []struct{ ratio, size, want float64 }{
		{0.2, 8, 4}, {0.3, 8, 8}, {0.7, 8, 8}, {0.8, 8, 24}, {0.8, 1, 8}, {1, 1e160, 1e150},
	} {
		descent.radius = 8
		if descent.accept(c.ratio, c.size); descent.radius != c.want {
			t.Errorf("%+v: radius %g", c, descent.radius)
		}
	}
	for _, c := range []struct{ size, want float64 }{{8, 4}, {6, 3}, {1, 2}} {
		descent.radius = 8
		if on := descent.reject(1, c.size, x, d); descent.radius != c.want || !on {
			t.Errorf("rejected %+v: radius %g, %v", c, descent.radius, on)
		}
	}
	descent.radius = 5 * epsilon
	if descent.reject(1, 5*epsilon, x, d) {
		t.Error("goes on with steps that do not change w")
	}
	marquardt := LevenbergMarquardt{}.descent(2).(*levenbergMarquardt)
	marquardt.mu, marquardt.solvable = 1, true
	if !marquardt.reject(1, 6*epsilon, x, d) || marquardt.reject(2, 4*epsilon, x, d) {
		t.Error("the limit of a step is not eps‖Dw‖")
	}
	marquardt.mu, marquardt.solvable = 1e-30, false
	if !marquardt.reject(1, 0, x, d) || marquardt.mu != 2*epsilon {
		t.Errorf("μ = %g after a breakdown", marquardt.mu)
	}
	newton := GaussNewton{}.descent(2).(*gaussNewton)
	newton.start(x, d)
	for range 3 {
		newton.reject(1, 0, x, d)
	}
	if newton.accept(1, 0); newton.length != 0.25 {
		t.Errorf("length %g after three halvings and an accepted step", newton.length)
	}
}
