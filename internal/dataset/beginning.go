package dataset

import (
	"slices"

	"pihc/grid"
	"pihc/pde"
)

// A beginning is a condition that says what the unknowns themselves begin with, by initial conditions.
type beginning struct {
	name    string // of the condition
	initial string // an initial condition that it contains
	values  *pde.RowValues
	inside  []int // its rows without the nodes at ends of axes of space, which may have the values of walls
	zero    []float64
}

// Beginnings tell fields that do not begin as the conditions say.
type Beginnings []*beginning

// NewBeginnings prepares the conditions of a discretised problem that say how the unknowns begin.
func NewBeginnings(sys *pde.System) Beginnings {
	var out Beginnings
	p, g := sys.Problem, sys.Grid
	for i, set := range sys.Sets {
		if i < len(p.Residuals) {
			continue
		}
		c := p.Conditions[i-len(p.Residuals)]
		initial := slices.IndexFunc(p.Unknowns, func(u pde.Unknown) bool { return u.Initial >= 0 && c.Expr.DependsOn(u.InitialName()) })
		derivative := slices.ContainsFunc(set.Terms, func(t int) bool { return t >= len(p.Unknowns) }) // of a coarse solution: no measure
		if initial < 0 || derivative || p.Steady || c.At[p.Axes[0].Name] != "low" {
			continue
		}
		b := &beginning{name: c.Name, initial: p.Unknowns[initial].InitialName(), values: sys.NewRowValues(set, set.Points), zero: make([]float64, sys.FieldSize())}
		for i, point := range set.Points {
			end := false
			for a, axis := range g.Axes[1:] {
				at := int(point) / g.Strides()[1+a] % axis.Points
				end = end || axis.Boundary == grid.Nodes && (at == 0 || at == axis.Points-1)
			}
			if !end {
				b.inside = append(b.inside, i)
			}
		}
		if len(b.inside) > 0 {
			out = append(out, b)
		}
	}
	return out
}

// miss returns the root mean square of the rows for a field (C, P) and the inputs of a sample, and of
// what they say of the initial condition, or of the field if that is larger.
func (b *beginning) miss(field, sample []float64) (off, size float64) {
	inside := func(rows []float64) []float64 {
		out := make([]float64, len(b.inside))
		for i, at := range b.inside {
			out[i] = rows[at]
		}
		return out
	}
	rows := inside(b.values.Eval(0, field, sample)[0])
	off = RootMeanSquare(rows)
	initial := inside(b.values.Eval(0, b.zero, sample)[0])
	for k := range rows {
		rows[k] -= initial[k] // what they say of the field
	}
	return off, max(RootMeanSquare(initial), RootMeanSquare(rows))
}

// Miss is how far a field (C, P) is from beginning with the inputs of a sample: the largest root mean square
// of a condition's rows, over that of what they say of the initial condition, or of the field where it is
// largest; and whether it is more than one takes for a solution's.
func (b Beginnings) Miss(field, sample []float64) (miss float64, far bool) {
	for _, one := range b {
		off, size := one.miss(field, sample)
		// A small beginning of a large field may be missed by more of itself.
		if sys := one.values.System; len(sys.Problem.Unknowns) == 1 {
			if start := RootMeanSquare(field[:sys.SliceSize()]); start > 0 {
				size *= max(1, RootMeanSquare(field)/start)
			}
		}
		if size > 0 {
			miss = max(miss, off/size)
		}
	}
	return miss, miss > mostStart
}
