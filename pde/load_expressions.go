package pde

import (
	"errors"
	"maps"
	"math"
	"slices"

	"pihc/expr"
	"pihc/internal/config"
)

// mathematical defines pi and e, unless the file has the name for something else.
func (l *loader) mathematical(p *Problem) {
	f := l.file
	taken := slices.Concat(f.Axes.Keys(), f.Constants.Keys(), f.Terms.Keys(), f.Expressions.Keys(), f.Inputs.Keys(), p.UnknownNames())
	for _, u := range p.Unknowns {
		taken = append(taken, u.InitialName())
	}
	for name, v := range map[string]float64{"pi": math.Pi, "e": math.E} {
		if !slices.Contains(taken, name) {
			l.values[name] = expr.Const(v)
		}
	}
}

// number evaluates a number or an expression of constants.
func (l *loader) number(s config.Scalar, what string) float64 {
	if v, ok := s.Number(); ok {
		return v
	}
	return l.finite(s, what, l.expression(what, s, nil))
}

// finite is the value of an expression of constants, 0 after an error.
func (l *loader) finite(s config.Scalar, what string, e *expr.Expr) float64 {
	v, ok := e.Constant()
	switch {
	case !ok:
		l.report(s.Pos.Errorf("%s: %q is not a number or an expression of constants", what, s.Text))
	case math.IsNaN(v) || math.IsInf(v, 0):
		l.report(s.Pos.Errorf("%s: %q is not a finite number", what, s.Text))
	default:
		return v
	}
	return 0
}

// constant is a constant's value, and what stands for it: an expression where it is one of constants that are free, with the values given.
func (l *loader) constant(s config.Scalar, what string, free map[string]*expr.Expr) (float64, *expr.Expr) {
	if v, ok := s.Number(); ok {
		return v, expr.Const(v)
	}
	e := l.expression(what, s, nil)
	v := l.finite(s, what, e.Substitute(free))
	if len(e.Variables()) > 0 {
		return v, e
	}
	return v, expr.Const(v)
}

// maxFileOperations bounds the operations of all expressions of a file, of which what several share counts once. The
// problems that come with pihc have less than 40.
const maxFileOperations = 20_000

// expression parses s, whose free names may be names, constants and earlier
// expressions; the latter two are substituted.
func (l *loader) expression(what string, s config.Scalar, names []string) *expr.Expr {
	if l.operations > maxFileOperations {
		return expr.Const(0)
	}
	e, has, err := resolve(s.Text, names, l.values)
	if err == nil {
		for _, name := range has {
			l.used[name] = true
		}
		e.Walk(l.counted, func(x *expr.Expr) {
			if len(x.Args()) > 0 {
				l.operations++
			}
		})
		if l.operations > maxFileOperations {
			l.report(s.Pos.Errorf("%s: with it the expressions of this file have more than %d operations, those that several share counted once", what, maxFileOperations).
				WithHint("values on the grid come in as inputs"))
			return expr.Const(0)
		}
		return e
	}
	problem := s.Pos.Errorf("%v", err)
	var syntax *expr.SyntaxError
	if errors.As(err, &syntax) {
		problem = s.At(syntax.Pos).Errorf("%s", syntax.Msg)
		problem.Hint = syntax.Hint
	}
	l.report(problem)
	return expr.Const(0)
}

// resolve parses an expression of names and values, and substitutes these; has are the names in its text.
func resolve(text string, names []string, values map[string]*expr.Expr) (e *expr.Expr, has []string, err error) {
	if e, err = expr.Parse(text); err != nil {
		return nil, nil, err
	}
	has = e.Variables()
	for _, name := range has {
		if _, ok := values[name]; !ok && !slices.Contains(names, name) {
			return nil, nil, e.Check(slices.AppendSeq(slices.Clone(names), maps.Keys(values)))
		}
	}
	return e.Substitute(values), has, nil
}
