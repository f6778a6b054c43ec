package constraint

import (
	"pihc/compute"
	"pihc/internal/kernel"
	"pihc/pde"
)

// smooth applies S of the ansatz to the functions of the network in a basis (C, P, Functions), at own points.
func smooth[D compute.Float](s *Workspace, basis []D) {
	n := s.c.Functions
	own := n - s.c.Options.Directions
	s.c.eachSmoother(func(unknown int, m pde.Smoother) {
		count, stride, lines := s.c.lines(m.Axis)
		s.c.pool.Run(lines, func(worker, line int) {
			w, first := s.workers[worker], s.c.firstOf(unknown, m.Axis, line)
			if len(w.line) < 2*count*own {
				w.line = make([]float64, 2*count*own)
			}
			in, out := w.line[:count*own], w.line[count*own:][:count*own]
			for i := range count {
				for j, v := range basis[(first+i*stride)*n:][:own] {
					in[i*own+j] = float64(v)
				}
			}
			kernel.Gemm(out, own, count, own, nil, false, kernel.Product[float64]{
				A: m.Matrix, RowStride: count, ColStride: 1, B: in, BStride: own, K: count,
			}, kernel.Product[float64]{})
			for i := range count {
				for j, v := range out[i*own:][:own] {
					basis[(first+i*stride)*n+j] = D(v)
				}
			}
		})
	})
}

// smoothTransposed applies Sᵀ to a field (C, P), P those of some slices: of all where it acts along the first axis.
func smoothTransposed(c *Constraint, field []float64) {
	size := len(field) / len(c.System.Problem.Unknowns)
	c.eachSmoother(func(unknown int, m pde.Smoother) {
		count, stride := c.System.Grid.Axes[m.Axis].Points, c.System.Grid.Strides()[m.Axis]
		sum := make([]float64, count)
		for line := range size / count {
			first := unknown*size + lineStart(line, count, stride)
			clear(sum)
			for i := range count {
				kernel.Axpy64(sum, field[first+i*stride], m.Matrix[i*count:][:count])
			}
			for i, v := range sum {
				field[first+i*stride] = v
			}
		}
	})
}

// eachSmoother visits the parts of S.
func (c *Constraint) eachSmoother(visit func(unknown int, m pde.Smoother)) {
	for unknown, all := range c.Smoothers {
		for _, m := range all {
			visit(unknown, m)
		}
	}
}

// lines returns the points of a line along an axis, their distance in memory, and the number of such lines of an unknown's own points.
func (c *Constraint) lines(axis int) (count, stride, lines int) {
	lo, hi := c.System.OwnPoints()
	count = c.System.Grid.Axes[axis].Points
	return count, c.System.Grid.Strides()[axis], (hi - lo) / count
}

// firstOf is the first point of a line in a field (C, P).
func (c *Constraint) firstOf(unknown, axis, line int) int {
	count, stride, _ := c.lines(axis)
	lo, _ := c.System.OwnPoints()
	return unknown*c.System.Grid.Size() + lo + lineStart(line, count, stride)
}

// lineStart is the first of so many points of a line, a stride apart.
func lineStart(line, count, stride int) int { return line/stride*count*stride + line%stride }
