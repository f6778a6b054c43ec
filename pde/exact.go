package pde

import (
	"fmt"
	"slices"

	"pihc/grid"
)

// ExactAnsatz returns the offset and the multiplier of an ansatz of an unknown whose fields
// meet the conditions `u - value` at the ends of the first axis exactly, whatever the
// basis is, as expressions for a PDE file. With a value at the low end alone the
// multiplier is ξ, the position on the axis as a fraction of its range, or ξ² where
// another condition there asks for no more than a first derivative of zero; with
// values at both ends it is ξ(1 - ξ). ok is false where the unknown has an ansatz or
// no such condition at the low end.
func (p *Problem) ExactAnsatz(unknown int) (offset, multiplier string, ok bool) {
	zero, noOffset := p.Unknowns[unknown].Ansatz.Offset.Constant()
	one, noMultiplier := p.Unknowns[unknown].Ansatz.Multiplier.Constant()
	if !noOffset || zero != 0 || !noMultiplier || one != 1 || p.Axes[0].Boundary == grid.Periodic {
		return "", "", false
	}
	axis := p.Axes[0]
	var low, high *Expr
	still := false
	for _, c := range p.Conditions {
		end, at := c.At[axis.Name]
		if !at || len(c.At) != 1 || len(c.Skip) > 0 {
			continue
		}
		switch value, given := p.given(unknown, c.Expr); {
		case given && end == "low" && axis.Boundary == grid.Nodes:
			low = value
		case given && axis.Boundary == grid.Nodes:
			high = value
		case end == "low":
			still = still || p.still(unknown, c.Expr)
		}
	}
	if low == nil {
		return "", "", false
	}
	position := axis.Name
	if axis.Lo != 0 {
		position = fmt.Sprintf("(%s - (%g))", axis.Name, axis.Lo)
	}
	if length := axis.Hi - axis.Lo; length != 1 {
		position = fmt.Sprintf("%s/%g", position, length)
	}
	switch {
	case high != nil:
		offset, multiplier = fmt.Sprintf("(%s)*(1 - %s) + (%s)*%s", low, position, high, position), fmt.Sprintf("%s*(1 - %s)", position, position)
	case still:
		offset, multiplier = low.String(), fmt.Sprintf("(%s)^2", position)
	default:
		offset, multiplier = low.String(), position
	}
	return simplest(offset), simplest(multiplier), true
}

// simplest writes an expression in its shortest form.
func simplest(src string) string {
	e, err := Parse(src)
	if err != nil {
		return src
	}
	return e.Substitute(nil).String()
}

// given returns the value that a condition gives the unknown, if it says nothing
// else: c·(unknown - value), or that of an edge term which is the last point itself.
func (p *Problem) given(unknown int, e *Expr) (*Expr, bool) {
	own := p.Unknowns[unknown].Name
	name := own
	for _, t := range p.Terms {
		if e.DependsOn(t.Name) {
			if t.Of != unknown || len(t.Factors) != 1 || t.Factors[0].Edge == nil || t.Factors[0].Edge.Derivative > 0 || t.Factors[0].Edge.At != grid.Inner || name != own {
				return nil, false
			}
			name = t.Name
		}
	}
	for _, u := range p.Unknowns {
		if name != u.Name && e.DependsOn(u.Name) {
			return nil, false
		}
	}
	slope, constant := e.Diff(name).Constant()
	if !constant || slope == 0 {
		return nil, false
	}
	rest := e.Substitute(map[string]*Expr{name: Const(0)})
	return simplify(opMul, Const(-1/slope), rest), true
}

// still reports whether a condition asks for a first derivative of zero and nothing
// else.
func (p *Problem) still(unknown int, e *Expr) bool {
	vars := e.Variables()
	if len(vars) != 1 {
		return false
	}
	at := slices.IndexFunc(p.Terms, func(t Term) bool { return t.Name == vars[0] })
	if at < 0 || p.Terms[at].Of != unknown || len(p.Terms[at].Factors) != 1 || p.Terms[at].Factors[0].Axis != p.Axes[0].Name {
		return false
	}
	f := p.Terms[at].Factors[0]
	zero, constant := e.Substitute(map[string]*Expr{vars[0]: Const(0)}).Constant()
	return constant && zero == 0 && (f.Edge != nil && f.Edge.Derivative == 1 || f.Edge == nil && f.Scheme.Derivative == 1)
}
