package grid

import (
	"math"

	"pihc/compute"
	"pihc/internal/fft"
	"pihc/internal/kernel"
)

// A Propagator solves linear equations with constant coefficients on a nodes axis of time and periodic axes of space, Fourier mode
// by mode: y' = A y + B b, with b one function and y one or more values for each unknown, the unknown itself first. Between two times
// b is the polynomial through the six points, or all of fewer, that are nearest; the rest is exact (Duhamel's formula; Hochbruck and
// Ostermann, Exponential integrators, 2010).
type Propagator struct {
	times, unknowns int
	shape           []int // of a slice
	width, modes    int   // points of a slice, and modes of its half spectrum
	first           []int // per unknown: where it is in y
	state, nodes    int   // values of y, and times that b is interpolated between
	steps           []float64
	weights         []float64
}

// interpolated is the number of times that b is interpolated between, at most.
const interpolated = 6

// maxGrowth is how many times what a mode has may become larger until the last time; the equation of one that grows by more is y' = B b.
const maxGrowth = 10

// NewPropagator prepares the equations whose unknown c has orders[c] values in y, derivatives in time of 0 to orders[c]-1, and of the
// highest one the equation u^(m) = Σ rows·y + scale[c]·b_c. rows are (modes, unknowns, values of y), modes those of fft.Real on a
// slice.
func (g *Grid) NewPropagator(orders []int, scale []float64, rows []complex128) *Propagator {
	t := g.Axes[0]
	p := &Propagator{times: t.Points, unknowns: len(orders), shape: g.Shape()[1:], nodes: min(interpolated, t.Points)}
	p.width = g.Size() / t.Points
	p.modes = p.width / p.shape[len(p.shape)-1] * (p.shape[len(p.shape)-1]/2 + 1)
	for _, m := range orders {
		p.first, p.state = append(p.first, p.state), p.state+m
	}
	d, h := p.state, t.Step()
	lagrange := make([][][]float64, p.nodes)
	for i := 1; i < p.nodes; i++ {
		lagrange[i] = lagrangeOn(i, p.nodes)
	}
	for mode := range p.modes {
		a := make([]complex128, d*d)
		for c, m := range orders {
			for q := range m - 1 {
				a[(p.first[c]+q)*d+p.first[c]+q+1] = 1
			}
		}
		chain := append([]complex128(nil), a...)
		for c, m := range orders {
			copy(a[(p.first[c]+m-1)*d:][:d], rows[(mode*p.unknowns+c)*d:][:d])
		}
		if !(growth(a, d, t.Hi-t.Lo) <= maxGrowth) {
			a = chain
		}
		phi := phis(a, d, h, p.nodes)
		p.steps = append(p.steps, realForm(phi[0], d, d)...)
		for i := 1; i < p.nodes; i++ {
			w := make([]complex128, d*p.nodes*p.unknowns)
			for j := range p.nodes {
				for q, coef := range lagrange[i][j] {
					for c, m := range orders {
						for r := range d {
							w[(r*p.nodes+j)*p.unknowns+c] += complex(h*coef*scale[c], 0) * phi[q+1][r*d+p.first[c]+m-1]
						}
					}
				}
			}
			p.weights = append(p.weights, realForm(w, d, p.nodes*p.unknowns)...)
		}
	}
	return p
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

// phis returns φ_0 to φ_n of h a, a (d, d): φ_0 is the exponential, φ_q(z) = (φ_(q-1)(z) - 1/(q-1)!)/z. By Taylor's series of a
// fraction of z, and φ_q(2z) = 2^-q (φ_0(z) φ_q(z) + Σ_k φ_k(z)/(q-k)!).
func phis(a []complex128, d int, h float64, n int) [][]complex128 {
	z, norm := make([]complex128, d*d), 0.0
	for i, v := range a {
		z[i] = v * complex(h, 0)
		norm = math.Max(norm, float64(d)*math.Sqrt(real(z[i])*real(z[i])+imag(z[i])*imag(z[i])))
	}
	doublings := 0
	if norm > 0.5 {
		doublings = int(math.Ceil(math.Log2(2 * norm)))
	}
	for i := range z {
		z[i] = complex(math.Ldexp(real(z[i]), -doublings), math.Ldexp(imag(z[i]), -doublings))
	}
	out, inverse := make([][]complex128, n+1), []float64{1} // 1/q!
	for q := 1; q <= n; q++ {
		inverse = append(inverse, inverse[q-1]/float64(q))
	}
	const terms = 16
	last := identity(d, 1)
	for k := terms; k >= 1; k-- { // Horner: 1 + z/(n+1) (1 + z/(n+2) (...))
		last = product(z, last, d)
		for i := range last {
			last[i] /= complex(float64(n+k), 0)
		}
		for i := range d {
			last[i*d+i]++
		}
	}
	for i := range last {
		last[i] *= complex(inverse[n], 0)
	}
	out[n] = last
	for q := n - 1; q >= 0; q-- {
		out[q] = product(z, out[q+1], d)
		for i := range d {
			out[q][i*d+i] += complex(inverse[q], 0)
		}
	}
	for range doublings {
		next := make([][]complex128, n+1)
		for q := range next {
			next[q] = product(out[0], out[q], d)
			for k := 1; k <= q; k++ {
				for i, v := range out[k] {
					next[q][i] += v * complex(inverse[q-k], 0)
				}
			}
			for i := range next[q] {
				next[q][i] *= complex(math.Ldexp(1, -q), 0)
			}
		}
		out = next
	}
	return out
}

// growth is the spectral radius of e^(t a).
func growth(a []complex128, d int, t float64) float64 {
	e := phis(a, d, t, 0)[0]
	const squarings = 6
	log := 0.0
	for k := 0; ; k++ {
		largest := 0.0
		for _, v := range e {
			largest = math.Max(largest, math.Sqrt(real(v)*real(v)+imag(v)*imag(v)))
		}
		log += math.Log(largest) / float64(int(1)<<k)
		if k == squarings || !(largest > 0) || math.IsInf(largest, 0) {
			return math.Exp(log)
		}
		for i := range e {
			e[i] /= complex(largest, 0)
		}
		e = product(e, e, d)
	}
}

func identity(d int, v complex128) []complex128 {
	out := make([]complex128, d*d)
	for i := range d {
		out[i*d+i] = v
	}
	return out
}

func product(a, b []complex128, d int) []complex128 {
	out := make([]complex128, d*d)
	for i := range d {
		for k := range d {
			for j := range d {
				out[i*d+j] += a[i*d+k] * b[k*d+j]
			}
		}
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

// Propagation is the memory to propagate a number of functions at once.
type Propagation struct {
	*Propagator
	functions int
	spectrum  []float64 // (modes, times, unknowns, 2, functions)
	workers   []*propagating
}

type propagating struct {
	transform      *fft.Real
	re, im, values []float64
	y, next, out   []float64 // (state, 2, functions) twice, (times, unknowns, 2, functions)
}

// NewPropagation allocates for so many functions on the workers of a pool.
func (p *Propagator) NewPropagation(functions int, pool *compute.Pool) *Propagation {
	w := &Propagation{Propagator: p, functions: functions, spectrum: make([]float64, p.modes*p.times*p.unknowns*2*functions)}
	for range pool.Workers() {
		t := fft.NewReal(p.shape, functions)
		w.workers = append(w.workers, &propagating{
			transform: t, re: make([]float64, t.Modes()), im: make([]float64, t.Modes()), values: make([]float64, t.Size()),
			y: make([]float64, p.state*2*functions), next: make([]float64, p.state*2*functions),
			out: make([]float64, p.times*p.unknowns*2*functions),
		})
	}
	return w
}

// slices runs visit on every slice of every unknown with the values (width, functions) there.
func (w *Propagation) slices(pool *compute.Pool, visit func(v *propagating, unknown, time int)) {
	pool.Run(w.unknowns*w.times, func(worker, i int) { visit(w.workers[worker], i/w.times, i%w.times) })
}

// forward transforms what load gives.
func (w *Propagation) forward(pool *compute.Pool, load func(unknown, time int, values []float64)) {
	f := w.functions
	w.slices(pool, func(v *propagating, unknown, time int) {
		load(unknown, time, v.values)
		v.transform.Forward(v.re, v.im, v.values)
		for mode := range w.modes {
			to := w.spectrum[(mode*w.times*w.unknowns+time*w.unknowns+unknown)*2*f:]
			copy(to[:f], v.re[mode*f:])
			copy(to[f:2*f], v.im[mode*f:])
		}
	})
}

func (w *Propagation) inverse(pool *compute.Pool, store func(unknown, time int, values []float64)) {
	f, scale := w.functions, 1/float64(w.width)
	w.slices(pool, func(v *propagating, unknown, time int) {
		for mode := range w.modes {
			from := w.spectrum[(mode*w.times*w.unknowns+time*w.unknowns+unknown)*2*f:]
			copy(v.re[mode*f:(mode+1)*f], from[:f])
			copy(v.im[mode*f:(mode+1)*f], from[f:2*f])
		}
		v.transform.Inverse(v.values, v.re, v.im)
		kernel.MulScalar64(v.values, scale, v.values)
		store(unknown, time, v.values)
	})
}

// window is the first of the times that b is interpolated between on the step to time i, and the weights (state, 2, nodes,
// unknowns, 2) of its values there.
func (p *Propagator) window(mode, i int) (first int, weights []float64) {
	first = min(max(i-p.nodes/2, 0), p.times-p.nodes)
	n := p.state * 2 * p.nodes * p.unknowns * 2
	return first, p.weights[(mode*(p.nodes-1)+i-first-1)*n:][:n]
}

// Apply solves from zero with the functions that load gives for b, values (width, functions) of a slice of an unknown, and hands
// solutions to store likewise; transposed it applies the transpose of that linear map.
func (w *Propagation) Apply(pool *compute.Pool, transposed bool, load, store func(unknown, time int, values []float64)) {
	w.forward(pool, load)
	pool.Run(w.modes, func(worker, mode int) {
		v := w.workers[worker]
		if transposed {
			w.backward(v, mode)
		} else {
			clear(v.y)
			w.march(v, mode, true)
		}
	})
	w.inverse(pool, store)
}

// Begin solves without b from the values of y (state, width) at the first time, for one function.
func (w *Propagation) Begin(y []float64, store func(unknown, time int, values []float64)) {
	v, size := w.workers[0], w.state*2
	begin := make([]float64, w.modes*size)
	for s := range w.state {
		v.transform.Forward(v.re, v.im, y[s*w.width:][:w.width])
		for mode := range w.modes {
			begin[mode*size+2*s], begin[mode*size+2*s+1] = v.re[mode], v.im[mode]
		}
	}
	for mode := range w.modes {
		copy(v.y, begin[mode*size:][:size])
		w.march(v, mode, false)
	}
	w.inverse(nil, store)
}

// march replaces the spectrum of a mode by the solution that begins with y.
func (w *Propagation) march(v *propagating, mode int, forced bool) {
	f, size, row := w.functions, 2*w.state, 2*w.unknowns*w.functions
	b := w.spectrum[mode*w.times*row:][:w.times*row]
	step := w.steps[mode*size*size:][:size*size]
	for i := range w.times {
		if i > 0 {
			var from kernel.Product[float64]
			if forced {
				first, weights := w.window(mode, i)
				k := 2 * w.nodes * w.unknowns
				from = kernel.Product[float64]{A: weights, RowStride: k, ColStride: 1, B: b[first*row:], BStride: f, K: k}
			}
			kernel.Gemm(v.next, f, size, f, nil, false, kernel.Product[float64]{A: step, RowStride: size, ColStride: 1, B: v.y, BStride: f, K: size}, from)
			v.y, v.next = v.next, v.y
		}
		for c, first := range w.first {
			copy(v.out[i*row+c*2*f:][:2*f], v.y[first*2*f:])
		}
	}
	copy(b, v.out)
}

// backward replaces the spectrum of a mode by what the transpose makes of it.
func (w *Propagation) backward(v *propagating, mode int) {
	f, size, row := w.functions, 2*w.state, 2*w.unknowns*w.functions
	g := w.spectrum[mode*w.times*row:][:w.times*row]
	step := w.steps[mode*size*size:][:size*size]
	clear(v.out)
	clear(v.y)
	for i := w.times - 1; i > 0; i-- {
		for c, first := range w.first {
			kernel.Add64(v.y[first*2*f:][:2*f], v.y[first*2*f:][:2*f], g[i*row+c*2*f:][:2*f])
		}
		first, weights := w.window(mode, i)
		k := 2 * w.nodes * w.unknowns
		kernel.Gemm(v.out[first*row:], f, k, f, nil, true, kernel.Product[float64]{A: weights, RowStride: 1, ColStride: k, B: v.y, BStride: f, K: size}, kernel.Product[float64]{})
		kernel.Gemm(v.next, f, size, f, nil, false, kernel.Product[float64]{A: step, RowStride: 1, ColStride: size, B: v.y, BStride: f, K: size}, kernel.Product[float64]{})
		v.y, v.next = v.next, v.y
	}
	copy(g, v.out)
}
