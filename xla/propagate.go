package xla

import "pihc/grid"

// propagator writes the solutions of the linear part (grid.Propagator), all Fourier modes and functions at once, one time after another.
type propagator struct {
	*sample
	*grid.Propagator
	steps, weights value // (Modes, State 2, State 2), (Modes, Nodes-1, State 2, Nodes Unknowns 2)
}

func (s *sample) newPropagator() *propagator {
	p := s.constraint.Propagator
	size, columns := 2*p.State, 2*p.Nodes*p.Unknowns
	return &propagator{s, p, s.numbers(p.Steps, f64, p.Modes, size, size), s.numbers(p.Weights, f64, p.Modes, p.Nodes-1, size, columns)}
}

// forward is the half spectra (Modes, n, 2, F) of n slices of fields (n P/times, F).
func (p *propagator) forward(f value) value {
	space, functions := p.Grid.Shape()[1:], f.shape[1]
	n := f.shape[0] / p.width()
	lines := p.reshape(p.transpose(f, 1, 0), append([]int{functions, n}, space...)...)
	half := p.half(functions, n)
	hat := p.call(half, c128, "stablehlo.fft %s, type = RFFT, length = "+list(space), lines)
	var parts []value
	for _, part := range []string{"real", "imag"} {
		parts = append(parts, p.reshape(p.call(half, f64, "stablehlo."+part+" %s", hat), functions, n, p.Modes))
	}
	return p.transpose(p.stack(2, parts...), 3, 1, 2, 0)
}

// inverse is its inverse.
func (p *propagator) inverse(f value) value {
	space, n, functions := p.Grid.Shape()[1:], f.shape[1], f.shape[3]
	parts, half := p.transpose(f, 3, 1, 2, 0), p.half(functions, n)
	re, im := p.reshape(p.at(parts, 2, 0), half...), p.reshape(p.at(parts, 2, 1), half...)
	hat := p.emit(half, c128, "stablehlo.complex %s, %s : %s", re.name, im.name, value{shape: half, dtype: c128}.mlir())
	lines := p.call(append([]int{functions, n}, space...), f64, "stablehlo.fft %s, type = IRFFT, length = "+list(space), hat)
	return p.transpose(p.reshape(lines, functions, n*p.width()), 1, 0)
}

func (p *propagator) half(functions, n int) []int {
	space := p.Grid.Shape()[1:]
	last := len(space) - 1
	return append(append([]int{functions, n}, space[:last]...), space[last]/2+1)
}

// inTime exchanges unknowns and times in spectra (Modes, unknowns times, 2, F), which are afterwards (Modes, times, unknowns 2, F) or were.
func (p *propagator) inTime(f value) value {
	functions := f.shape[3]
	f = p.transpose(p.reshape(f, p.Modes, p.Unknowns, p.Times, 2, functions), 0, 2, 1, 3, 4)
	return p.reshape(f, p.Modes, p.Times, 2*p.Unknowns, functions)
}

func (p *propagator) outOfTime(all []value) value {
	functions := all[0].shape[2]
	f := p.transpose(p.reshape(p.stack(1, all...), p.Modes, p.Times, p.Unknowns, 2, functions), 0, 2, 1, 3, 4)
	return p.reshape(f, p.Modes, p.Unknowns*p.Times, 2, functions)
}

// unknowns are the part (Modes, Unknowns 2, F) of y (Modes, State 2, F).
func (p *propagator) unknowns(y value) value {
	var all []value
	for _, first := range p.First {
		all = append(all, p.slice(y, 1, 2*first, 2*first+2))
	}
	return p.concatenate(1, all...)
}

// propagate solves from zero with fields (C P, F) as b.
func (p *propagator) propagate(f value) value {
	b := p.inTime(p.forward(f))
	y := p.full(0, f64, p.Modes, 2*p.State, f.shape[1])
	return p.march(y, b)
}

// begin solves without b from y (State, SliceSize): a field (C P, 1).
func (p *propagator) begin(y value) value {
	hat := p.forward(p.reshape(y, p.State*p.width(), 1))
	return p.march(p.reshape(hat, p.Modes, 2*p.State, 1), value{})
}

func (p *propagator) march(y, b value) value {
	out := []value{p.unknowns(y)}
	for i := 1; i < p.Times; i++ {
		y = p.dot("kij,kjf->kif", p.steps, y)
		if b.exists() {
			first, place := p.Window(i)
			window := p.reshape(p.slice(b, 1, first, first+p.Nodes), p.Modes, 2*p.Nodes*p.Unknowns, b.shape[3])
			y = p.add(y, p.dot("kij,kjf->kif", p.at(p.weights, 1, place), window))
		}
		out = append(out, p.unknowns(y))
	}
	return p.inverse(p.outOfTime(out))
}

// transposed is the transpose of propagate.
func (p *propagator) transposed(f value) value {
	functions := f.shape[1]
	g := p.inTime(p.forward(f))
	zero := p.full(0, f64, p.Modes, 2*p.Unknowns, functions)
	y := p.full(0, f64, p.Modes, 2*p.State, functions)
	out := make([]value, p.Times)
	for i := range out {
		out[i] = zero
	}
	for i := p.Times - 1; i > 0; i-- {
		given := p.at(g, 1, i)
		var all []value
		for c, first := range p.First { // the other values of y are given nothing
			end := p.State
			if c+1 < p.Unknowns {
				end = p.First[c+1]
			}
			all = append(all, p.slice(given, 1, 2*c, 2*c+2))
			if rest := 2 * (end - first - 1); rest > 0 {
				all = append(all, p.full(0, f64, p.Modes, rest, functions))
			}
		}
		y = p.add(y, p.concatenate(1, all...))
		first, place := p.Window(i)
		window := p.dot("kij,kif->kjf", p.at(p.weights, 1, place), y)
		for j := range p.Nodes {
			out[first+j] = p.add(out[first+j], p.slice(window, 1, 2*j*p.Unknowns, 2*(j+1)*p.Unknowns))
		}
		y = p.dot("kij,kif->kjf", p.steps, y)
	}
	return p.inverse(p.outOfTime(out))
}
