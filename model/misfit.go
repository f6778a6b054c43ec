package model

import (
	"slices"

	"pihc/expr"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/discrete"
	"pihc/pde"
)

const (
	// leastMisfit is one below which nothing jumps.
	leastMisfit = 0.01
	// fallingMisfit is what half the steps leave of what a difference of first order misses, and no more.
	fallingMisfit = 0.6
	// mostMisfitPoints bounds the finest grid of a misfit.
	mostMisfitPoints = 1 << 18
)

// Misfit returns how far initial conditions, kept for all times, miss the conditions at the ends of axes of space, as these
// are at the first time, as a fraction of their size: all, and those without derivatives, which fields jump to. What differences miss
// there of derivatives falls with the steps of space, which are halved while that is so.
func Misfit(p *pde.Problem) (all, values float64, err error) {
	q, first := *p, p.Axes[0]
	q.Conditions = slices.Clone(p.Conditions)
	for i := range q.Conditions {
		if c := &q.Conditions[i]; !p.Steady && c.Expr.DependsOn(first.Name) {
			c.Expr = c.Expr.Substitute(map[string]*expr.Expr{first.Name: expr.Const(first.Lo)})
		}
	}
	s := defaultSpec(fittedDefaults)
	f, err := newFitting(&s, &q)
	if err != nil {
		return 0, 0, err
	}
	all, values = f.misfit/f.scales[0], f.miss/f.scales[0]
	for !p.Steady && all > leastMisfit {
		s.Grid = f.grid.PointsByName()
		for _, a := range f.grid.Axes[1:] {
			if s.Grid[a.Name] *= 2; a.Boundary == grid.Nodes {
				s.Grid[a.Name]--
			}
		}
		if g, err := q.Grid(s.Grid); err != nil || g.Size() > mostMisfitPoints {
			break
		}
		if f, err = newFitting(&s, &q); err != nil {
			return 0, 0, err
		}
		finer := f.misfit / f.scales[0]
		if !(finer < fallingMisfit*all) {
			break
		}
		all, values = finer, f.miss/f.scales[0]
	}
	return all, values, nil
}

// ofNoBeginning reports whether a condition is one of unknowns alone that no equation has a derivative of in time, and no condition a beginning: as a
// pressure, they are at every time what others and the walls make of them, and jump to nothing.
func ofNoBeginning(p *pde.Problem, name string) bool {
	i := slices.IndexFunc(p.Conditions, func(c pde.Rows) bool { return c.Name == name })
	if p.Steady || i < 0 {
		return false
	}
	for c, order := range discrete.TimeOrders(p) {
		begins := order > 0 || slices.ContainsFunc(p.Conditions, func(r pde.Rows) bool { return dataset.AtFirstAxis(p, r.Name) && p.Concerns(r, c) })
		if begins && p.Concerns(p.Conditions[i], c) {
			return false
		}
	}
	return true
}
