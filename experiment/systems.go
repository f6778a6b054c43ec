package experiment

import (
	"fmt"

	"pihc/grid"
	"pihc/pde"
)

// systems are a problem's systems by the points of their grids, each made once. They are used by one caller at a time.
type systems map[string]*pde.System

func (s *systems) on(p *pde.Problem, g *grid.Grid) (*pde.System, error) {
	if *s == nil {
		*s = systems{}
	}
	key := fmt.Sprint(g.Shape())
	if sys, ok := (*s)[key]; ok {
		return sys, nil
	}
	sys, err := p.Discretize(g)
	if err == nil {
		(*s)[key] = sys
	}
	return sys, err
}
