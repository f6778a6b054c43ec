package grid

import (
	"pihc/compute"
	"pihc/internal/fft"
	"pihc/internal/kernel"
)

// Propagation is the memory of a Propagator for a number of functions at once. It belongs to one caller at a time.
type Propagation struct {
	*Propagator
	functions int
	pool      *compute.Pool
	spectrum  []float64 // (Modes, Times, Unknowns, 2, functions)
	workers   []*propagating
}

// propagating is one worker's memory.
type propagating struct {
	transform      *fft.Real
	re, im, values []float64
	slice          []float64 // (points, functions): values, where no axis is mirrored
	y, next        []float64 // (State, 2, functions)
	out            []float64 // (Times, Unknowns, 2, functions)
}

// A Slices visits the values (points, functions) of the slice of an unknown at a time.
type Slices func(unknown, time int, values []float64)

// NewPropagation allocates for so many functions on the workers of a pool.
func (p *Propagator) NewPropagation(functions int, pool *compute.Pool) *Propagation {
	w := &Propagation{Propagator: p, functions: functions, pool: pool, spectrum: make([]float64, p.Modes*p.Times*p.Unknowns*2*functions)}
	for range pool.Workers() {
		t := fft.NewReal(p.Shape, functions)
		w.workers = append(w.workers, &propagating{
			transform: t, re: make([]float64, t.Modes()), im: make([]float64, t.Modes()), values: make([]float64, t.Size()),
			y: make([]float64, p.State*2*functions), next: make([]float64, p.State*2*functions),
			out: make([]float64, p.Times*p.Unknowns*2*functions),
		})
		v := w.workers[len(w.workers)-1]
		if v.slice = v.values; p.mirrors != nil {
			v.slice = make([]float64, p.points*functions)
		}
	}
	return w
}

// Apply solves from zero with what load gives as b, and hands the solution to store, both on many goroutines; transposed it applies
// the transpose of that linear map.
func (w *Propagation) Apply(transposed bool, load, store Slices) {
	f := w.functions
	w.slices(func(v *propagating, unknown, time int) {
		load(unknown, time, v.slice)
		if w.mirrors != nil {
			if m := &w.mirrors[unknown]; transposed {
				m.cutTransposed(v.values, v.slice, f)
			} else {
				m.spread(v.values, v.slice, f)
			}
		}
		v.transform.Forward(v.re, v.im, v.values)
		for mode := range w.Modes {
			to := w.at(mode, time, unknown)
			copy(to[:f], v.re[mode*f:])
			copy(to[f:], v.im[mode*f:])
		}
	})
	w.pool.Run(w.Modes, func(worker, mode int) {
		v := w.workers[worker]
		clear(v.y)
		if transposed {
			w.backward(v, mode)
		} else {
			w.march(v, mode, true)
		}
	})
	w.inverse(transposed, store)
}

// Begin solves without b from y (State, points) at the first time; all functions are the same.
func (w *Propagation) Begin(y []float64, store Slices) {
	v, f := w.workers[0], w.functions
	block := w.Times * w.Unknowns * 2 * f // of a mode
	unknown := 0
	for s := range w.State {
		for p, x := range y[s*w.points:][:w.points] {
			for j := range f {
				v.slice[p*f+j] = x
			}
		}
		if unknown+1 < w.Unknowns && w.First[unknown+1] == s {
			unknown++
		}
		if w.mirrors != nil {
			w.mirrors[unknown].spread(v.values, v.slice, f)
		}
		v.transform.Forward(v.re, v.im, v.values)
		for mode := range w.Modes {
			to := w.spectrum[mode*block+s*2*f:][:2*f]
			copy(to[:f], v.re[mode*f:])
			copy(to[f:], v.im[mode*f:])
		}
	}
	w.pool.Run(w.Modes, func(worker, mode int) {
		v := w.workers[worker]
		copy(v.y, w.spectrum[mode*block:])
		w.march(v, mode, false)
	})
	w.inverse(false, store)
}

// slices runs visit for every slice of every unknown.
func (w *Propagation) slices(visit func(v *propagating, unknown, time int)) {
	w.pool.Run(w.Unknowns*w.Times, func(worker, i int) { visit(w.workers[worker], i/w.Times, i%w.Times) })
}

// at is the spectrum (2, functions) of a mode.
func (w *Propagation) at(mode, time, unknown int) []float64 {
	return w.spectrum[((mode*w.Times+time)*w.Unknowns+unknown)*2*w.functions:][:2*w.functions]
}

func (w *Propagation) inverse(transposed bool, store Slices) {
	f, scale := w.functions, 1/float64(w.width)
	w.slices(func(v *propagating, unknown, time int) {
		for mode := range w.Modes {
			from := w.at(mode, time, unknown)
			copy(v.re[mode*f:], from[:f])
			copy(v.im[mode*f:], from[f:])
		}
		v.transform.Inverse(v.values, v.re, v.im)
		kernel.MulScalar64(v.values, scale, v.values)
		if w.mirrors != nil {
			if m := &w.mirrors[unknown]; transposed {
				m.spreadTransposed(v.slice, v.values, f)
			} else {
				m.cut(v.slice, v.values, f)
			}
		}
		store(unknown, time, v.slice)
	})
}

// step returns the exponential of a step of a mode and the weights of the step to time i, with the first of the times they are of.
func (w *Propagation) step(mode, i int) (step, weights []float64, first int) {
	rows, columns := 2*w.State, 2*w.Nodes*w.Unknowns
	first, place := w.Window(i)
	return w.Steps[mode*rows*rows:][:rows*rows], w.Weights[(mode*(w.Nodes-1)+place)*rows*columns:][:rows*columns], first
}

// march replaces the spectrum of a mode, which is b or without forced nothing, by the solution that begins with v.y.
func (w *Propagation) march(v *propagating, mode int, forced bool) {
	f, size, row, columns := w.functions, 2*w.State, 2*w.Unknowns*w.functions, 2*w.Nodes*w.Unknowns
	b := w.spectrum[mode*w.Times*row:][:w.Times*row]
	for i := range w.Times {
		if i > 0 {
			step, weights, first := w.step(mode, i)
			var forcing kernel.Product[float64]
			if forced {
				forcing = kernel.Product[float64]{A: weights, RowStride: columns, ColStride: 1, B: b[first*row:], BStride: f, K: columns}
			}
			kernel.Gemm(v.next, f, size, f, nil, false, kernel.Product[float64]{A: step, RowStride: size, ColStride: 1, B: v.y, BStride: f, K: size}, forcing)
			v.y, v.next = v.next, v.y
		}
		for c, first := range w.First {
			copy(v.out[i*row+c*2*f:][:2*f], v.y[first*2*f:])
		}
	}
	copy(b, v.out)
}

// backward replaces the spectrum of a mode by what the transpose makes of it; v.y is zero.
func (w *Propagation) backward(v *propagating, mode int) {
	f, size, row, columns := w.functions, 2*w.State, 2*w.Unknowns*w.functions, 2*w.Nodes*w.Unknowns
	g := w.spectrum[mode*w.Times*row:][:w.Times*row]
	clear(v.out)
	for i := w.Times - 1; i > 0; i-- {
		for c, first := range w.First {
			kernel.Add64(v.y[first*2*f:][:2*f], v.y[first*2*f:][:2*f], g[i*row+c*2*f:][:2*f])
		}
		step, weights, first := w.step(mode, i)
		kernel.Gemm(v.out[first*row:], f, columns, f, nil, true, kernel.Product[float64]{A: weights, RowStride: 1, ColStride: columns, B: v.y, BStride: f, K: size}, kernel.Product[float64]{})
		kernel.Gemm(v.next, f, size, f, nil, false, kernel.Product[float64]{A: step, RowStride: 1, ColStride: size, B: v.y, BStride: f, K: size}, kernel.Product[float64]{})
		v.y, v.next = v.next, v.y
	}
	copy(g, v.out)
}
