package xla

import (
	"slices"

	"pihc/grid"
)

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

// along continues slices (slices points, F), so many of each unknown, to mirrored ones along every axis that has parities, or takes what
// the grid has of mirrored ones (back); or applies the transposes of these.
func (p *propagator) along(f value, counts []int, back, transposed bool) value {
	var parts []value
	total, begin := 0, 0
	for _, n := range counts {
		total += n
	}
	points := f.shape[0] / total
	for c, n := range counts {
		part := p.slice(f, 0, begin*points, (begin+n)*points)
		begin += n
		for axis, ends := range p.Parities[c] {
			if ends[0] == grid.Unbounded {
				continue
			}
			nodes, mirrored := p.Grid.Axes[1+axis].Points, p.Shape[axis]
			matrix := grid.Continuation(nodes, mirrored, ends)
			rows, columns := mirrored, nodes
			if back {
				own := matrix
				matrix, rows, columns = make([]float64, nodes*mirrored), nodes, mirrored
				for i := range nodes {
					matrix[i*mirrored+i] = own[i*nodes+i] // 1, or 0 where odd
				}
			}
			spec, from, to := "ij,ojw->oiw", columns, rows
			if transposed {
				spec, from, to = "ji,ojw->oiw", rows, columns
			}
			inner := f.shape[1]
			for later := axis + 1; later < len(p.Shape); later++ {
				if back == transposed { // later axes are still of the grid
					inner *= p.Grid.Axes[1+later].Points
				} else {
					inner *= p.Shape[later]
				}
			}
			size := part.shape[0] * f.shape[1]
			part = p.dot(spec, p.numbers(matrix, f64, rows, columns), p.reshape(part, size/(from*inner), from, inner))
			part = p.reshape(part, size/from*to/f.shape[1], f.shape[1])
		}
		parts = append(parts, part)
	}
	return p.concatenate(0, parts...)
}

// each are so many slices of each unknown.
func (p *propagator) each(n int) []int { return slices.Repeat([]int{n}, p.Unknowns) }

// forward is the half spectra (Modes, slices, 2, F) of so many slices of each unknown in fields (slices P/times, F); transposed it is the
// inverse's transpose, up to the number of points.
func (p *propagator) forward(f value, counts []int, transposed bool) value {
	f = p.along(f, counts, transposed, transposed)
	functions, n := f.shape[1], 0
	for _, of := range counts {
		n += of
	}
	lines := p.reshape(p.transpose(f, 1, 0), append([]int{functions, n}, p.Shape...)...)
	half := p.half(functions, n)
	hat := p.call(half, c128, "stablehlo.fft %s, type = RFFT, length = "+list(p.Shape), lines)
	var parts []value
	for _, part := range []string{"real", "imag"} {
		parts = append(parts, p.reshape(p.call(half, f64, "stablehlo."+part+" %s", hat), functions, n, p.Modes))
	}
	return p.transpose(p.stack(2, parts...), 3, 1, 2, 0)
}

// inverse is the inverse of forward, of all times.
func (p *propagator) inverse(f value, transposed bool) value {
	n, functions := f.shape[1], f.shape[3]
	parts, half := p.transpose(f, 3, 1, 2, 0), p.half(functions, n)
	re, im := p.reshape(p.at(parts, 2, 0), half...), p.reshape(p.at(parts, 2, 1), half...)
	hat := p.complex(re, im)
	lines := p.call(append([]int{functions, n}, p.Shape...), f64, "stablehlo.fft %s, type = IRFFT, length = "+list(p.Shape), hat)
	points := n
	for _, m := range p.Shape {
		points *= m
	}
	return p.along(p.transpose(p.reshape(lines, functions, points), 1, 0), p.each(p.Times), !transposed, transposed)
}

func (p *propagator) half(functions, n int) []int {
	last := len(p.Shape) - 1
	return append(append([]int{functions, n}, p.Shape[:last]...), p.Shape[last]/2+1)
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
	b := p.inTime(p.forward(f, p.each(p.Times), false))
	y := p.full(0, f64, p.Modes, 2*p.State, f.shape[1])
	return p.march(y, b)
}

// begin solves without b from y (State, SliceSize): a field (C P, 1).
func (p *propagator) begin(y value) value {
	var orders []int
	for c, first := range p.First {
		orders = append(orders, p.End(c)-first)
	}
	hat := p.forward(p.reshape(y, p.State*p.width(), 1), orders, false)
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
	return p.inverse(p.outOfTime(out), false)
}

// transposed is the transpose of propagate.
func (p *propagator) transposed(f value) value {
	functions := f.shape[1]
	g := p.inTime(p.forward(f, p.each(p.Times), true))
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
	return p.inverse(p.outOfTime(out), true)
}
