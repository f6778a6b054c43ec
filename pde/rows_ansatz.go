package pde

import (
	"slices"

	"pihc/expr"
	"pihc/grid"
)

// RowsAnsatz is the ansatz of every unknown whose fields are solutions of the linear part of the rows (LinearRows), with the conditions that they meet; ok is
// false where conditions do not give what every unknown begins with.
func (p *Problem) RowsAnsatz() (all []Ansatz, met []string, ok bool) {
	a := Ansatz{Offset: expr.Const(0), Multiplier: expr.Const(1), Duhamel: true, ByRows: true}
	if p.rowsDomain() != nil {
		return nil, nil, false
	}
	if p.Steady {
		all = slices.Repeat([]Ansatz{a}, len(p.Unknowns))
	} else if all, met, ok = p.beginAnsatz(a); !ok {
		return nil, nil, false
	}
	for c := range p.Unknowns {
		met = append(met, p.rowsMet(c)...)
	}
	return all, met, true
}

// rowsMet are the linear conditions at walls, without derivatives in time, whose first unknown is this one: fields of the linear part meet them.
func (p *Problem) rowsMet(unknown int) (names []string) {
	for _, c := range p.Conditions {
		moves := !p.Steady && (c.At[p.Axes[0].Name] != "" || slices.ContainsFunc(p.Terms, func(t Term) bool {
			rate, _ := t.inTime(p.Axes[0].Name)
			return rate > 0 && c.Expr.DependsOn(t.Name)
		}))
		if of := p.unknownsOf(c.Expr); !moves && len(of) > 0 && slices.Min(of) == unknown && p.Affine(c.Expr) {
			names = append(names, c.Name)
		}
	}
	return names
}

// valueNames are those of unknowns and terms.
func (p *Problem) valueNames() []string {
	names := p.UnknownNames()
	for _, t := range p.Terms {
		names = append(names, t.Name)
	}
	return names
}

// Affine reports whether an expression is affine in unknowns and their terms, by factors that may be inputs.
func (p *Problem) Affine(e *expr.Expr) bool {
	names := p.valueNames()
	return !e.Jumps(names) && !slices.ContainsFunc(names, func(name string) bool { return slices.ContainsFunc(names, e.Diff(name).DependsOn) })
}

// RowsChange reports whether what multiplies unknowns and terms in rows changes in time.
func (p *Problem) RowsChange() bool {
	if p.Steady {
		return false
	}
	names := p.valueNames()
	return slices.ContainsFunc(p.AllRows(), func(r Rows) bool {
		return slices.ContainsFunc(names, func(name string) bool { return r.Expr.Diff(name).DependsOn(p.Axes[0].Name) })
	})
}

// AllLinear reports whether all rows are affine in unknowns and their terms.
func (p *Problem) AllLinear() bool {
	for _, r := range slices.Concat(p.Residuals, p.Conditions) {
		if !p.Affine(r.Expr) {
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
				if _, ok := p.given(c, *r, 1+i, r.At[a.Name] == "high", 0); !ok || a.Boundary != grid.Nodes {
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
