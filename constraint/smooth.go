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

// removeWeightedMeans removes from the functions of the network in a basis (C, P, stored) the means over slices that have weights, at own points.
func removeWeightedMeans[D compute.Float](s *Workspace, basis []D) {
	n, size, width, own := s.c.stored, s.c.System.Grid.Size(), s.c.System.SliceSize(), s.c.Functions-s.c.Options.Directions
	lo, hi := s.c.System.Slab.Own(s.c.System.Grid.Axes[0].Points)
	for unknown := range s.c.System.Problem.Unknowns {
		w := s.c.System.MeanWeights(unknown)
		if w == nil {
			continue
		}
		s.c.pool.Run(hi-lo, func(_, i int) {
			slice := basis[(unknown*size+(lo+i)*width)*n:][:width*n]
			for first := 0; first < n; first += s.c.Functions {
				mean := make([]float64, own)
				for p, weight := range w {
					for j, v := range slice[p*n+first:][:own] {
						mean[j] += weight * float64(v)
					}
				}
				for p := range w {
					row := slice[p*n+first:][:own]
					for j, v := range row {
						row[j] = D(float64(v) - mean[j])
					}
				}
			}
		})
	}
}

// removeWeightedMeansTransposed applies the transpose of removeWeightedMeans to a field (C, P), P those of some slices.
func removeWeightedMeansTransposed(c *Constraint, field []float64) {
	size, width := len(field)/len(c.System.Problem.Unknowns), c.System.SliceSize()
	for unknown := range c.System.Problem.Unknowns {
		w := c.System.MeanWeights(unknown)
		for lo := unknown * size; w != nil && lo < (unknown+1)*size; lo += width {
			sum := 0.0
			for _, v := range field[lo : lo+width] {
				sum += v
			}
			kernel.Axpy64(field[lo:lo+width], -sum, w)
		}
	}
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
