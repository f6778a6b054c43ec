package discrete

import (
	"slices"

	"pihc/grid"
	"pihc/pde"
)

// Differences tells what the differences along time of a problem's rows on a grid do to their solution, where
// all rows of the grid are too many to be minimised at once.
type Differences struct {
	sys    *pde.System
	solver *Solver // with the points of the grid in space
}

// NewDifferences is for solutions of four digits (NewRough), of a problem that is marched (Marches) with so many steps from one time of g
// to the next; that of one solved all at once has its differences along every axis.
func NewDifferences(p *pde.Problem, g *grid.Grid, steps int) (*Differences, error) {
	sys, err := p.Discretize(g)
	if err != nil {
		return nil, err
	}
	refine := slices.Repeat([]int{1}, len(g.Axes))
	if Marches(p) {
		refine[0] = steps
	}
	solver, err := NewRough(p, g, refine)
	return &Differences{sys, solver}, err
}

// Solver is that of the rows with exact derivatives in time.
func (d *Differences) Solver() *Solver { return d.solver }

// Solve sets exact (C, P) to the solution of the rows with exact derivatives in time, and moved to one that differs from it as that
// of the rows themselves does, to first order: by what exact leaves of these as a source (deferred
// correction: H. J. Stetter, Numerische Mathematik 29, 1978).
func (d *Differences) Solve(exact, moved, sample []float64) error {
	if _, err := d.solver.Solve(exact, sample); err != nil {
		return err
	}
	return d.Move(moved, exact, sample)
}

// Move sets moved to the solution of the rows, as Solve does, from exact, that of Solver.
func (d *Differences) Move(moved, exact, sample []float64) error {
	if d.solver.march == nil {
		copy(moved, exact)
		return nil
	}
	sourced := *d.solver
	march := *d.solver.march
	march.source, sourced.march = leftOf(d.sys, exact, sample), &march
	_, err := sourced.Solve(moved, sample)
	return err
}

// source is what is added to the rows of an instant.
type source struct {
	axis grid.Axis
	rows map[sourceKey][][]float64 // by time of the axis: one number for each row; nil where there are none
}

type sourceKey struct {
	kind pde.Kind
	name string
}

// add adds the source to the rows of a set on slices of the given times: between two times of the axis what is linear, where
// there is none that of the nearest.
func (s *source) add(rows []float64, set *pde.RowSet, times []float64) {
	all := s.rows[sourceKey{set.Kind, set.Name}]
	first := slices.IndexFunc(all, func(r []float64) bool { return r != nil })
	if first < 0 {
		return
	}
	last := first
	for last+1 < len(all) && all[last+1] != nil {
		last++
	}
	n := len(all[first])
	for i, t := range times[:len(rows)/n] { // rows of the first time are on the first of several slices
		x := min(max((t-s.axis.Lo)/s.axis.Step(), float64(first)), float64(last))
		k := min(int(x), max(first, last-1))
		part := x - float64(k)
		for j := range rows[i*n : (i+1)*n] {
			v := (1 - part) * all[k][j]
			if part > 0 {
				v += part * all[k+1][j]
			}
			rows[i*n+j] += v
		}
	}
}
