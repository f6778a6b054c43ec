package expr

import "math"

// Undefined returns the innermost part of e that is not finite at the values given
// although its arguments are, nil if e is finite. Of a where only the branch that is
// selected counts.
func (e *Expr) Undefined(at map[string]float64) *Expr {
	args := e.args
	if e.op == opWhere {
		if bad := e.args[0].Undefined(at); bad != nil {
			return bad
		}
		args = e.args[2:]
		if e.args[0].Value(at) != 0 {
			args = e.args[1:2]
		}
	}
	for _, a := range args {
		if bad := a.Undefined(at); bad != nil {
			return bad
		}
	}
	if v := e.Value(at); math.IsNaN(v) || math.IsInf(v, 0) {
		return e
	}
	return nil
}
