package experiment

import (
	"fmt"
	"sync"

	"pihc/grid"
	"pihc/pde"
)

// systems are a problem's systems by their grids, each made once, for any number of callers.
type systems struct {
	mu   sync.Mutex
	made map[string]*pde.System
}

func (s *systems) on(p *pde.Problem, g *grid.Grid) (*pde.System, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := fmt.Sprint(g.Axes)
	if sys, ok := s.made[key]; ok {
		return sys, nil
	}
	sys, err := p.Discretize(g)
	if err != nil {
		return nil, err
	}
	if s.made == nil {
		s.made = map[string]*pde.System{}
	}
	s.made[key] = sys
	return sys, nil
}
