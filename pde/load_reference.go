package pde

import (
	"pihc/grid"
	"pihc/internal/config"
)

func (l *loader) reference(p *Problem) {
	f := l.file.Reference
	p.Reference = Reference{Solver: f.Solver, Constants: map[string]float64{}, File: f.File}
	for name, v := range f.Constants.All() {
		p.Reference.Constants[name] = l.number(v, name)
	}
	l.refinement(p)
	if f.File != "" {
		if f.Solver != "" || f.Constants.Len() > 0 || f.Points.Len() > 0 || f.Refine.Len() > 0 {
			l.report(f.Pos.Errorf("reference: file holds the solutions: no solver, constants, points or refine beside it"))
		}
		p.Reference.Solver = fileSolver
	} else if f.Solver == fileSolver {
		l.report(f.Pos.Errorf("reference: solver: file: want the file itself").WithHint("file: solutions.npz"))
	}
	p.Reference.Points = l.perAxis(p, "reference points", f.Points, func(e config.Entry[int], a int) *config.Mistake {
		switch {
		case a == 0 || p.Axes[a].Boundary != grid.Periodic:
			return e.KeyPos.Errorf("reference points: axis %s is not a periodic axis of space: solutions on a finer grid can be thinned out on those alone", e.Key)
		case e.Value < 1 || e.Value > 1<<14:
			return e.Pos.Errorf("reference points: axis %s: %d: want 1 to %d", e.Key, e.Value, 1<<14)
		}
		return nil
	})
}

// refinement reads what belongs to the solver by the file's own rows.
func (l *loader) refinement(p *Problem) {
	f := l.file.Reference
	if f.Solver != DiscreteSolver {
		if f.Refine.Len() > 0 {
			l.report(f.Pos.Errorf("reference: refine belongs to solver: %s", DiscreteSolver))
		}
		return
	}
	if f.Constants.Len() > 0 || f.Points.Len() > 0 {
		l.report(f.Pos.Errorf("reference: solver %s has no constants or points", DiscreteSolver).WithHint("refine: {%s: 4} sets how much finer than the spec's its grid is", p.AxisNames()[len(p.Axes)-1]))
	}
	p.Reference.Refine = l.perAxis(p, "reference refine", f.Refine, func(e config.Entry[int], a int) *config.Mistake {
		switch {
		case e.Value < 1 || e.Value > 64:
			return e.Pos.Errorf("reference refine: axis %s: %d: want 1 to 64", e.Key, e.Value)
		case p.Axes[a].Boundary == grid.Cells && e.Value%2 == 0:
			return e.Pos.Errorf("reference refine: axis %s: %d: centres of cells meet for odd factors alone", e.Key, e.Value)
		}
		return nil
	})
}

// perAxis reads numbers by axis, of which check reports the wrong ones.
func (l *loader) perAxis(p *Problem, what string, from config.Map[int], check func(e config.Entry[int], a int) *config.Mistake) (to map[string]int) {
	for _, e := range from.Entries() {
		a := l.axis(p, what, e.Key, e.KeyPos)
		if a < 0 {
			continue
		}
		if problem := check(e, a); problem != nil {
			l.report(problem)
			continue
		}
		if to == nil {
			to = map[string]int{}
		}
		to[e.Key] = e.Value
	}
	return to
}
