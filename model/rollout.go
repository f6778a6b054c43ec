package model

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"pihc/grid"
	"pihc/internal/discrete"
	"pihc/internal/words"
	"pihc/pde"
)

const (
	// leastTimes is the least number of times of a segment: fewer leave no rows between those of its ends.
	leastTimes = 9
	// beyondEnd is how many steps past its end a segment of second order in time is solved: the derivative in time that is handed
	// over is a central difference of order 2·beyondEnd there.
	beyondEnd = 2
)

// Segments is the number of segments that the time is divided into, one after another (rollout).
func (s *Spec) Segments() int { return max(1, s.Rollout) }

// Segment returns the spec and the problem (pde.Problem.Segment) of one segment of a spec with several: what
// the network, the solves and the loss are of. The error says why there are none.
func (s *Spec) Segment(p *pde.Problem) (*Spec, *pde.Problem, error) {
	at := fmt.Sprintf("rollout: %d: problem %s", s.Rollout, p.Name)
	switch {
	case p.Steady:
		return nil, nil, words.WithHint(fmt.Errorf("%s has time: none", at), "leave rollout out")
	case !discrete.Marches(p):
		return nil, nil, words.WithHint(fmt.Errorf("%s does not move on along %s, from what it begins with", at, p.Axes[0].Name),
			"want nodes along it, a derivative of order 1 or 2 along it in a residual, and no condition at its high end; or leave rollout out")
	case len(s.Training.Window) > 0:
		return nil, nil, words.WithHint(errors.New("rollout: with training.window: every segment is trained"), "leave one of them out")
	case s.Loss.Data != 0 && secondOrder(p):
		return nil, nil, words.WithHint(errors.New("rollout: with loss.data: segments of second order in time are solved past their end, where there is no solution"), "leave one of them out")
	}
	orders := discrete.TimeOrders(p)
	q, err := p.Segment(s.Rollout, orders)
	if err != nil {
		return nil, nil, words.WithHint(fmt.Errorf("%s: %w", at, err), "leave rollout out, or state it otherwise")
	}
	out, first := *s, p.Axes[0]
	out.Rollout = 0
	for i, in := range q.Inputs {
		for _, u := range q.Unknowns {
			if in.Name == u.RateName() { // of a size in a segment
				q.Inputs[i].Sampler.Scale = s.Network.ScaleOf(u.Name) * float64(s.Rollout) / (first.Hi - first.Lo)
			}
		}
	}
	part := func(points map[string]int) map[string]int {
		points = maps.Clone(points)
		if n, ok := points[first.Name]; ok {
			points[first.Name] = (n-1)/s.Rollout + 1
		}
		return points
	}
	out.Grid = part(s.Grid)
	if _, ok := s.Grid[first.Name]; !ok {
		out.Grid = part(s.pointsWith(map[string]int{first.Name: first.Points}))
	}
	out.Training.Stages = slices.Clone(s.Training.Stages)
	for i := range out.Training.Stages {
		out.Training.Stages[i].Grid = part(out.Training.Stages[i].Grid)
	}
	return &out, q, nil
}

// FittingSegments is how many segments `pihc init` divides the time of a problem into: four, or the nearest number that divides the
// steps of the grid; one where the network runs once, where an unknown of second order in time has a basis that is not integrated
// along it, and where segments would have too few times or cannot be (docs/evidence/choices.md has the measurements).
func (s *Spec) FittingSegments(p *pde.Problem) int {
	if s.Network.Passes < 2 || p.Steady || !discrete.Marches(p) {
		return 1
	}
	for c, order := range discrete.TimeOrders(p) {
		if a := p.Unknowns[c].Ansatz; order == 2 && a.Smooth[p.Axes[0].Name] == 0 && !a.Duhamel {
			return 1
		}
	}
	return s.dividing(p)
}

// dividing is the number of segments that the grid of a problem is divided into.
func (s *Spec) dividing(p *pde.Problem) int {
	g, err := p.Grid(s.Grid)
	if err != nil {
		return 1
	}
	on := *s
	for _, n := range []int{4, 5, 3, 2} {
		on.Rollout = n
		if _, _, _, err := on.SegmentOn(p, g); err == nil {
			return n
		}
	}
	return 1
}

// SegmentOn is Segment with the part of a grid of the problem that a segment is solved on; of a spec with one segment, what it is given.
func (s *Spec) SegmentOn(p *pde.Problem, g *grid.Grid) (*Spec, *pde.Problem, *grid.Grid, error) {
	if s.Rollout <= 1 {
		return s, p, g, nil
	}
	of, q, err := s.Segment(p)
	if err != nil {
		return nil, nil, nil, err
	}
	part, err := s.SegmentGrid(p, g)
	return of, q, part, err
}

// SegmentGrid is the part of a grid that a segment is solved on, all of it where there is one segment.
func (s *Spec) SegmentGrid(p *pde.Problem, g *grid.Grid) (*grid.Grid, error) {
	if s.Rollout > 1 && secondOrder(p) {
		return s.cut(g, beyondEnd)
	}
	return s.cut(g, 0)
}

func secondOrder(p *pde.Problem) bool { return slices.Contains(discrete.TimeOrders(p), 2) }

// cut is the part of a grid that a segment has, and so many times more.
func (s *Spec) cut(g *grid.Grid, beyond int) (*grid.Grid, error) {
	if s.Rollout <= 1 {
		return g, nil
	}
	out := &grid.Grid{Axes: slices.Clone(g.Axes)}
	axis := &out.Axes[0]
	steps := (axis.Points - 1) / s.Rollout
	if (axis.Points-1)%s.Rollout != 0 || steps+1 < leastTimes {
		return nil, words.WithHint(fmt.Errorf("rollout: %d: the %d points of axis %s do not divide into so many segments of %d times or more", s.Rollout, axis.Points, axis.Name, leastTimes),
			"want one more than a multiple of %d, %d at least", s.Rollout, (leastTimes-1)*s.Rollout+1)
	}
	steps += beyond
	axis.Hi, axis.Points = axis.Lo+float64(steps)*axis.Step(), steps+1
	return out, nil
}
