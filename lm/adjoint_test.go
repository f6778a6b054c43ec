package lm

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// parametric is a problem that depends on parameters θ besides w.
type parametric struct {
	*Dense
	theta    []float64
	jacobian func(jac, w []float64) // ∂r_i/∂θ_k at jac[i*len(theta)+k]
}

// gradient returns θ̄ = −(∂g/∂θ)ᵀλ at w, with (∂g/∂θ)ᵀλ = (∂r/∂θ)ᵀ(Jλ) and, but in
// paper mode, the central difference of (∂r/∂θ)ᵀr along λ.
func (p *parametric) gradient(s *Solver, w, wbar []float64, want Hessian, paper bool) ([]float64, Hessian) {
	m, n, params := len(p.r), p.dim, len(p.theta)
	lambda, bar := make([]float64, n), make([]float64, params)
	status := factorAfresh(s, p.Dense, w, want)
	s.SolveAdjoint(lambda, wbar)
	jac, r := make([]float64, m*n), make([]float64, m)
	p.Dense.jacobian(jac, w)
	p.residual(r, w)
	byTheta := func(h float64) []float64 {
		out, x := make([]float64, m*params), append([]float64(nil), w...)
		axpy(x, h, lambda)
		p.jacobian(out, x)
		return out
	}
	h := 20 * differenceStep(norm(w)) / norm(lambda)
	at, up, down := byTheta(0), byTheta(h), byTheta(-h)
	for i, v := range r {
		along := dot(jac[i*n:(i+1)*n], lambda)
		for k := range bar {
			bar[k] -= along * at[i*params+k]
			if !paper {
				bar[k] -= v * (up[i*params+k] - down[i*params+k]) / (2 * h)
			}
		}
	}
	return bar, status
}

// factorAfresh is FactorSolution with everything evaluated again.
func factorAfresh(s *Solver, p Problem, w []float64, mode Hessian) Hessian {
	s.bind(p, w)
	s.moveTo(w)
	return s.FactorSolution(p, w, mode)
}

// fitProblem is y = θ_0·e^(−w_0 t)·cos(w_1 t) + w_2 t + θ_1 w_0² at 30 points,
// observed with errors that make the residual at the solution large (noise) or
// zero; the first two parameters enter J.
func fitProblem(noise float64) *parametric {
	const m = 30
	rng := rand.New(rand.NewPCG(3, 3))
	y := make([]float64, m)
	theta := []float64{1.5, 0.2}
	model := func(t float64, w, th []float64) float64 {
		return th[0]*math.Exp(-w[0]*t)*math.Cos(w[1]*t) + w[2]*t + th[1]*w[0]*w[0]
	}
	at := func(i int) float64 { return 3 * float64(i) / m }
	for i := range y {
		y[i] = model(at(i), []float64{0.7, 2, 0.4}, theta) + noise*rng.NormFloat64()
	}
	return &parametric{
		Dense: NewDense(m, 3,
			func(r, w []float64) {
				for i := range r {
					r[i] = model(at(i), w, theta) - y[i]
				}
			},
			func(jac, w []float64) {
				for i := range m {
					t := at(i)
					e, sin, cos := math.Exp(-w[0]*t), math.Sin(w[1]*t), math.Cos(w[1]*t)
					jac[3*i] = -t*theta[0]*e*cos + 2*theta[1]*w[0]
					jac[3*i+1] = -t * theta[0] * e * sin
					jac[3*i+2] = t
				}
			},
		),
		theta: theta,
		jacobian: func(jac, w []float64) {
			for i := range m {
				t := at(i)
				jac[2*i] = math.Exp(-w[0]*t) * math.Cos(w[1]*t)
				jac[2*i+1] = w[0] * w[0]
			}
		},
	}
}

var tight = Options{GTol: 1e-15, FTol: -1, XTol: 1e-15, MaxIterations: 500, NewtonCorrection: true}

// resolved returns dL/dθ of L = v·w*(θ) by fourth-order central differences of
// the solved problem.
func resolved(s *Solver, p *parametric, start, v []float64) []float64 {
	w, theta := make([]float64, len(start)), p.theta
	loss := func() float64 {
		copy(w, start)
		s.Solve(p, w)
		return dot(v, w)
	}
	out := make([]float64, len(theta))
	for k, t := range theta {
		h := 1e-3 * max(1, math.Abs(t))
		difference := func(h float64) float64 {
			theta[k] = t + h
			up := loss()
			theta[k] = t - h
			down := loss()
			theta[k] = t
			return (up - down) / (2 * h)
		}
		out[k] = (4*difference(h) - difference(2*h)) / 3
	}
	return out
}

func relative(got, want []float64) float64 {
	diff := make([]float64, len(got))
	for i := range got {
		diff[i] = got[i] - want[i]
	}
	return norm(diff) / norm(want)
}

func TestGradientAgainstResolvedProblem(t *testing.T) {
	v := []float64{1, -0.5, 2}
	for _, noise := range []float64{0, 0.1, 0.5} {
		p := fitProblem(noise)
		s := NewSolver(3, tight)
		w := []float64{0.5, 1.8, 0}
		start := append([]float64(nil), w...)
		res := s.Solve(p, w)
		if res.Status.Err() != nil && res.Status != StatusStalled {
			t.Fatalf("noise %g: %+v", noise, res)
		}
		want := resolved(s, p, start, v)
		got, status := p.gradient(s, w, v, HessianExact, false)
		if status != HessianExact {
			t.Fatalf("noise %g: %v", noise, status)
		}
		if e := relative(got, want); !(e <= 1e-6) {
			t.Errorf("noise %g: gradient %v, re-solved %v, relative error %.1e", noise, got, want, e)
		}
		errors := map[bool]float64{}
		for _, paper := range []bool{false, true} {
			if got, status = p.gradient(s, w, v, HessianGaussNewton, paper); status != HessianGaussNewton {
				t.Errorf("paper %v: %v", paper, status)
			}
			errors[paper] = relative(got, want)
		}
		t.Logf("noise %g: Gauss-Newton off by %.1e, paper by %.1e", noise, errors[false], errors[true])
		// Both are right where the residual vanishes, and only there.
		for paper, e := range errors {
			if noise == 0 && e > 1e-6 || noise == 0.5 && e < 1e-3 {
				t.Errorf("noise %g: paper %v is off by %.1e", noise, paper, e)
			}
		}
	}
}

// TestPaperGradient holds the mode to its formula −(∂r/∂θ)ᵀJ(JᵀJ)⁻¹w̄, with gonum's
// solution of the system.
func TestPaperGradient(t *testing.T) {
	const m, n, params = 30, 3, 2
	p, s := fitProblem(0.5), NewSolver(n, tight)
	w, v := []float64{0.5, 1.8, 0}, []float64{1, -0.5, 2}
	s.Solve(p, w)
	got, _ := p.gradient(s, w, v, HessianGaussNewton, true)
	jac, theta := mat.NewDense(m, n, nil), mat.NewDense(m, params, nil)
	p.Dense.jacobian(jac.RawMatrix().Data, w)
	p.jacobian(theta.RawMatrix().Data, w)
	var a, mixed mat.Dense
	var lambda, bar mat.VecDense
	a.Mul(jac.T(), jac)
	if err := lambda.SolveVec(&a, mat.NewVecDense(n, v)); err != nil {
		t.Fatal(err)
	}
	mixed.Mul(theta.T(), jac)
	bar.MulVec(&mixed, &lambda)
	closeTo(t, "θ̄", got, []float64{-bar.AtVec(0), -bar.AtVec(1)}, 1e-10)
}

// TestGradientErrorIsQuadraticAfterCorrection starts the adjoint from points
// at a known distance from the minimum. The error of the implicit gradient is
// of the order of the distance, and of its square after one Newton step.
func TestGradientErrorIsQuadraticAfterCorrection(t *testing.T) {
	p := fitProblem(0.3)
	s := NewSolver(3, tight)
	best := []float64{0.5, 1.8, 0}
	s.Solve(p, best)
	v := []float64{1, -0.5, 2}
	want, _ := p.gradient(s, best, v, HessianExact, false)
	errorAt := func(distance float64, correct bool) float64 {
		w := append([]float64(nil), best...)
		axpy(w, distance/math.Sqrt(3), []float64{1, -1, 1})
		if correct {
			// No iterations: Solve then is the correction alone.
			one := NewSolver(3, Options{GTol: 1, NewtonCorrection: true})
			if res := one.Solve(p, w); !res.Corrected {
				t.Fatalf("not corrected at distance %g: %+v", distance, res)
			}
		}
		got, _ := p.gradient(s, w, v, HessianExact, false)
		return relative(got, want)
	}
	for _, c := range []struct {
		correct bool
		order   float64
	}{{false, 1}, {true, 2}} {
		far, near := errorAt(1e-2, c.correct), errorAt(1e-3, c.correct)
		order := math.Log10(far / near)
		t.Logf("corrected %v: error %.1e at distance 1e-2, %.1e at 1e-3: order %.2f", c.correct, far, near, order)
		if math.Abs(order-c.order) > 0.15 {
			t.Errorf("corrected %v: order %.2f, want %g", c.correct, order, c.order)
		}
	}
}

// collinear is linear least squares with two columns that differ by delta, so
// the condition number is about 2/delta: r = X w − θ·y with solution θ·X⁺y.
func collinear(delta float64) (*parametric, []float64) {
	const m, n = 40, 3
	rng := rand.New(rand.NewPCG(9, 9))
	x, y := make([]float64, m*n), make([]float64, m)
	for i := range m {
		x[i*n] = rng.NormFloat64()
		x[i*n+1] = x[i*n] + delta*rng.NormFloat64()
		x[i*n+2] = rng.NormFloat64()
		y[i] = rng.NormFloat64()
	}
	theta := []float64{1}
	p := &parametric{
		Dense: NewDense(m, n,
			func(r, w []float64) {
				for i := range r {
					r[i] = dot(x[i*n:(i+1)*n], w) - theta[0]*y[i]
				}
			},
			func(jac, _ []float64) { copy(jac, x) },
		),
		theta: theta,
		jacobian: func(jac, _ []float64) {
			for i := range m {
				jac[i] = -y[i]
			}
		},
	}
	// The witness: LAPACK's QR of X, no normal equations.
	var qr mat.QR
	qr.Factorize(mat.NewDense(m, n, append([]float64(nil), x...)))
	truth := make([]float64, n)
	if err := qr.SolveVecTo(mat.NewVecDense(n, truth), false, mat.NewVecDense(m, y)); err != nil {
		if _, poor := err.(mat.Condition); !poor {
			panic(err)
		}
	}
	return p, truth
}

// TestGradientWithCollinearColumns asks for 1e-6 times the condition number.
func TestGradientWithCollinearColumns(t *testing.T) {
	for _, delta := range []float64{1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6} {
		p, truth := collinear(delta)
		s := NewSolver(3, tight)
		w := make([]float64, 3)
		res := s.Solve(p, w)
		cond := 2 / delta
		for _, mode := range []Hessian{HessianExact, HessianGaussNewton} {
			v := []float64{1, -0.3, 0.5}
			bar, status := p.gradient(s, w, v, mode, false)
			want := dot(v, truth) // dw/dθ = X⁺y
			e := math.Abs(bar[0]-want) / math.Abs(want)
			t.Logf("condition %.0e, %v: solve %v (pivot %.0e), adjoint %v, gradient off by %.1e, solution by %.1e", cond, mode, res.Status, res.SmallestPivot, status, e, relative(w, truth))
			if !(e <= 1e-6*cond) || !(relative(w, truth) <= 1e-6*cond) {
				t.Errorf("condition %.0e, %v: gradient off by %.1e, solution by %.1e", cond, mode, e, relative(w, truth))
			}
			// Far inside the bound, as the refinement and the QR promise.
			if e > 1e-3 || mode == HessianGaussNewton && e > 1e-7 {
				t.Errorf("condition %.0e, %v: gradient off by %.1e", cond, mode, e)
			}
		}
	}
}

// TestAdjointFallbacks drives FactorSolution through each status.
func TestAdjointFallbacks(t *testing.T) {
	s := NewSolver(2, Options{})
	// r = (w0² − 1, w1): H = diag(6w0² − 2, 1) is indefinite at w0 = 0.1.
	indefinite := NewDense(2, 2,
		func(r, w []float64) { r[0], r[1] = w[0]*w[0]-1, w[1] },
		func(jac, w []float64) { jac[0], jac[1], jac[2], jac[3] = 2*w[0], 0, 0, 1 },
	)
	if got := factorAfresh(s, indefinite, []float64{0.1, 0}, HessianExact); got != HessianGaussNewton {
		t.Errorf("indefinite H: %v", got)
	}
	lambda := make([]float64, 2)
	s.SolveAdjoint(lambda, []float64{1, 1})
	if math.Abs(lambda[0]-25) > 1e-9 || math.Abs(lambda[1]-1) > 1e-12 {
		t.Errorf("Gauss-Newton λ = %v, want 25, 1", lambda)
	}
	if got := factorAfresh(s, indefinite, []float64{1, 0}, HessianExact); got != HessianExact {
		t.Errorf("definite H: %v", got)
	}
	singular := NewDense(2, 2,
		func(r, w []float64) { r[0], r[1] = w[0]+w[1], 2*(w[0]+w[1]) },
		func(jac, _ []float64) { jac[0], jac[1], jac[2], jac[3] = 1, 1, 2, 2 },
	)
	if got := factorAfresh(s, singular, []float64{1, 0}, HessianGaussNewton); got != HessianRegularised {
		t.Errorf("singular J: %v", got)
	}
	s.SolveAdjoint(lambda, []float64{1, 1})
	if math.Abs(lambda[0]+lambda[1]-0.2) > 1e-6 { // 5(λ0+λ1) = 1
		t.Errorf("regularised λ = %v, want a sum of 0.2", lambda)
	}
	bad := newTerms(4, 2, 1)
	bad.bad = true
	if got := factorAfresh(s, bad, []float64{0, 0}, HessianGaussNewton); got != HessianFailed {
		t.Errorf("NaN problem: %v", got)
	}
	s.SolveAdjoint(lambda, []float64{1, 1})
	if lambda[0] != 0 || lambda[1] != 0 {
		t.Errorf("failed adjoint gives %v", lambda)
	}
}

// given is a problem of two unknowns whose parts are given numbers.
type given struct {
	cost    float64
	a, c, g []float64
}

func (given) Dim() int { return 2 }

func (p given) Normal(a, g, _ []float64) float64 {
	if g != nil {
		copy(a, p.a)
		copy(g, p.g)
	}
	return p.cost
}

func (p given) HessianParts(a, c, g, w []float64) float64 {
	copy(c, p.c)
	return p.Normal(a, g, w)
}

// TestFactorOrder gives the parts of the Hessian as numbers: the exact Hessian is
// used down to pivots of 1e-14, then JᵀJ, then JᵀJ with the smallest τ that
// will do, and nothing that is not finite; λ is that of the matrix named.
func TestFactorOrder(t *testing.T) {
	nan, unit, singular := math.NaN(), []float64{1, 0, 0, 1}, []float64{1, 1, 1, 1}
	coupled := func(pivot float64) []float64 { // unit + it has that smallest pivot
		c := math.Sqrt(1 - pivot)
		return []float64{0, c, c, 0}
	}
	g := []float64{0, 0}
	s := NewSolver(2, Options{})
	for _, c := range []struct {
		name string
		p    given
		mode Hessian
		want Hessian
	}{
		{"definite", given{1, unit, unit, g}, HessianExact, HessianExact},
		{"asked for", given{1, unit, unit, g}, HessianGaussNewton, HessianGaussNewton},
		{"pivot 1e-11", given{1, unit, coupled(1e-11), g}, HessianExact, HessianExact},
		{"pivot 2e-15", given{1, unit, coupled(2e-15), g}, HessianExact, HessianGaussNewton},
		{"indefinite", given{1, unit, []float64{-2, 0, 0, -2}, g}, HessianExact, HessianGaussNewton},
		{"curvature NaN", given{1, unit, []float64{0, nan, nan, 0}, g}, HessianExact, HessianGaussNewton},
		{"JᵀJ singular, H definite", given{1, singular, unit, g}, HessianExact, HessianExact},
		{"both singular", given{1, singular, []float64{0, 0, 0, 0}, g}, HessianExact, HessianRegularised},
		{"JᵀJ singular", given{1, singular, unit, g}, HessianGaussNewton, HessianRegularised},
		{"JᵀJ nearly singular", given{1, []float64{1, 1 - 1e-11, 1 - 1e-11, 1}, unit, g}, HessianGaussNewton, HessianGaussNewton},
		{"JᵀJ indefinite by rounding", given{1, []float64{1, 1 + 1e-9, 1 + 1e-9, 1}, unit, g}, HessianGaussNewton, HessianRegularised},
		{"JᵀJ indefinite", given{1, []float64{1, 2, 2, 1}, unit, g}, HessianGaussNewton, HessianFailed},
		{"cost NaN", given{nan, unit, unit, g}, HessianExact, HessianFailed},
		{"cost Inf", given{math.Inf(1), unit, unit, g}, HessianGaussNewton, HessianFailed},
		{"JᵀJ NaN", given{1, []float64{1, nan, nan, 1}, unit, g}, HessianExact, HessianFailed},
	} {
		got := factorAfresh(s, c.p, []float64{1, 2}, c.mode)
		if got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
			continue
		}
		wbar, lambda := []float64{3, -1}, make([]float64, 2)
		s.SolveAdjoint(lambda, wbar)
		m := append([]float64(nil), c.p.a...)
		switch got {
		case HessianExact:
			axpy(m, 1, c.p.c)
		case HessianRegularised:
			// τ is a power of ten from 1e-12.
			tau := s.adjoint.tau
			if e := math.Log10(tau); math.Abs(e-math.Round(e)) > 1e-9 || e < -12.1 {
				t.Errorf("%s: τ = %g", c.name, tau)
			}
			m[0], m[3] = m[0]*(1+tau), m[3]*(1+tau)
		case HessianFailed:
			if lambda[0] != 0 || lambda[1] != 0 {
				t.Errorf("%s: λ = %v, want zero", c.name, lambda)
			}
			continue
		}
		for i := range 2 {
			// Backward error: 1e-9 of |M||λ|.
			row := m[2*i : 2*i+2]
			if e := dot(row, lambda) - wbar[i]; !(math.Abs(e) <= 1e-9*(math.Abs(row[0]*lambda[0])+math.Abs(row[1]*lambda[1]))) {
				t.Errorf("%s: Mλ − w̄ = %g at row %d", c.name, e, i)
			}
		}
	}
}

// TestFactorFailsOnRows: a Jacobian that is not finite fails, though its QR would
// find it of full rank.
func TestFactorFailsOnRows(t *testing.T) {
	p := NewDense(2, 2,
		func(r, w []float64) { r[0], r[1] = w[0], w[1] },
		func(jac, _ []float64) { jac[0], jac[1], jac[2], jac[3] = 1, math.NaN(), 0, 1 },
	)
	s, lambda := NewSolver(2, Options{}), []float64{1, 1}
	if got := factorAfresh(s, p, []float64{1, 1}, HessianGaussNewton); got != HessianFailed {
		t.Errorf("%v, want %v", got, HessianFailed)
	}
	s.SolveAdjoint(lambda, []float64{1, 1})
	if lambda[0] != 0 || lambda[1] != 0 {
		t.Errorf("λ = %v, want zero", lambda)
	}
}

// TestExactHessian holds the dense problem's differences against the closed
// form, and the closed form of the terms problem against differences of g.
func TestExactHessian(t *testing.T) {
	p := newTerms(50, 5, 4)
	n := p.n
	w := fill(n, func(i int) float64 { return 0.1 * float64(i) })
	h := hessianOf(p, w)
	closeTo(t, "H of the dense problem", hessianOf(p.dense(), w), h, 1e-7)
	a, up, down := make([]float64, n*n), make([]float64, n), make([]float64, n)
	for k := range n {
		const step = 1e-5
		w[k] += step
		p.Normal(a, up, w)
		w[k] -= 2 * step
		p.Normal(a, down, w)
		w[k] += step
		for j := range n {
			want := (up[j] - down[j]) / (2 * step)
			if math.Abs(h[k*n+j]-want) > 1e-7*math.Abs(h[k*n+k]) {
				t.Errorf("H[%d,%d] = %g, difference of g %g", k, j, h[k*n+j], want)
			}
		}
	}
}
