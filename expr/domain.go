package expr

import "math"

// Undefined returns the innermost part of e that is not finite at the values given
// although its arguments are, nil if e is finite. Of a where only the branch that is
// selected counts.
func (e *Expr) Undefined(at map[string]float64) *Expr {
	return e.undefined(at, make(map[*Expr]float64), make(map[*Expr]bool))
}

// undefined is Undefined with the values so far, and what is known to be finite.
func (e *Expr) undefined(at map[string]float64, values map[*Expr]float64, finite map[*Expr]bool) *Expr {
	if finite[e] {
		return nil
	}
	args := e.args
	if e.op == opWhere {
		if bad := e.args[0].undefined(at, values, finite); bad != nil {
			return bad
		}
		args = e.args[2:]
		if e.args[0].value(at, values) != 0 {
			args = e.args[1:2]
		}
	}
	for _, a := range args {
		if bad := a.undefined(at, values, finite); bad != nil {
			return bad
		}
	}
	if v := e.value(at, values); math.IsNaN(v) || math.IsInf(v, 0) {
		return e
	}
	finite[e] = true
	return nil
}
