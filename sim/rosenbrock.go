package sim

import (
	"errors"
	"fmt"
	"math"
)

// errStepSize is wrapped by the error of a solve whose step size fell to the
// rounding of the time, as it does when the solution ceases to exist.
var errStepSize = errors.New("sim: step size too small")

// maxSteps bounds a solve that makes no progress worth having.
const maxSteps = 1_000_000

// Stats counts the work of one solve.
type Stats struct {
	Steps       int // accepted steps
	Rejected    int // steps redone with a smaller size
	Derivatives int // evaluations of the right-hand side
}

// system is an autonomous stiff system u' = f(u) with a cheap linear solve.
type system interface {
	// derivative writes f(u) to du.
	derivative(du, u []float64)
	// linearize writes f(u) to du and keeps the Jacobian J at u.
	linearize(du, u []float64)
	// factor factors s·I - J.
	factor(s float64)
	// solve overwrites x with (s·I - J)⁻¹ x.
	solve(x []float64)
}

// Rodas5P: eight-stage stiffly accurate Rosenbrock method of order 5 with an
// embedded solution of order 4 and dense output of order 4, made for parabolic
// problems and DAEs of index 1. G. Steinebach, Construction of
// Rosenbrock-Wanner method Rodas5P and numerical benchmarks within the Julia
// Differential Equations package, BIT Numerical Mathematics 63:27 (2023),
// table 1, in the transformed variables U of Hairer and Wanner II, (IV.7.25):
//
//	(I/(hγ) - J) U_i = f(u + Σ_j a_ij U_j) + Σ_j (c_ij/h) U_j
//
// Stages 7 and 8 and the solution add U_6, U_7 and U_8 to the argument of the
// stage before; U_8 is the error estimate.
const (
	rodasStages = 8
	rodasGamma  = 0.21193756319429014
)

var rodasA = [6][]float64{
	{},
	{3},
	{2.849394379747939, 0.45842242204463923},
	{-6.954028509809101, 2.489845061869568, -10.358996098473584},
	{2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641},
	{-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946},
}

var rodasC = [rodasStages][]float64{
	{},
	{-14.155112264123755},
	{-17.97296035885952, -2.859693295451294},
	{147.12150275711716, -1.41221402718213, 71.68940251302358},
	{165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306},
	{24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471},
	{30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623, -28.087943162872662},
	{37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002, -54.66780262877968, -9.48861652309627},
}

// rodasH are the three rows of the dense output: with θ in [0, 1] and
// K_r = Σ_i h_ri U_i, u(θ) = (1-θ) u₀ + θ (u₁ + (1-θ)(K_1 + θ(K_2 + θ K_3))).
var rodasH = [3][rodasStages]float64{
	{25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204, 0.524948541321073, 1.1241088310450404, 0.4272876194431874, -0.17202221070155493},
	{-9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796, 20.176138334709044, 15.98066361424651, -6.789040303419874, -6.710236069923372},
	{11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643, -52.072871366152654, -59.78993625266729, -0.15582684282751913, 4.883087185713722},
}

// rosenbrock integrates a system of n unknowns. It owns its workspace.
type rosenbrock struct {
	rtol, atol float64
	stats      Stats

	k     [rodasStages][]float64 // U_1 to U_8
	u     []float64              // solution at the start of the step
	next  []float64              // argument of a stage, at last the solution
	du    []float64              // f(u)
	ready bool                   // du and the Jacobian belong to u
}

func newRosenbrock(n int, rtol, atol float64) *rosenbrock {
	r := &rosenbrock{rtol: rtol, atol: atol}
	flat := make([]float64, (rodasStages+3)*n)
	cut := func() []float64 {
		s := flat[:n:n]
		flat = flat[n:]
		return s
	}
	for i := range r.k {
		r.k[i] = cut()
	}
	r.u, r.next, r.du = cut(), cut(), cut()
	return r
}

// integrate solves from initial over [0, duration] and writes the solution at
// outputs equidistant times, the first 0 and the last duration, to dst
// (outputs, n). Errors wrap ErrStepSize.
func (r *rosenbrock) integrate(s system, dst, initial []float64, duration float64, outputs int) (Stats, error) {
	n := len(initial)
	r.stats = Stats{}
	copy(r.u, initial)
	copy(dst[:n], initial)
	r.ready = false
	time := func(i int) float64 { return duration * float64(i) / float64(outputs-1) }

	t, h := 0.0, r.firstStep(s, duration)
	previous := 1.0 // error of the last accepted step
	rejected := false
	for output := 1; output < outputs; {
		if r.stats.Steps+r.stats.Rejected >= maxSteps {
			return r.stats, fmt.Errorf("%d steps led only to t = %g of %g: %w", maxSteps, t, duration, errStepSize)
		}
		// Do not leave a sliver for the last step.
		if left := duration - t; h > left || left-h < 1e-3*h {
			h = left
		} else if h > 0.5*left {
			h = 0.5 * left
		}
		if !(h > 1e-15*t && h > 1e-300) {
			return r.stats, fmt.Errorf("step size %g at t = %g: %w", h, t, errStepSize)
		}
		e := r.step(s, h)
		if !(e <= 1) { // also not a number
			r.stats.Rejected++
			shrink := 0.1
			if e <= 1e12 {
				shrink = max(0.1, 0.9*math.Pow(e, -0.2))
			}
			h *= shrink
			rejected = true
			continue
		}
		r.stats.Steps++
		end := t + h
		if duration-end < 1e-12*duration {
			end = duration
		}
		for ; output < outputs && time(output) <= end; output++ {
			row := dst[output*n : (output+1)*n]
			if at := time(output); at == end {
				copy(row, r.next)
			} else {
				r.interpolate(row, (at-t)/h)
			}
		}
		t = end
		r.u, r.next = r.next, r.u
		r.ready = false

		// Proportional-integral control, Hairer and Wanner II (IV.2.43).
		e = max(e, 1e-6)
		grow := min(6, max(0.2, 0.9*math.Pow(e, -0.7/5)*math.Pow(previous, 0.4/5)))
		if rejected {
			grow = min(grow, 1)
		}
		h *= grow
		previous, rejected = e, false
	}
	return r.stats, nil
}

// firstStep guesses a step from the size of f alone: the controller corrects
// a bad guess within a few steps.
func (r *rosenbrock) firstStep(s system, duration float64) float64 {
	s.linearize(r.du, r.u)
	r.stats.Derivatives++
	r.ready = true
	worst := 0.0
	for i, f := range r.du {
		worst = max(worst, math.Abs(f)/(r.atol+r.rtol*math.Abs(r.u[i])))
	}
	if worst == 0 || math.IsNaN(worst) {
		return 1e-6 * duration
	}
	// One explicit Euler step of this size moves by the fifth root of the
	// tolerance, so an order-5 error is near the tolerance.
	return min(duration, math.Pow(r.rtol+r.atol, 0.2)/(worst*(r.rtol+r.atol)))
}

// step tries one step of size h from r.u to r.next and returns its scaled
// error: at most 1 is acceptable.
func (r *rosenbrock) step(s system, h float64) float64 {
	if !r.ready {
		s.linearize(r.du, r.u)
		r.stats.Derivatives++
		r.ready = true
	}
	s.factor(1 / (h * rodasGamma))
	copy(r.k[0], r.du)
	s.solve(r.k[0])
	var c [rodasStages]float64
	for i := 1; i < rodasStages; i++ {
		if i < len(rodasA) {
			combine(r.next, r.u, rodasA[i], r.k[:i])
		} else {
			combine(r.next, r.next, []float64{1}, r.k[i-1:i])
		}
		s.derivative(r.k[i], r.next)
		r.stats.Derivatives++
		for j, x := range rodasC[i] {
			c[j] = x / h
		}
		combine(r.k[i], r.k[i], c[:i], r.k[:i])
		s.solve(r.k[i])
	}
	last := r.k[rodasStages-1]
	combine(r.next, r.next, []float64{1}, r.k[rodasStages-1:])
	sum := 0.0
	for i, e := range last {
		x := e / (r.atol + r.rtol*max(math.Abs(r.u[i]), math.Abs(r.next[i])))
		sum += x * x
	}
	return math.Sqrt(sum / float64(len(last)))
}

// interpolate writes the solution at the fraction theta of the step just
// taken, before r.u and r.next are exchanged.
func (r *rosenbrock) interpolate(dst []float64, theta float64) {
	var w [rodasStages]float64
	bubble := theta * (1 - theta)
	for i := range w {
		w[i] = bubble * (rodasH[0][i] + theta*(rodasH[1][i]+theta*rodasH[2][i]))
	}
	next, u := r.next[:len(dst)], r.u[:len(dst)]
	for i := range dst {
		dst[i] = u[i] + theta*(next[i]-u[i])
	}
	combine(dst, dst, w[:], r.k[:])
}

// combine writes dst = base + Σ_j c_j k_j, four terms to a pass. dst may be
// base.
func combine(dst, base, c []float64, k [][]float64) {
	n := len(dst)
	base = base[:n]
	for len(c) >= 4 {
		c0, c1, c2, c3 := c[0], c[1], c[2], c[3]
		k0, k1, k2, k3 := k[0][:n], k[1][:n], k[2][:n], k[3][:n]
		for i := range dst {
			dst[i] = base[i] + (c0*k0[i] + c1*k1[i]) + (c2*k2[i] + c3*k3[i])
		}
		base, c, k = dst, c[4:], k[4:]
	}
	switch len(c) {
	case 3:
		c0, c1, c2 := c[0], c[1], c[2]
		k0, k1, k2 := k[0][:n], k[1][:n], k[2][:n]
		for i := range dst {
			dst[i] = base[i] + (c0*k0[i] + c1*k1[i]) + c2*k2[i]
		}
	case 2:
		c0, c1 := c[0], c[1]
		k0, k1 := k[0][:n], k[1][:n]
		for i := range dst {
			dst[i] = base[i] + (c0*k0[i] + c1*k1[i])
		}
	case 1:
		c0, k0 := c[0], k[0][:n]
		for i := range dst {
			dst[i] = base[i] + c0*k0[i]
		}
	}
}
