package xla

import (
	"fmt"
	"slices"

	"pihc/expr"
	"pihc/grid"
	"pihc/internal/fft"
	"pihc/pde"
)

// terms writes the terms of a problem on its grid, as maps of F fields in float64. A field
// of C unknowns has C P values, unknown after unknown: (C P, F).
type terms struct {
	*builder
	system     *pde.System
	points     int       // P
	stencils   []stencil // per term: without tables where spectral, or not yet used
	transposed []stencil
	offsets    []value // per term: the affine part (P), nothing where there is none
	symbols    []value
	places     map[inputKey]value // (P): where an input's values are among a sample's
}

// inputKey is an input so many steps along an axis from a point.
type inputKey struct{ input, along, shift int }

// stencil holds, for every point, the places that its row reads and their
// coefficients (P, E); rows that read fewer have coefficients 0.
type stencil struct{ index, coefficient value }

func newTerms(b *builder, s *pde.System) *terms {
	n := len(s.Terms)
	return &terms{b, s, s.Grid.Size(), make([]stencil, n), make([]stencil, n), make([]value, n), make([]value, n), map[inputKey]value{}}
}

// stencil returns the tables of a term that has a stencil, which read the unknown's part of
// a field, or of its transpose, which read what is given at the points.
func (t *terms) stencil(term int, transposed bool) stencil {
	all := t.stencils
	if transposed {
		all = t.transposed
	}
	if !all[term].index.exists() {
		op := t.system.Terms[term]
		index, coefficients, width := make([][]int32, t.points), make([][]float64, t.points), 1
		for p := range index {
			if !op.Defined(p) {
				continue
			}
			op.Operator.(grid.Sparse).Row(p, func(q int, c float64) {
				row, reads := p, t.first(term)+q
				if transposed {
					row, reads = q, p
				}
				index[row], coefficients[row] = append(index[row], int32(reads)), append(coefficients[row], c)
				width = max(width, len(index[row]))
			})
		}
		var places []int32
		var numbers []float64
		for p, row := range index {
			padding := slices.Repeat(append(row, int32(p))[:1], width-len(row))
			places = append(append(places, row...), padding...)
			numbers = append(append(numbers, coefficients[p]...), make([]float64, len(padding))...)
		}
		all[term] = stencil{t.integers(places, t.points, width), t.numbers(numbers, f64, t.points, width)}
	}
	return all[term]
}

// first is the place in a field where the unknown begins that a term acts on.
func (t *terms) first(term int) int { return t.system.Terms[term].Of * t.points }

// unknown is the part (P, F) of fields u (C P, F) that a term acts on.
func (t *terms) unknown(term int, u value) value {
	return t.slice(u, 0, t.first(term), t.first(term)+t.points)
}

// gather combines the fields u at the entries of rows: (M, F) of tables (M, E).
func (t *terms) gather(s stencil, u value) value {
	m, e, f := s.index.shape[0], s.index.shape[1], u.shape[1]
	g := t.rows(u, s.index)
	return t.sum(t.mul(g, t.spread(s.coefficient, []int{m, e, f}, 0, 1)), 1)
}

// rowsOf returns the rows of a term of the fields u (C P, F) at points (M), without its affine
// part; whole is what wholes gave, where the term is spectral.
func (t *terms) rowsOf(term int, u, whole, points value) value {
	switch {
	case term < len(t.system.Problem.Unknowns): // the unknown itself
		return t.rows(t.unknown(term, u), points)
	case t.system.Terms[term].Spectral():
		return t.rows(whole, points)
	}
	s := t.stencil(term, false)
	return t.gather(stencil{t.rows(s.index, points), t.rows(s.coefficient, points)}, u)
}

// spectral is a spectral term, or its transpose, of fields (P, F).
func (t *terms) spectral(term int, u value, transposed bool) value {
	shape := t.system.Grid.Shape()
	space, f := shape[1:], u.shape[1]
	symbol := t.symbol(term, transposed)
	lines := t.reshape(t.transpose(u, 1, 0), append([]int{f, shape[0]}, space...)...)
	half := slices.Clone(lines.shape)
	half[len(half)-1] = space[len(space)-1]/2 + 1
	hat := t.call(half, c128, "stablehlo.fft %s, type = RFFT, length = "+list(space), lines)
	hat = t.mul(hat, t.trailing(symbol, half))
	back := t.call(lines.shape, f64, "stablehlo.fft %s, type = IRFFT, length = "+list(space), hat)
	return t.transpose(t.reshape(back, f, t.points), 1, 0)
}

// symbol is what multiplies the half spectrum of a slice: the transform of the answer to
// a unit impulse.
func (t *terms) symbol(term int, transposed bool) value {
	if !t.symbols[term].exists() {
		shape := t.system.Grid.Shape()[1:]
		impulse, answer := make([]float64, t.points), make([]float64, t.points)
		impulse[0] = 1
		t.system.Terms[term].Apply(answer, impulse)
		r := fft.NewReal(shape, 1)
		re, im := make([]float64, r.Modes()), make([]float64, r.Modes())
		r.Forward(re, im, answer[:product(shape)])
		half := slices.Clone(shape)
		half[len(half)-1] = half[len(half)-1]/2 + 1
		parts := t.numbers(append(re, im...), f64, append([]int{2}, half...)...)
		t.symbols[term] = parts
	}
	parts := t.symbols[term]
	re, im := t.at(parts, 0, 0), t.at(parts, 0, 1)
	if transposed {
		im = t.neg(im)
	}
	return t.complex(re, im)
}

// wholes applies the spectral terms of all rows to fields (C P, F): (P, F) each.
func (t *terms) wholes(u value) map[int]value {
	all := map[int]value{}
	for _, set := range t.system.Sets {
		for _, j := range set.Terms {
			if t.system.Terms[j].Spectral() {
				all[j] = t.spectral(j, t.unknown(j, u), false)
			}
		}
	}
	return all
}

// pullBack is the transpose of a term of fields (P, F), of the unknown that it acts on.
func (t *terms) pullBack(term int, y value) value {
	switch {
	case term < len(t.system.Problem.Unknowns):
		return y
	case t.system.Terms[term].Spectral():
		return t.spectral(term, y, true)
	}
	return t.gather(t.stencil(term, true), y)
}

// offset is the affine part of a term at points (M); nothing where it has none.
func (t *terms) offset(term int, points value) value {
	op := t.system.Terms[term]
	if !op.Affine() {
		return value{}
	}
	if !t.offsets[term].exists() {
		all, points := make([]float64, t.points), make([]int32, 1)
		for p := range all {
			if points[0] = int32(p); op.Defined(p) {
				op.AddOffset(all[p:p+1], points)
			}
		}
		t.offsets[term] = t.numbers(all, f64, t.points)
	}
	return t.rows(t.offsets[term], points)
}

// extras are the inputs of a set's rows that are no terms, at points (M): coordinates,
// and what a sample is given (InputSize).
func (t *terms) extras(set *pde.RowSet, points, given value) []value {
	var all []value
	for _, x := range set.Extras {
		if x.Axis < 0 {
			all = append(all, t.inputAt(given, x.Input, points, x.Along, x.Shift))
			continue
		}
		axis, stride := t.system.Grid.Axes[x.Axis], t.system.Grid.Strides()[x.Axis]
		i := t.binary("divide", points, t.full(float64(stride), i32, points.shape...))
		i = t.binary("remainder", i, t.full(float64(axis.Points), i32, points.shape...))
		coordinates := make([]float64, axis.Points)
		for k := range coordinates {
			coordinates[k] = x.Coordinate(t.system.Grid, k*stride)
		}
		all = append(all, t.rows(t.numbers(coordinates, f64, axis.Points), i))
	}
	return all
}

// sliceOf is an input that extends along all axes but the first, time: (W).
func (t *terms) sliceOf(given value, input int) (value, bool) {
	in := &t.system.Inputs[input]
	if t.system.Problem.Steady || in.Size != t.system.SliceSize() {
		return value{}, false
	}
	return t.slice(given, 0, in.Offset, in.Offset+in.Size), true
}

// inputAt is an input of those of a sample (InputSize) at points (M), or so many steps
// from them along an axis.
func (t *terms) inputAt(given value, input int, points value, along, shift int) value {
	in := &t.system.Inputs[input]
	if in.Size == 1 {
		return t.spread(t.at(given, 0, in.Offset), points.shape)
	}
	if slice, ok := t.sliceOf(given, input); ok && shift == 0 {
		return t.rows(slice, t.binary("remainder", points, t.full(float64(in.Size), i32, points.shape...)))
	}
	key := inputKey{input, along, shift}
	if shift == 0 {
		key.along = 0
	}
	if _, ok := t.places[key]; !ok {
		at := make([]int32, t.points)
		for p := range at {
			at[p] = int32(in.At(int32(p), along, shift))
		}
		t.places[key] = t.integers(at, t.points)
	}
	return t.rows(given, t.rows(t.places[key], points))
}

// program writes a compiled program of expressions: its outputs at the inputs, all of
// one shape.
func (b *builder) program(p *expr.Program, inputs []value, outputs int) []value {
	values := map[int]value{}
	for i, v := range inputs {
		values[i] = v
	}
	shape := inputs[0].shape
	p.Steps(func(op string, dst int, args []int, k float64) {
		x := make([]value, len(args))
		for i, a := range args {
			x[i] = values[a]
		}
		values[dst] = b.step(op, k, x, shape)
	})
	out := make([]value, outputs)
	for i := range out {
		out[i] = values[len(inputs)+i]
	}
	return out
}

// plainSteps are the operations by the names StableHLO has for them.
var plainSteps = map[string]string{
	"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "pow": "power", "min": "minimum", "max": "maximum",
	"abs": "abs", "exp": "exponential", "log": "log", "sqrt": "sqrt", "sin": "sine", "cos": "cosine", "tanh": "tanh", "sign": "sign", "floor": "floor",
	"add_const": "add", "mul_const": "multiply", "div_const": "divide", "pow_const": "power", "const_sub": "subtract", "const_div": "divide",
}

var comparisons = map[string]string{"less": "LT", "less_equal": "LE", "equal": "EQ", "not_equal": "NE"}

func (b *builder) step(op string, number float64, x []value, shape []int) value {
	k := b.scalar(number, f64)
	switch op {
	case "const":
		return b.spread(k, shape)
	case "copy":
		return x[0]
	case "where":
		return b.where(b.than("NE", x[0], 0), x[1], x[2])
	case "sinh": // e/2 + e/(e+1)/2, e = exp(x) - 1
		e := b.unary("exponential_minus_one", x[0])
		return b.times(b.add(e, b.div(e, b.plus(e, 1))), 0.5)
	case "cosh":
		return b.times(b.add(b.unary("exponential", x[0]), b.unary("exponential", b.neg(x[0]))), 0.5)
	case "add_const", "mul_const", "div_const", "pow_const":
		return b.binary(plainSteps[op], x[0], k)
	case "const_sub", "const_div":
		return b.binary(plainSteps[op], k, x[0])
	}
	if c, ok := comparisons[op]; ok {
		return b.convert(b.compare(c, x[0], x[1]), f64)
	}
	name, ok := plainSteps[op]
	switch {
	case !ok:
		panic(fmt.Sprintf("xla: unknown operation %q", op))
	case len(x) == 1:
		return b.unary(name, x[0])
	}
	return b.binary(name, x[0], x[1])
}

// evaluate returns the outputs of a set's program of second order, from its terms,
// without their affine parts, at points (M), extras and further constants of the terms.
// What is not used the compiler leaves out.
func (t *terms) evaluate(set *pde.RowSet, z []value, constants []value, extras []value) []value {
	inputs := make([]value, 0, len(z)+len(extras))
	for j, v := range z {
		inputs = append(inputs, t.total(v, constants[j]))
	}
	return t.program(set.Program(2), append(inputs, extras...), set.Program(2).Outputs())
}
