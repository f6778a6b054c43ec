package grid

import (
	"math"
	"slices"

	"pihc/internal/fft"
	"pihc/internal/kernel"
)

// A Propagator solves linear equations with constant coefficients on a nodes axis of time and axes of space that are periodic, or have
// ends where fields are even or odd (then on the mirrored grid, which is periodic), Fourier mode by mode: y' = A y + B b, with b one function and y one or more values for each unknown, the unknown itself first. Between two times
// b is the polynomial through the six points, or all of fewer, that are nearest; the rest is exact (Duhamel's formula; Hochbruck and
// Ostermann, Exponential integrators, 2010). Modes that turn too fast for the times, by more than mostTurn from one to the next, take steps of
// the implicit Euler method: they come to rest where b leads them, and differences in time can follow.
type Propagator struct {
	Times, Unknowns int
	State, Nodes    int   // values of y, and times that b is interpolated between
	First           []int // per unknown: where it is in y
	Modes           int   // of the half spectrum of a slice, as fft.Real has it
	Coupled         bool  // that an unknown depends on others
	// Steps (Modes, State, 2, State, 2) are the exponentials of a step of A, and Weights (Modes, Nodes-1, State, 2, Nodes, Unknowns, 2)
	// what multiplies b at the times it is interpolated between: both as real numbers, for vectors of real and imaginary parts. Of the
	// Nodes-1 the first is for the step between the first two of these times.
	Steps, Weights []float64

	Parities Parities
	Shape    []int    // of a mirrored slice
	mirrors  []mirror // per unknown; none where no axis is mirrored
	points   int      // of a slice
	width    int      // of a mirrored slice
}

// End is the place in y after the values of an unknown: its own and the derivatives in time below the highest.
func (p *Propagator) End(unknown int) int {
	if unknown+1 < p.Unknowns {
		return p.First[unknown+1]
	}
	return p.State
}

// Of is the part of y (State, points) that belongs to an unknown.
func (p *Propagator) Of(y []float64, unknown int) []float64 {
	n := len(y) / p.State
	return y[p.First[unknown]*n : p.End(unknown)*n]
}

// interpolated is the number of times that b is interpolated between, at most.
const interpolated = 6

// maxGrowth is how many times what a mode has may become larger until the last time; the equation of one that grows by more is y' = B b.
const maxGrowth = 10

// mostTurn is the angle by which a mode turns from one time to the next at most: then there are four times to a period, of which
// differences of second order make two thirds of the rate, and those of sixth order 93 %.
const mostTurn = math.Pi / 2

// NewPropagator prepares the equations whose unknown c has orders[c] values in y, derivatives in time of 0 to orders[c]-1, and of the
// highest one the equation u^(m) = Σ rows·y + scale[c]·b_c. rows are (modes, unknowns, values of y), modes those of fft.Real on a
// slice of the mirrored grid.
func (g *Grid) NewPropagator(parities Parities, orders []int, scale []float64, rows []complex128) *Propagator {
	t, mirrored := g.Axes[0], g.Mirrored(parities)
	p := &Propagator{Times: t.Points, Unknowns: len(orders), Parities: parities, Shape: mirrored.Shape()[1:], Nodes: min(interpolated, t.Points)}
	p.points, p.width, p.mirrors = g.Size()/t.Points, mirrored.Size()/t.Points, g.mirrors(mirrored, parities)
	p.Modes = fft.NewReal(p.Shape, 1).Modes()
	for _, m := range orders {
		p.First, p.State = append(p.First, p.State), p.State+m
	}
	d, h := p.State, t.Step()
	lagrange := make([][][]float64, p.Nodes)
	for i := 1; i < p.Nodes; i++ {
		lagrange[i] = lagrangeOn(i, p.Nodes)
	}
	for mode := range p.Modes {
		a := make([]complex128, d*d)
		for c, m := range orders {
			for q := range m - 1 {
				a[(p.First[c]+q)*d+p.First[c]+q+1] = 1
			}
		}
		chain := slices.Clone(a)
		for c, m := range orders {
			row := rows[(mode*p.Unknowns+c)*d:][:d]
			copy(a[(p.First[c]+m-1)*d:], row)
			for r, v := range row {
				p.Coupled = p.Coupled || v != 0 && (r < p.First[c] || r >= p.First[c]+m)
			}
		}
		if !(growth(a, d, t.Hi-t.Lo) <= maxGrowth) {
			a = chain
		}
		fast := !(rotation(a, d, h) <= mostTurn)
		var phi [][]complex128
		if fast {
			phi = [][]complex128{implicitEuler(a, d, h)}
		} else {
			phi = Phis(a, d, h, p.Nodes)
		}
		p.Steps = append(p.Steps, realForm(phi[0], d, d)...)
		for i := 1; i < p.Nodes; i++ {
			w := make([]complex128, d*p.Nodes*p.Unknowns)
			add := func(j int, by float64, to []complex128) {
				for c, m := range orders {
					for r := range d {
						w[(r*p.Nodes+j)*p.Unknowns+c] += complex(h*by*scale[c], 0) * to[r*d+p.First[c]+m-1]
					}
				}
			}
			if fast {
				add(i, 1, phi[0])
			}
			for q, of := range phi[1:] {
				for j := range p.Nodes {
					add(j, lagrange[i][j][q], of)
				}
			}
			p.Weights = append(p.Weights, realForm(w, d, p.Nodes*p.Unknowns)...)
		}
	}
	return p
}

// implicitEuler is the step of that method, (1 - h a)^-1.
func implicitEuler(a []complex128, d int, h float64) []complex128 {
	step := make([]complex128, d*d)
	for i, v := range a {
		step[i] = -complex(h, 0) * v
	}
	for i := range d {
		step[i*d+i]++
	}
	kernel.InvertComplex(step, d, 1)
	return step
}

// Window is the first of the times that b is interpolated between on the step to time i, and which of the Weights are for that step.
func (p *Propagator) Window(i int) (first, place int) {
	return window(i, p.Nodes, p.Times)
}

// window is Window for so many nodes and times.
func window(i, nodes, times int) (first, place int) {
	first = min(max(i-nodes/2, 0), times-nodes)
	return first, i - first - 1
}

// lagrangeOn returns the coefficients of θ^q/q!, times q!, of the polynomials that are 1 at one of so many points and 0 at the
// others; θ is 0 at the point before i and 1 at i.
func lagrangeOn(i, nodes int) [][]float64 {
	out := make([][]float64, nodes)
	for j := range out {
		c := []float64{1}
		for m := range nodes {
			if m == j {
				continue
			}
			next := make([]float64, len(c)+1)
			for q, v := range c { // times (θ + i - 1 - m)/(j - m)
				next[q+1] += v / float64(j-m)
				next[q] += v * float64(i-1-m) / float64(j-m)
			}
			c = next
		}
		factorial := 1.0
		for q := range c {
			if q > 0 {
				factorial *= float64(q)
			}
			c[q] *= factorial
		}
		out[j] = c
	}
	return out
}

// realForm is a complex matrix (m, n) as one of real numbers (m, 2, n, 2), for vectors of real and imaginary parts.
func realForm(a []complex128, m, n int) []float64 {
	out := make([]float64, 4*m*n)
	for i := range m {
		for j := range n {
			v := a[i*n+j]
			out[4*i*n+2*j], out[4*i*n+2*j+1] = real(v), -imag(v)
			out[(4*i+2)*n+2*j], out[(4*i+2)*n+2*j+1] = imag(v), real(v)
		}
	}
	return out
}
