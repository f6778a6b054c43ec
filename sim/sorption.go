package sim

import (
	"fmt"
	"math"

	"pihc/internal/kernel"
)

// Defaults of DiffusionSorption.
const (
	sorptionShift = 1e-6 // added to u in the retardation factor
	defaultRTol   = 1e-5
	defaultATol   = 1e-6
)

// diffusionSorption is one-dimensional diffusion with retardation by sorption,
//
//	u_t = D/R(u) u_xx,  R(u) = 1 + (1-φ)/φ ρ_s k n_f (u + 1e-6)^(n_f - 1),
//
// by the method of lines as the generator of PDEBench's data set 1D_diff-sorp
// defines it (Takamoto et al., PDEBench, NeurIPS 2022): cell centres, the ordinary three-point Laplacian, and ghost values one cell
// outside, 1 on the left and D (u[n-2] - u[n-1])/Δx on the right. R at u <= 0
// is R at 0: only the network ever goes there.
//
// In time it is integrated by an error-controlled Rosenbrock method of order 5
// with tridiagonal solves. The zero values of Length, Time, Outputs, Shift,
// RTol and ATol mean 1, 500, 101, 1e-6, 1e-5 and 1e-6. A value may be used by
// several goroutines at once.
type diffusionSorption struct {
	D    float64 // diffusion coefficient, > 0
	Phi  float64 // porosity, in (0, 1)
	RhoS float64 // bulk density, >= 0
	K    float64 // Freundlich's parameter, >= 0
	NF   float64 // Freundlich's exponent, > 0

	Points  int     // cells, at least 3
	Length  float64 // of the x axis
	Time    float64 // duration
	Outputs int     // times, at least 2, the first the initial one

	// WallConditions puts the conditions on the walls, half a cell from the
	// nearest centre and to second order: u = 1 on the left, u = -D u_x on the
	// right (the outflow that PDEBench's ghost value approximates).
	WallConditions bool

	Shift      float64 // added to u in R
	RTol, ATol float64 // tolerances of one step, relative and absolute
}

// withDefaults returns d with zero values replaced.
func (d diffusionSorption) withDefaults() diffusionSorption {
	fill := func(x *float64, value float64) {
		if *x == 0 {
			*x = value
		}
	}
	fill(&d.Length, 1)
	fill(&d.Time, 500)
	fill(&d.Shift, sorptionShift)
	fill(&d.RTol, defaultRTol)
	fill(&d.ATol, defaultATol)
	if d.Outputs == 0 {
		d.Outputs = 101
	}
	return d
}

// Validate reports the first thing wrong with the constants and sizes.
func (d diffusionSorption) Validate() error {
	d = d.withDefaults()
	positive := func(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
	switch {
	case !positive(d.D):
		return fmt.Errorf("diffusion coefficient D = %g: want a positive number", d.D)
	case !(d.Phi > 0 && d.Phi < 1):
		return fmt.Errorf("porosity phi = %g: want a number between 0 and 1", d.Phi)
	case !(d.RhoS >= 0) || math.IsInf(d.RhoS, 1):
		return fmt.Errorf("bulk density rho_s = %g: want a number >= 0", d.RhoS)
	case !(d.K >= 0) || math.IsInf(d.K, 1):
		return fmt.Errorf("the Freundlich parameter k = %g: want a number >= 0", d.K)
	case !positive(d.NF):
		return fmt.Errorf("the Freundlich exponent n_f = %g: want a positive number", d.NF)
	case d.Points < 3:
		return fmt.Errorf("axis x has %d points; diffusion-sorption needs at least 3", d.Points)
	case d.Outputs < 2:
		return fmt.Errorf("axis t has %d points; diffusion-sorption needs at least 2", d.Outputs)
	case !positive(d.Length):
		return fmt.Errorf("length %g: want a positive number", d.Length)
	case !positive(d.Time):
		return fmt.Errorf("duration %g: want a positive number", d.Time)
	case !positive(d.Shift):
		return fmt.Errorf("shift %g: want a positive number", d.Shift)
	case !positive(d.RTol) || !positive(d.ATol):
		return fmt.Errorf("tolerances rtol %g, atol %g: want positive numbers", d.RTol, d.ATol)
	case d.RTol < 1e-13:
		return fmt.Errorf("rtol %g is below the rounding of float64; want at least 1e-13", d.RTol)
	}
	return nil
}

// Solve writes the solution from the initial condition (Points) to dst
// (Outputs, Points), whose first row is the initial condition itself. dst and
// initial must not overlap. It panics if dst has another size, and returns an
// error if the constants are out of range (Validate), if the initial condition
// has another size or is not finite, or if the integration breaks down
// (ErrStepSize).
func (d diffusionSorption) Solve(dst, initial []float64) (Stats, error) {
	if err := d.Validate(); err != nil {
		return Stats{}, err
	}
	d = d.withDefaults()
	if len(dst) != d.Outputs*d.Points {
		panic("sim: DiffusionSorption.Solve: dst must be (Outputs, Points)")
	}
	if err := checkInitial(initial, d.Points); err != nil {
		return Stats{}, err
	}
	s := newSorption(d)
	return newRosenbrock(d.Points, d.RTol, d.ATol).integrate(s, dst, initial, d.Time, d.Outputs)
}

// Shape returns the shape of a solution, (Outputs, Points).
func (d diffusionSorption) Shape() []int {
	d = d.withDefaults()
	return []int{d.Outputs, d.Points}
}

func checkInitial(initial []float64, points int) error {
	if len(initial) != points {
		return fmt.Errorf("initial condition has %d points, want %d", len(initial), points)
	}
	for i, u := range initial {
		if math.IsNaN(u) || math.IsInf(u, 0) {
			return fmt.Errorf("initial condition is %v at point %d", u, i)
		}
	}
	return nil
}

// sorption is the method of lines as a system: u' = a(u)·(L u + e) with
// a_i = D/(R(u_i) Δx²), L tridiagonal with off-diagonals 1 and diagonal -2
// but for its first and last rows, and e zero but for its first entry.
type sorption struct {
	scale    float64 // D/Δx²
	sorbing  float64 // (1-φ)/φ ρ_s k n_f
	exponent float64 // n_f - 1
	shift    float64

	first, source  float64 // row 0: u[1] - first·u[0] + source
	lastSub, final float64 // row n-1: lastSub·u[n-2] - final·u[n-1]

	shifted []float64 // max(u, 0) + shift
	power   []float64 // (max(u, 0) + shift)^(n_f - 1)
	inverse []float64 // 1/a
	rate    []float64 // b_i/a_i, b = diagonal of J beyond a·L
	pivot   []float64 // inverse pivots of the factored matrix
}

func newSorption(d diffusionSorption) *sorption {
	dx := d.Length / float64(d.Points)
	s := &sorption{
		scale:    d.D / (dx * dx),
		sorbing:  (1 - d.Phi) / d.Phi * d.RhoS * d.K * d.NF,
		exponent: d.NF - 1,
		shift:    d.Shift,
		shifted:  make([]float64, d.Points),
		power:    make([]float64, d.Points),
		inverse:  make([]float64, d.Points),
		rate:     make([]float64, d.Points),
		pivot:    make([]float64, d.Points),
	}
	kappa := d.D / dx
	if d.WallConditions {
		// (g + u[0])/2 = 1 on the left; (g + u[n-1])/2 = -D (g - u[n-1])/Δx
		// on the right, for the ghost values g.
		s.first, s.source = 3, 2
		s.lastSub, s.final = 1, 2-(kappa-0.5)/(kappa+0.5)
	} else {
		s.first, s.source = 2, 1
		s.lastSub, s.final = 1+kappa, 2+kappa
	}
	return s
}

// laplacian returns (L u + e)_i.
func (s *sorption) laplacian(u []float64, i int) float64 {
	switch n := len(u); i {
	case 0:
		return u[1] - s.first*u[0] + s.source
	case n - 1:
		return s.lastSub*u[n-2] - s.final*u[n-1]
	}
	return u[i-1] - 2*u[i] + u[i+1]
}

// retardation fills s.shifted and s.power.
func (s *sorption) retardation(u []float64) {
	for i, x := range u {
		s.shifted[i] = max(x, 0) + s.shift
	}
	kernel.PowScalar64(s.power, s.shifted, s.exponent)
}

func (s *sorption) derivative(du, u []float64) {
	n := len(u)
	s.retardation(u)
	power := s.power[:n]
	du = du[:n]
	du[0] = s.laplacian(u, 0) * s.scale / (1 + s.sorbing*power[0])
	for i := 1; i < n-1; i++ {
		du[i] = (u[i-1] - 2*u[i] + u[i+1]) * s.scale / (1 + s.sorbing*power[i])
	}
	du[n-1] = s.laplacian(u, n-1) * s.scale / (1 + s.sorbing*power[n-1])
}

// linearize also keeps 1/a and b/a, where J = diag(a) L + diag(b) and
// b = -a R'/R (L u + e), R' = c (n_f - 1)(u + shift)^(n_f - 2) sharing the
// power of R; R' = 0 at u <= 0.
func (s *sorption) linearize(du, u []float64) {
	s.retardation(u)
	for i, x := range u {
		p := s.sorbing * s.power[i]
		r := 1 + p
		l := s.laplacian(u, i)
		du[i] = l * s.scale / r
		s.inverse[i] = r / s.scale
		s.rate[i] = 0
		if x > 0 {
			s.rate[i] = -s.exponent * p / ((x + s.shift) * r) * l
		}
	}
}

// factor scales row i of s·I - J by 1/a_i: (σ/a_i - b_i/a_i)I - L has
// off-diagonals -1 but for the last row.
func (s *sorption) factor(sigma float64) {
	n := len(s.pivot)
	p := 1 / (sigma*s.inverse[0] - s.rate[0] + s.first)
	s.pivot[0] = p
	for i := 1; i < n-1; i++ {
		p = 1 / (sigma*s.inverse[i] - s.rate[i] + 2 - p)
		s.pivot[i] = p
	}
	s.pivot[n-1] = 1 / (sigma*s.inverse[n-1] - s.rate[n-1] + s.final - s.lastSub*p)
}

func (s *sorption) solve(x []float64) {
	n := len(x)
	inverse, pivot := s.inverse[:n], s.pivot[:n]
	// Forward: y_i = x_i/a_i + y_{i-1}/d_{i-1}; x keeps y_i/d_i.
	y := x[0] * inverse[0] * pivot[0]
	x[0] = y
	for i := 1; i < n-1; i++ {
		y = (x[i]*inverse[i] + y) * pivot[i]
		x[i] = y
	}
	y = (x[n-1]*inverse[n-1] + s.lastSub*y) * pivot[n-1]
	x[n-1] = y
	for i := n - 2; i >= 0; i-- {
		y = x[i] + y*pivot[i]
		x[i] = y
	}
}
