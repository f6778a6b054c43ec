package pde

import (
	"slices"

	"pihc/expr"
)

// RowsAnsatz is the ansatz of every unknown whose fields are solutions of the linear part of the rows (LinearRows), with the conditions that they meet; ok is
// false where conditions do not give what every unknown begins with.
func (p *Problem) RowsAnsatz() (all []Ansatz, met []string, ok bool) {
	a := Ansatz{Offset: expr.Const(0), Multiplier: expr.Const(1), Duhamel: true, ByRows: true}
	if p.rowsDomain() != nil {
		return nil, nil, false
	}
	if p.Steady {
		for c := range p.Unknowns {
			all, met = append(all, a), append(met, p.steadyMet(c)...)
		}
		return all, met, true
	}
	all, met, ok = p.beginAnsatz(a)
	for c := range p.Unknowns {
		met = append(met, p.steppedMet(c)...)
	}
	return all, met, ok
}

// steppedMet are the conditions at walls that values there follow from: those that are linear in one unknown and have no derivative in time.
func (p *Problem) steppedMet(unknown int) (names []string) {
	if p.Steady {
		return p.steadyMet(unknown)
	}
	time := p.Axes[0].Name
	for _, c := range p.Conditions {
		if c.At[time] != "" || !slices.Equal(p.unknownsOf(c.Expr), []int{unknown}) {
			continue
		}
		moves := slices.ContainsFunc(p.Terms, func(t Term) bool {
			rate, _ := t.inTime(time)
			return rate > 0 && c.Expr.DependsOn(t.Name)
		})
		if !moves && p.linearIn(c.Expr) {
			names = append(names, c.Name)
		}
	}
	return names
}

// linearIn reports whether an expression is affine in unknowns and their terms, by factors that may be inputs.
func (p *Problem) linearIn(e *expr.Expr) bool {
	names := p.UnknownNames()
	for _, t := range p.Terms {
		names = append(names, t.Name)
	}
	return !e.Jumps(names) && !slices.ContainsFunc(names, func(name string) bool { return slices.ContainsFunc(names, e.Diff(name).DependsOn) })
}

// AllLinear reports whether all rows are affine in unknowns and their terms.
func (p *Problem) AllLinear() bool {
	for _, r := range slices.Concat(p.Residuals, p.Conditions) {
		if !p.linearIn(r.Expr) {
			return false
		}
	}
	return true
}

// held are the points (C, SliceSize) of walls where a condition gives the value of an unknown.
func (s *System) held() []bool {
	p, n := s.Problem, s.SliceSize()
	out := make([]bool, len(p.Unknowns)*n)
	for _, set := range s.Sets[len(p.Residuals):] {
		r := p.rowsOf(set.Name)
		for i, a := range p.Axes[1:] {
			for c := range p.Unknowns {
				if _, ok := p.given(c, *r, 1+i, r.At[a.Name] == "high", 0); !ok {
					continue
				}
				for _, point := range set.Points {
					out[c*n+int(point)%n] = true
				}
			}
		}
	}
	return out
}
