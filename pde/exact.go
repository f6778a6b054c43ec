package pde

import (
	"fmt"
	"slices"

	"pihc/expr"
	"pihc/grid"
)

// ExactAnsatz returns the offset and the multiplier of an ansatz of an unknown whose fields
// meet conditions at the ends of the first axis exactly, whatever the
// basis is, as expressions for a PDE file, and the names of these conditions. With `u - value` at the low end alone the
// multiplier is ξ, the position on the axis as a fraction of its range, or ξ² where
// another condition there, `u_t - rate`, gives the first derivative too; with
// values at both ends it is ξ(1 - ξ). met is empty where the unknown has an ansatz or
// no such condition at the low end.
func (p *Problem) ExactAnsatz(unknown int) (offset, multiplier string, met []string) {
	ansatz := p.Unknowns[unknown].Ansatz
	if !equals(ansatz.Offset, 0) || !equals(ansatz.Multiplier, 1) || p.Axes[0].Boundary == grid.Periodic {
		return "", "", nil
	}
	axis := p.Axes[0]
	var low, high, rate *expr.Expr
	var lowName, highName, rateName string
	for _, c := range p.Conditions {
		end, at := c.At[axis.Name]
		if !at || len(c.At) != 1 || len(c.Skip) > 0 {
			continue
		}
		value, given := p.given(unknown, c.Expr)
		slope, moves := p.rate(unknown, c.Expr)
		switch {
		case given && end == "low" && axis.Boundary == grid.Nodes:
			low, lowName = value, c.Name
		case given && axis.Boundary == grid.Nodes:
			high, highName = value, c.Name
		case end == "low" && moves:
			rate, rateName = slope, c.Name
		}
	}
	if low == nil {
		return "", "", nil
	}
	position := axis.Name
	if axis.Lo != 0 {
		position = fmt.Sprintf("(%s - (%g))", axis.Name, axis.Lo)
	}
	since := position
	if length := axis.Hi - axis.Lo; length != 1 {
		position = fmt.Sprintf("%s/%g", position, length)
	}
	switch {
	case high != nil:
		offset, multiplier = fmt.Sprintf("(%s)*(1 - %s) + (%s)*%s", low, position, high, position), fmt.Sprintf("%s*(1 - %s)", position, position)
		met = []string{lowName, highName}
	case rate != nil:
		offset, multiplier = fmt.Sprintf("%s + (%s)*%s", low, rate, since), fmt.Sprintf("(%s)^2", position)
		met = []string{lowName, rateName}
	default:
		offset, multiplier = low.String(), position
		met = []string{lowName}
	}
	return simplest(offset), simplest(multiplier), met
}

// simplest writes an expression in its shortest form.
func simplest(src string) string {
	e, err := expr.Parse(src)
	if err != nil {
		return src
	}
	return e.Substitute(nil).String()
}

// given returns the value that a condition gives the unknown at the end it holds at, if it says nothing
// else: c·(unknown - value), or that of an edge term which is the last point itself.
func (p *Problem) given(unknown int, e *expr.Expr) (*expr.Expr, bool) {
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
	return p.solved(e, name)
}

// rate returns the first derivative along the first axis that a condition gives the unknown, if it
// says nothing else.
func (p *Problem) rate(unknown int, e *expr.Expr) (*expr.Expr, bool) {
	at := slices.IndexFunc(p.Terms, func(t Term) bool { return e.DependsOn(t.Name) })
	if at < 0 || p.Terms[at].Of != unknown || p.Terms[at].PerStep || len(p.Terms[at].Factors) != 1 || p.Terms[at].Factors[0].Axis != p.Axes[0].Name {
		return nil, false
	}
	f := p.Terms[at].Factors[0]
	if !(f.Edge != nil && f.Edge.Derivative == 1 || f.Edge == nil && f.Scheme.Derivative == 1) {
		return nil, false
	}
	return p.solved(e, p.Terms[at].Name)
}

// solved returns the value that an expression c·(name - value) gives a term or an unknown, if it contains no
// other.
func (p *Problem) solved(e *expr.Expr, name string) (*expr.Expr, bool) {
	if !p.onlyUnknown(e, name) {
		return nil, false
	}
	slope, constant := e.Diff(name).Constant()
	if !constant || slope == 0 {
		return nil, false
	}
	rest := e.Substitute(map[string]*expr.Expr{name: expr.Const(0)})
	return expr.Const(-1 / slope).Times(rest), true
}
