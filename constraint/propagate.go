package constraint

import "pihc/compute"

// propagated is how many functions are propagated at once: a vector of them.
const propagated = 8

// propagate replaces the functions of the network in a basis (C, P, stored) by the solutions of the linear part for them.
func propagate[D compute.Float](s *Workspace, basis []D) {
	n, size, width := s.c.stored, s.c.System.Grid.Size(), s.c.System.SliceSize()
	for first := 0; first < n; first += s.c.Functions {
		end := first + s.c.Functions - s.c.Options.Directions
		for lo := first; lo < end; lo += propagated {
			hi := min(lo+propagated, end)
			s.propagation.Apply(false, func(unknown, time int, values []float64) {
				from := basis[(unknown*size+time*width)*n:]
				for p := range width {
					for j, v := range from[p*n+lo : p*n+hi] {
						values[p*propagated+j] = float64(v)
					}
				}
			}, func(unknown, time int, values []float64) {
				to := basis[(unknown*size+time*width)*n:]
				for p := range width {
					for j := range hi - lo {
						to[p*n+lo+j] = D(values[p*propagated+j])
					}
				}
			})
		}
	}
}

// propagateTransposed applies the transpose of propagate to the adjoint fields.
func (s *Workspace) propagateTransposed() {
	size, width := s.c.System.Grid.Size(), s.c.System.SliceSize()
	for lo := 0; lo < len(s.adjointFields); lo += propagated {
		fields := s.adjointFields[lo:min(lo+propagated, len(s.adjointFields))]
		s.propagation.Apply(true, func(unknown, time int, values []float64) {
			for j, f := range fields {
				for p, v := range f[unknown*size+time*width:][:width] {
					values[p*propagated+j] = v
				}
			}
		}, func(unknown, time int, values []float64) {
			for j, f := range fields {
				to := f[unknown*size+time*width:][:width]
				for p := range to {
					to[p] = values[p*propagated+j]
				}
			}
		})
	}
}

// beginOffset sets the offset to the solution of the linear part that begins with it.
func (s *Workspace) beginOffset(sample []float64) {
	size, width := s.c.System.Grid.Size(), s.c.System.SliceSize()
	s.workers[0].Begin(s.begin, sample)
	s.propagation.Begin(s.begin, func(unknown, time int, values []float64) {
		to := s.offset[unknown*size+time*width:][:width]
		for p := range to {
			to[p] = values[p*propagated]
		}
		s.c.System.KeepMean(to, s.propagation.Of(s.begin, unknown), unknown, time)
	})
}
