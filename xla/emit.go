package xla

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"pihc/internal/pjrt"
)

// dtype is the type of elements, as StableHLO writes it.
type dtype string

const (
	bf16    dtype = "bf16"
	f32     dtype = "f32"
	f64     dtype = "f64"
	i32     dtype = "i32"
	boolean dtype = "i1"
	c128    dtype = "complex<f64>"
)

// value is an array in a program: what an operation gave. What is written for one sample is
// done for all samples of a program at once: an array that differs from one to another has an
// axis of samples before its own, which its shape leaves out.
type value struct {
	name    string
	shape   []int
	dtype   dtype
	samples int // length of that axis; 0: there is none
}

// exists says that there is such an array: the zero value is nothing.
func (v value) exists() bool { return v.name != "" }

func (v value) rank() int { return len(v.shape) }

func (v value) size() int { return product(v.shape) }

// mlir is the type of v.
func (v value) mlir() string { return tensor(v.whole().shape, v.dtype) }

// whole is v with the axis of samples as its first.
func (v value) whole() value {
	if v.samples > 0 {
		v.shape, v.samples = append([]int{v.samples}, v.shape...), 0
	}
	return v
}

// apart is v with its first axis as that of samples.
func (v value) apart() value {
	v.shape, v.samples = v.shape[1:], v.shape[0]
	return v
}

// before is the number of axes before those of the shape.
func (v value) before() int { return min(v.samples, 1) }

func tensor(shape []int, t dtype) string {
	var s strings.Builder
	s.WriteString("tensor<")
	for _, n := range shape {
		fmt.Fprintf(&s, "%dx", n)
	}
	s.WriteString(string(t) + ">")
	return s.String()
}

func product(shape []int) int {
	n := 1
	for _, m := range shape {
		n *= m
	}
	return n
}

// builder writes a program, operation by operation. It panics where shapes do not fit,
// which is a mistake of the code that calls it.
type builder struct {
	samples   int // of a program; 0: one, and no array has an axis of samples
	body      strings.Builder
	count     int
	arguments []value
	tables    []func(*pjrt.Client) (*pjrt.Buffer, error) // that put arrays on the device that never change: further arguments
	tabled    []value                                    // the arguments that hold the tables
	known     map[string]value                           // small constants, which stand first
	consts    strings.Builder
}

func newBuilder() *builder { return &builder{known: map[string]value{}} }

// module returns the program, whose arguments are the inputs, then the tables.
func (b *builder) module(outputs ...value) string {
	var args, types, names []string
	for _, v := range append(slices.Clone(b.arguments), b.tabled...) {
		args = append(args, v.name+": "+v.mlir())
	}
	for _, v := range outputs {
		types, names = append(types, v.mlir()), append(names, v.name)
	}
	return fmt.Sprintf("module {\nfunc.func public @main(%s) -> (%s) {\n%s%sreturn %s : %s\n}\n}\n",
		strings.Join(args, ", "), strings.Join(types, ", "), b.consts.String(), b.body.String(), strings.Join(names, ", "), strings.Join(types, ", "))
}

func (b *builder) fresh() string { b.count++; return fmt.Sprintf("%%v%d", b.count) }

// emit writes an operation with one result, whose type is that of v.
func (b *builder) emit(v value, format string, args ...any) value {
	v.name, v.shape = b.fresh(), slices.Clone(v.shape)
	fmt.Fprintf(&b.body, "%s = ", v.name)
	fmt.Fprintf(&b.body, format, args...)
	b.body.WriteByte('\n')
	return v
}

// call writes an operation that states the types of its operands, whose names go into text.
func (b *builder) call(shape []int, t dtype, text string, operands ...value) value {
	names, types, out := make([]any, len(operands)), make([]string, len(operands)), value{shape: shape, dtype: t}
	for i, v := range operands {
		names[i], types[i], out.samples = v.name, v.mlir(), max(out.samples, v.samples)
	}
	return b.emit(out, "%s : (%s) -> %s", fmt.Sprintf(text, names...), strings.Join(types, ", "), out.mlir())
}

// align gives all arrays the axis of samples that one of them has.
func (b *builder) align(all ...*value) {
	samples := 0
	for _, v := range all {
		samples = max(samples, v.samples)
	}
	for _, v := range all {
		if v.samples < samples {
			*v = b.trailing(*v, append([]int{samples}, v.shape...)).apart()
		}
	}
}

func require(ok bool, what string, values ...value) {
	if !ok {
		var types []string
		for _, v := range values {
			types = append(types, v.mlir())
		}
		panic("xla: " + what + ": " + strings.Join(types, ", "))
	}
}

// input declares an argument.
func (b *builder) input(t dtype, shape ...int) value {
	return b.declare(value{shape: shape, dtype: t})
}

// perSample declares an argument that every sample has its own of.
func (b *builder) perSample(t dtype, shape ...int) value {
	return b.declare(value{shape: shape, dtype: t, samples: b.samples})
}

func (b *builder) declare(v value) value {
	v.name = fmt.Sprintf("%%in%d", len(b.arguments))
	b.arguments = append(b.arguments, v)
	return v
}

// scalar is a constant number.
func (b *builder) scalar(x float64, t dtype) value {
	text := ""
	switch t {
	case i32:
		text = fmt.Sprintf("%d", int(x))
	case boolean:
		text = fmt.Sprint(x != 0)
	case f32:
		text = fmt.Sprintf("0x%08X", math.Float32bits(float32(x)))
	default:
		text = fmt.Sprintf("0x%016X", math.Float64bits(x))
	}
	return b.constant(text, t, nil)
}

// constant is a constant by its text.
func (b *builder) constant(text string, t dtype, shape []int) value {
	key := tensor(shape, t) + text
	v, ok := b.known[key]
	if !ok {
		v = value{name: b.fresh(), shape: slices.Clone(shape), dtype: t}
		b.known[key] = v
		fmt.Fprintf(&b.consts, "%s = stablehlo.constant dense<%s> : %s\n", v.name, text, v.mlir())
	}
	return v
}

// full is an array of equal numbers.
func (b *builder) full(x float64, t dtype, shape ...int) value {
	return b.spread(b.scalar(x, t), shape)
}

// smallTable is the number of elements up to which an array is written into the program.
const smallTable = 64

// array is an array of given numbers: a large one is a table.
func array[E float64 | float32 | int32](b *builder, x []E, t dtype, shape []int) value {
	if product(shape) != len(x) {
		panic("xla: the shape is not that of the data")
	}
	if len(x) > smallTable {
		v := value{name: fmt.Sprintf("%%table%d", len(b.tables)), shape: shape, dtype: t}
		b.tables = append(b.tables, func(c *pjrt.Client) (*pjrt.Buffer, error) { return pjrt.Upload(c, x, shape...) })
		b.tabled = append(b.tabled, v)
		return v
	}
	bytes, _ := binary.Append(nil, binary.LittleEndian, x)
	return b.constant(`"0x`+strings.ToUpper(hex.EncodeToString(bytes))+`"`, t, shape)
}

// numbers is an array of given numbers.
func (b *builder) numbers(x []float64, t dtype, shape ...int) value {
	if t == f64 {
		return array(b, x, t, shape)
	}
	single := make([]float32, len(x))
	for i, v := range x {
		single[i] = float32(v)
	}
	return array(b, single, t, shape)
}

// integers is an array of given integers.
func (b *builder) integers(x []int32, shape ...int) value { return array(b, x, i32, shape) }

// upload puts the tables on the device.
func (b *builder) upload(c *pjrt.Client) ([]*pjrt.Buffer, error) {
	var all []*pjrt.Buffer
	for _, put := range b.tables {
		d, err := put(c)
		if err != nil {
			return all, err
		}
		all = append(all, d)
	}
	return all, nil
}

func same(x, y value) bool { return x.mlir() == y.mlir() && x.samples == y.samples }

// match makes two operands of one shape: a scalar takes the other's.
func (b *builder) match(what string, x, y value) (value, value) {
	if x.rank() == 0 && y.rank() > 0 {
		x = b.spread(x, y.shape)
	}
	if y.rank() == 0 && x.rank() > 0 {
		y = b.spread(y, x.shape)
	}
	b.align(&x, &y)
	require(same(x, y), what, x, y)
	return x, y
}

func (b *builder) binary(op string, x, y value) value {
	x, y = b.match(op, x, y)
	return b.emit(x, "stablehlo.%s %s, %s : %s", op, x.name, y.name, x.mlir())
}

func (b *builder) add(x, y value) value { return b.binary("add", x, y) }
func (b *builder) sub(x, y value) value { return b.binary("subtract", x, y) }
func (b *builder) mul(x, y value) value { return b.binary("multiply", x, y) }
func (b *builder) div(x, y value) value { return b.binary("divide", x, y) }
func (b *builder) max(x, y value) value { return b.binary("maximum", x, y) }
func (b *builder) and(x, y value) value { return b.binary("and", x, y) }
func (b *builder) or(x, y value) value  { return b.binary("or", x, y) }

// times multiplies by a number.
func (b *builder) times(x value, k float64) value { return b.mul(x, b.scalar(k, x.dtype)) }

// total is x + y; nothing counts as zero.
func (b *builder) total(x, y value) value {
	switch {
	case !x.exists():
		return y
	case !y.exists():
		return x
	}
	return b.add(x, y)
}

// plus adds a number.
func (b *builder) plus(x value, k float64) value { return b.add(x, b.scalar(k, x.dtype)) }

func (b *builder) unary(op string, x value) value {
	return b.emit(x, "stablehlo.%s %s : %s", op, x.name, x.mlir())
}

func (b *builder) neg(x value) value  { return b.unary("negate", x) }
func (b *builder) not(x value) value  { return b.unary("not", x) }
func (b *builder) sqrt(x value) value { return b.unary("sqrt", x) }
func (b *builder) abs(x value) value  { return b.unary("abs", x) }

// convert changes the type of elements.
func (b *builder) convert(x value, t dtype) value {
	if x.dtype == t {
		return x
	}
	return b.call(x.shape, t, "stablehlo.convert %s", x)
}

// compare is a comparison: EQ, NE, LT, LE, GT or GE; with NaN all but NE are false.
func (b *builder) compare(direction string, x, y value) value {
	x, y = b.match("compare", x, y)
	return b.call(x.shape, boolean, "stablehlo.compare "+direction+", %s, %s", x, y)
}

// than compares with a number.
func (b *builder) than(direction string, x value, k float64) value {
	return b.compare(direction, x, b.scalar(k, x.dtype))
}

// finite tells which numbers are.
func (b *builder) finite(x value) value { return b.call(x.shape, boolean, "stablehlo.is_finite %s", x) }

// where is x where the condition holds and y elsewhere. A condition of fewer axes
// holds along the axes that follow.
func (b *builder) where(condition, x, y value) value {
	x, y = b.match("where", x, y)
	condition = b.leading(condition, x.shape)
	b.align(&condition, &x, &y)
	return b.emit(x, "stablehlo.select %s, %s, %s : %s, %s", condition.name, x.name, y.name, condition.mlir(), x.mlir())
}

// spread repeats x along new axes: axis i of x becomes axes[i] of the result.
func (b *builder) spread(x value, shape []int, axes ...int) value {
	require(len(axes) == x.rank(), "spread", x)
	for i, a := range axes {
		require(shape[a] == x.shape[i] || x.shape[i] == 1, "spread", x)
	}
	return b.call(shape, x.dtype, "stablehlo.broadcast_in_dim %s, dims = "+x.axes(axes), x)
}

// leading repeats x along all axes after its own, trailing along all before.
func (b *builder) leading(x value, shape []int) value { return b.repeat(x, shape, 0) }

func (b *builder) trailing(x value, shape []int) value {
	return b.repeat(x, shape, len(shape)-x.rank())
}

// repeat makes the axes of x those of the result from first on.
func (b *builder) repeat(x value, shape []int, first int) value {
	if slices.Equal(x.shape, shape) {
		return x
	}
	axes := make([]int, x.rank())
	for i := range axes {
		axes[i] = first + i
	}
	return b.spread(x, shape, axes...)
}

func (b *builder) reshape(x value, shape ...int) value {
	if slices.Equal(x.shape, shape) {
		return x
	}
	require(product(shape) == x.size(), "reshape", x)
	return b.call(shape, x.dtype, "stablehlo.reshape %s", x)
}

// transpose makes axis order[i] of x axis i.
func (b *builder) transpose(x value, order ...int) value {
	shape, moved := make([]int, len(order)), false
	for i, a := range order {
		shape[i], moved = x.shape[a], moved || a != i
	}
	if !moved {
		return x
	}
	return b.call(shape, x.dtype, "stablehlo.transpose %s, dims = "+x.axes(order), x)
}

// slice is the part [lo, hi) along one axis.
func (b *builder) slice(x value, axis, lo, hi int) value {
	if lo == 0 && hi == x.shape[axis] {
		return x
	}
	shape, ranges := slices.Clone(x.shape), []string{}
	for _, n := range x.whole().shape {
		ranges = append(ranges, fmt.Sprintf("0:%d", n))
	}
	shape[axis], ranges[x.before()+axis] = hi-lo, fmt.Sprintf("%d:%d", lo, hi)
	return b.call(shape, x.dtype, "stablehlo.slice %s ["+strings.Join(ranges, ", ")+"]", x)
}

// at is index i along an axis, which the result does not have.
func (b *builder) at(x value, axis, i int) value {
	s := b.slice(x, axis, i, i+1)
	return b.reshape(s, slices.Delete(slices.Clone(s.shape), axis, axis+1)...)
}

func (b *builder) concatenate(axis int, all ...value) value {
	if len(all) == 1 {
		return all[0]
	}
	all = slices.Clone(all)
	shape, parts := slices.Clone(all[0].shape), make([]*value, len(all))
	shape[axis] = 0
	for i, v := range all {
		shape[axis] += v.shape[axis]
		parts[i] = &all[i]
	}
	b.align(parts...)
	return b.call(shape, all[0].dtype, "stablehlo.concatenate"+strings.Repeat(" %s,", len(all))+fmt.Sprintf(" dim = %d", all[0].before()+axis), all...)
}

// stack joins arrays along a new axis.
func (b *builder) stack(axis int, all ...value) value {
	var wide []value
	for _, v := range all {
		wide = append(wide, b.reshape(v, slices.Insert(slices.Clone(v.shape), axis, 1)...))
	}
	return b.concatenate(axis, wide...)
}

// among is x as part i of n equal ones along an axis, the others of which are zero.
func (b *builder) among(x value, axis, i, n int) value {
	parts := slices.Repeat([]value{b.full(0, x.dtype, x.shape...)}, n)
	parts[i] = x
	return b.concatenate(axis, parts...)
}

// iota counts along the last axis.
func (b *builder) iota(t dtype, shape ...int) value {
	return b.emit(value{shape: shape, dtype: t}, "stablehlo.iota dim = %d : %s", len(shape)-1, tensor(shape, t))
}

func (b *builder) reduce(op string, initial float64, x value, axes ...int) value {
	var shape []int
	for a, n := range x.shape {
		if !slices.Contains(axes, a) {
			shape = append(shape, n)
		}
	}
	axes = slices.Clone(axes)
	for i := range axes {
		axes[i] += x.before()
	}
	return b.call(shape, x.dtype, "stablehlo.reduce(%s init: %s) applies stablehlo."+op+" across dimensions = "+list(axes), x, b.scalar(initial, x.dtype))
}

// sum sums along axes.
func (b *builder) sum(x value, axes ...int) value { return b.reduce("add", 0, x, axes...) }

// any and all are of booleans.
func (b *builder) any(x value, axes ...int) value { return b.reduce("or", 0, x, axes...) }
func (b *builder) all(x value, axes ...int) value { return b.reduce("and", 1, x, axes...) }

// largest is the maximum of numbers that are not negative, NaN if one is.
func (b *builder) largest(x value, axes ...int) value { return b.reduce("maximum", 0, x, axes...) }

// dot is a product of arrays with named axes, "abc,cd->abd": axes that both have and
// the result too are paired, those that it lacks are summed. Every axis that one
// operand alone has must be in the result.
func (b *builder) dot(spec string, x, y value) value {
	// Without the precision a GPU may round factors to fewer digits.
	return b.product(spec, x, y, x.dtype, "HIGHEST")
}

// product is dot with elements of type t, which sums are formed in, and the least that the
// device may do: HIGHEST, all digits of the factors; HIGH, eleven of float32; DEFAULT, eight.
func (b *builder) product(spec string, x, y value, t dtype, precision string) value {
	in, out, _ := strings.Cut(spec, "->")
	left, right, _ := strings.Cut(in, ",")
	samples := max(x.samples, y.samples)
	for _, v := range []struct {
		of     value
		labels *string
	}{{x, &left}, {y, &right}, {value{samples: samples}, &out}} {
		if v.of.samples > 0 {
			*v.labels = "*" + *v.labels
		}
	}
	x, y = x.whole(), y.whole()
	require(len(left) == x.rank() && len(right) == y.rank() && x.dtype == y.dtype, "dot "+spec, x, y)
	var batch, contract [2][]int
	var names string // of the result's axes, in the order of dot_general
	var shape []int
	for i, a := range left {
		j := strings.IndexRune(right, a)
		switch {
		case j < 0:
			continue
		case x.shape[i] != y.shape[j]:
			require(false, "dot "+spec, x, y)
		case strings.ContainsRune(out, a):
			batch[0], batch[1] = append(batch[0], i), append(batch[1], j)
			names, shape = names+string(a), append(shape, x.shape[i])
		default:
			contract[0], contract[1] = append(contract[0], i), append(contract[1], j)
		}
	}
	for o, labels := range []string{left, right} {
		for i, a := range labels {
			if !slices.Contains(batch[o], i) && !slices.Contains(contract[o], i) {
				names, shape = names+string(a), append(shape, []value{x, y}[o].shape[i])
			}
		}
	}
	batching := ""
	if len(batch[0]) > 0 {
		batching = fmt.Sprintf(", batching_dims = %s x %s", list(batch[0]), list(batch[1]))
	}
	v := b.call(shape, t, "stablehlo.dot_general %s, %s"+fmt.Sprintf("%s, contracting_dims = %s x %s, precision = [%s, %s]", batching, list(contract[0]), list(contract[1]), precision, precision), x, y)
	order := make([]int, len(out))
	for i, a := range out {
		order[i] = strings.IndexRune(names, a)
	}
	require(len(order) == len(names), "dot "+spec, x, y)
	v = b.transpose(v, order...)
	if samples > 0 {
		return v.apart()
	}
	return v
}

// loop repeats body from the initial state while the condition of the state, a scalar,
// holds of one sample or more, and returns the last state. If a part of the state differs between samples all do, but for
// integers without axes, which count.
func (b *builder) loop(initial []value, condition func(s []value) value, body func(s []value) []value) []value {
	var starts, names, types []string
	state, initial := make([]value, len(initial)), slices.Clone(initial)
	var parts []*value
	for i, v := range initial {
		if v.rank() > 0 || v.dtype != i32 {
			parts = append(parts, &initial[i])
		}
	}
	b.align(parts...)
	for i, v := range initial {
		state[i] = v
		state[i].name = b.fresh()
		starts = append(starts, state[i].name+" = "+v.name)
		types = append(types, v.mlir())
	}
	result := b.fresh()
	fmt.Fprintf(&b.body, "%s:%d = stablehlo.while(%s) : %s\ncond {\n", result, len(initial), strings.Join(starts, ", "), strings.Join(types, ", "))
	c := condition(state)
	if c.samples > 0 {
		c = b.any(c.whole(), 0)
	}
	fmt.Fprintf(&b.body, "stablehlo.return %s : %s\n} do {\n", c.name, c.mlir())
	for i, v := range body(state) {
		if initial[i].samples > 0 && v.samples == 0 {
			like := initial[i]
			b.align(&v, &like)
		}
		require(same(v, initial[i]), "loop", v, initial[i])
		names = append(names, v.name)
	}
	fmt.Fprintf(&b.body, "stablehlo.return %s : %s\n}\n", strings.Join(names, ", "), strings.Join(types, ", "))
	out := make([]value, len(initial))
	for i, v := range initial {
		out[i] = v
		out[i].name = fmt.Sprintf("%s#%d", result, i)
	}
	return out
}

// axes are all axes of v in an order, or new places of them.
func (v value) axes(order []int) string {
	if v.samples == 0 {
		return list(order)
	}
	all := []int{0}
	for _, a := range order {
		all = append(all, 1+a)
	}
	return list(all)
}

// complex is re + i im.
func (b *builder) complex(re, im value) value {
	return b.call(re.shape, c128, "stablehlo.complex %s, %s", re, im)
}

func list(x []int) string {
	s := make([]string, len(x))
	for i, v := range x {
		s[i] = fmt.Sprint(v)
	}
	return "[" + strings.Join(s, ", ") + "]"
}
