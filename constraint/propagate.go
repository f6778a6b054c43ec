package constraint

import (
	"math"

	"pihc/compute"
	"pihc/grid"
)

// propagated is how many functions are propagated at once: a vector of them.
const propagated = grid.Stepped

// propagates reports whether the ansatz is by Duhamel's formula.
func (c *Constraint) propagates() bool { return c.System.Problem.Unknowns[0].Ansatz.Duhamel }

// solveLinear solves the linear part for groups of functions, or applies the transpose of that.
func (s *Workspace) solveLinear(transposed bool, groups int, of func(group int) (load, store grid.Slices)) {
	if s.propagation != nil {
		for i := range groups {
			load, store := of(i)
			s.propagation.Apply(transposed, load, store)
		}
		return
	}
	s.c.pool.Run(groups, func(worker, i int) {
		load, store := of(i)
		s.linearSolver.Apply(s.workers[worker].stepping(s.linearSolver), transposed, load, store)
	})
}

// stepping is a worker's memory for a solver.
func (w *worker) stepping(s grid.LinearSolver) *grid.Stepping {
	if w.steps == nil {
		w.steps = s.NewStepping()
	}
	return w.steps
}

// linearise finds the linear part of the rows for a sample; false where that is not finite, or cannot be solved: then fields are not a number.
func (s *Workspace) linearise(sample []float64) bool {
	if s.linear == nil {
		return true
	}
	var err error
	if s.linearSolver, err = s.linear.For(sample); err != nil {
		s.linearSolver = nil
	}
	return err == nil
}

// propagate replaces the functions of the network in a basis (C, P, stored) by the solutions of the linear part for them.
func propagate[D compute.Float](s *Workspace, basis []D) {
	n, size, width := s.c.stored, s.c.System.Grid.Size(), s.c.System.SliceSize()
	each := s.c.Functions - s.c.Options.Directions
	groups := (each + propagated - 1) / propagated // of each field's own functions
	s.solveLinear(false, n/s.c.Functions*groups, func(group int) (load, store grid.Slices) {
		first := group / groups * s.c.Functions
		lo := first + group%groups*propagated
		hi := min(lo+propagated, first+each)
		load = func(unknown, time int, values []float64) {
			from := basis[(unknown*size+time*width)*n:]
			for p := range width {
				for j, v := range from[p*n+lo : p*n+hi] {
					values[p*propagated+j] = float64(v)
				}
			}
		}
		store = func(unknown, time int, values []float64) {
			to := basis[(unknown*size+time*width)*n:]
			for p := range width {
				for j := range hi - lo {
					to[p*n+lo+j] = D(values[p*propagated+j])
				}
			}
		}
		return load, store
	})
}

// propagateTransposed applies the transpose of propagate to the adjoint fields.
func (s *Workspace) propagateTransposed() {
	size, width := s.c.System.Grid.Size(), s.c.System.SliceSize()
	s.solveLinear(true, (len(s.adjointFields)+propagated-1)/propagated, func(group int) (load, store grid.Slices) {
		fields := s.adjointFields[group*propagated : min((group+1)*propagated, len(s.adjointFields))]
		load = func(unknown, time int, values []float64) {
			for j, f := range fields {
				for p, v := range f[unknown*size+time*width:][:width] {
					values[p*propagated+j] = v
				}
			}
		}
		store = func(unknown, time int, values []float64) {
			for j, f := range fields {
				to := f[unknown*size+time*width:][:width]
				for p := range to {
					to[p] = values[p*propagated+j]
				}
			}
		}
		return load, store
	})
}

// beginOffset sets the offset to the solution of the linear part that begins with it.
func (s *Workspace) beginOffset(sample []float64) {
	size, width := s.c.System.Grid.Size(), s.c.System.SliceSize()
	s.workers[0].Begin(s.begin, sample)
	store := func(of func(unknown int) []float64) grid.Slices {
		return func(unknown, time int, values []float64) {
			to := s.offset[unknown*size+time*width:][:width]
			for p := range to {
				to[p] = values[p*propagated]
			}
			s.c.System.KeepMean(to, of(unknown), unknown, time)
		}
	}
	if s.propagation != nil {
		s.propagation.Begin(s.begin, store(func(unknown int) []float64 { return s.propagation.Of(s.begin, unknown) }))
		return
	}
	s.linearSolver.Begin(s.workers[0].stepping(s.linearSolver), s.begin, store(func(unknown int) []float64 { return s.linearSolver.Of(s.begin, unknown) }))
}

// lose sets the offset to what is not a number.
func (s *Workspace) lose() {
	for i := range s.offset {
		s.offset[i] = math.NaN()
	}
}
