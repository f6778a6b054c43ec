package model

import (
	"fmt"
	"maps"
	"math"

	"pihc/constraint"
	"pihc/grid"
	"pihc/pde"
)

// StageSpec is a part of training on another grid than the spec's. A Fourier neural
// operator does not know its grid: what it learns on a coarse one holds on a finer.
type StageSpec struct {
	Steps  int            `yaml:"steps" config:"required" want:"at least 1"`
	Grid   map[string]int `yaml:"grid,flow" want:"at least 1"`        // axes not named have the spec's points
	Points *int           `yaml:"points,omitempty" want:"at least 0"` // rows per expert, 0: all; nil: as many as the spec has, or the smallest subdomain holds
}

// A Stage is a part of training, on one grid.
type Stage struct {
	Until int        // steps of training done at its end
	Spec  *Spec      // with its grid and points
	Grid  *grid.Grid // within training.window
}

// Stages returns the parts of training in their order; the last is on the spec's own
// grid, and is the only one without training.stages.
func (s *Spec) Stages(p *pde.Problem) ([]Stage, error) {
	base, err := trainingGrid(s, p)
	if err != nil {
		return nil, err
	}
	whole, err := p.Grid(s.Grid)
	if err != nil {
		return nil, err
	}
	router, err := s.NewRouter(p, base)
	if err != nil {
		return nil, err
	}
	fitting := func(g *grid.Grid) (int, error) { return s.FittingPoints(p, whole, g, router) }
	var out []Stage
	done := 0
	for i, x := range s.Training.Stages {
		done += x.Steps
		at := fmt.Sprintf("training.stages.%d", i)
		on := *s
		on.Grid = s.pointsWith(x.Grid)
		g, err := trainingGrid(&on, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		if x.Points != nil {
			on.Constraint.Points = *x.Points
		} else if on.Constraint.Points, err = fitting(g); err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		out = append(out, Stage{done, &on, g})
	}
	last := *s
	if len(s.Training.Window) > 0 {
		if last.Constraint.Points, err = fitting(base); err != nil {
			return nil, err
		}
	}
	return append(out, Stage{s.Training.Steps, &last, base}), nil
}

// pointsWith is the spec's grid with the points of other axes replaced.
func (s *Spec) pointsWith(others map[string]int) map[string]int {
	points := map[string]int{}
	maps.Copy(points, s.Grid)
	maps.Copy(points, others)
	return points
}

// trainingGrid is the grid of a spec, cut off where training.window ends.
func trainingGrid(s *Spec, p *pde.Problem) (*grid.Grid, error) {
	g, err := p.Grid(s.Grid)
	if err != nil {
		return nil, err
	}
	for name, window := range s.Training.Window {
		if p.Steady {
			return nil, fmt.Errorf("training.window.%s: problem %s has time: none", name, p.Name)
		}
		axis := &g.Axes[0]
		if name != axis.Name {
			return nil, fmt.Errorf("training.window.%s: want the first axis of problem %s, %s", name, p.Name, axis.Name)
		}
		if axis.Boundary == grid.Periodic || window[0] != axis.Lo || !(window[1] > axis.Lo && window[1] < axis.Hi) {
			return nil, fmt.Errorf("training.window.%s: [%g, %g]: want from %g to an end below %g, on an axis that is not periodic", name, window[0], window[1], axis.Lo, axis.Hi)
		}
		steps := (window[1] - axis.Lo) / axis.Step()
		n := int(math.Round(steps))
		if math.Abs(steps-float64(n)) > 1e-9*steps {
			return nil, fmt.Errorf("training.window.%s: %g is no border between steps of %g", name, window[1], axis.Step())
		}
		if axis.Boundary == grid.Nodes {
			n++
		}
		axis.Hi, axis.Points = window[1], n
	}
	if _, err := s.SegmentGrid(p, g); err != nil {
		return nil, err
	}
	return g, g.Validate()
}

// WindowEnd is the number of points along the first axis, on g, that lie within
// training.window: all without one.
func (s *Spec) WindowEnd(g *grid.Grid) int {
	axis := g.Axes[0]
	for _, window := range s.Training.Window {
		for n := range axis.Points {
			if axis.Coordinate(n) > window[1]+1e-9*axis.Step() {
				return n
			}
		}
	}
	return axis.Points
}

// FittingPoints returns the points per expert of a spec, or, on a grid coarser than
// base along some axis, as many as the smallest subdomain of router holds there.
func (s *Spec) FittingPoints(p *pde.Problem, base, g *grid.Grid, router constraint.Router) (int, error) {
	points, coarser := s.Constraint.Points, false
	for i, a := range g.Axes {
		coarser = coarser || a.Points < base.Axes[i].Points
	}
	if !coarser || points == 0 || s.Method == Soft {
		return points, nil
	}
	g, err := s.SegmentGrid(p, g)
	if err != nil {
		return 0, err
	}
	sys, err := p.Discretize(g)
	if err != nil {
		return 0, err
	}
	least, err := constraint.LeastRows(sys, router)
	return min(points, least), err
}
