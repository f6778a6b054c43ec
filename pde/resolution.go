package pde

import (
	"fmt"
	"math"
	"slices"

	"pihc/grid"
)

// A Quadrature is what a discretisation sees of an axis: the values at points At, each of which
// stands for the part of the axis from where that of the one before ends to its own of Ends.
type Quadrature struct{ At, Ends []float64 }

// PointsOf is the quadrature by the points of an axis.
func PointsOf(a grid.Axis) Quadrature {
	var q Quadrature
	for i := range a.Points {
		x := a.Coordinate(i)
		q.At, q.Ends = append(q.At, x), append(q.Ends, min(x+a.Step()/2, a.Hi))
	}
	if a.Boundary == grid.Periodic { // the first point is the last one too
		q.At, q.Ends = append(q.At, a.Lo), append(q.Ends, a.Hi)
	}
	return q
}

// An Unresolved is an expression in axes, constants and inputs that changes so much between the points of
// a discretisation that their values say nothing of it.
type Unresolved struct {
	Rows string // whose expression has it
	Expr *Expr
	Axis string  // along which it is too narrow
	Near float64 // the place on that axis
	// Size is the mean distance of Expr from its median, Seen that of the values at the points.
	Size, Seen float64
}

// String says what is not resolved, and where.
func (x Unresolved) String() string {
	seen := fmt.Sprintf("%.3g %%", 100*x.Seen/x.Size)
	switch {
	case x.Seen < 1e-4*x.Size:
		seen = "nothing"
	case x.Size < 1e-4*x.Seen:
		seen = "more than there is"
	}
	return fmt.Sprintf("the points along %s see %s of %s in %s, narrower than their distance, near %s = %.4g", x.Axis, seen, x.Expr, x.Rows, x.Axis, x.Near)
}

// Unresolved finds such expressions in residuals and conditions: those whose mean distance from their median is,
// by the points, less than half or more than twice what it is, or off by a tenth and, by points shifted within a step, by so much. axes has the quadrature of every axis, and samples
// the inputs on g, which the points nearest to a place give.
func (p *Problem) Unresolved(g *grid.Grid, axes []Quadrature, samples [][]float64) ([]Unresolved, error) {
	v := &resolution{problem: p, grid: g, inputs: p.PlaceInputs(g), axes: axes, samples: samples, tested: map[string]bool{}}
	for _, r := range p.AllRows() {
		v.rows = r.Name
		at := map[string]*Expr{}
		for i, a := range p.Axes {
			points := axes[i].At
			switch r.At[a.Name] {
			case "low":
				at[a.Name] = Const(points[0])
			case "high":
				at[a.Name] = Const(points[len(points)-1])
			}
		}
		if err := v.visit(r.Expr.Substitute(at)); err != nil {
			return nil, err
		}
	}
	return v.found, nil
}

// resolution looks for what points do not resolve.
type resolution struct {
	problem *Problem
	grid    *grid.Grid
	inputs  []PlacedInput
	axes    []Quadrature
	samples [][]float64
	rows    string
	tested  map[string]bool
	found   []Unresolved
}

// unknown reports whether an expression depends on an unknown or a term.
func (v *resolution) unknown(e *Expr) bool {
	return slices.ContainsFunc(e.Variables(), func(name string) bool {
		return slices.ContainsFunc(v.problem.Unknowns, func(u Unknown) bool { return u.Name == name }) ||
			slices.ContainsFunc(v.problem.Terms, func(t Term) bool { return t.Name == name })
	})
}

// visit tests the addends and factors of an expression that depend on no unknown, and where those that do are
// selected by place.
func (v *resolution) visit(e *Expr) error {
	own := e
	switch {
	case e.op == opAdd || e.op == opSub || e.op == opNeg:
		own = nil
	case e.op == opWhere && v.unknown(e) && !v.unknown(e.args[0]):
		own = v.selected(e)
	case v.unknown(e):
		own = nil
	}
	if own != nil {
		if bad, err := v.test(own); bad || err != nil {
			return err
		}
		parts, err := v.separate(own)
		if err != nil {
			return err
		}
		for _, part := range parts {
			if err := v.visit(part); err != nil {
				return err
			}
		}
	}
	parts := e.args
	if !v.unknown(e) {
		switch e.op { // what narrows the whole, where samples may miss that along several axes
		case opAdd, opSub, opNeg, opMul:
		case opDiv, opWhere:
			parts = parts[:1]
		default:
			parts = nil
		}
	}
	for _, part := range parts {
		if err := v.visit(part); err != nil {
			return err
		}
	}
	return nil
}

// selected has a number in the place of every branch of a where: 1 for those that depend on unknowns.
func (v *resolution) selected(e *Expr) *Expr {
	if e.op != opWhere || v.unknown(e.args[0]) {
		if value, ok := e.Constant(); ok {
			return Const(value)
		}
		return Const(1)
	}
	yes, no := v.selected(e.args[1]), v.selected(e.args[2])
	if same(yes, no) {
		no = Const(0)
		if yes.is(0) {
			yes = Const(1)
		}
	}
	return simplify(opWhere, e.args[0], yes, no)
}

// separate has expressions along fewer axes each that are narrow where e is so along several, where places are too
// sparse: the factors of the exponential of a sum, and what each addend of a comparison with a sum lets pass where the
// others are at their least.
func (v *resolution) separate(e *Expr) (parts []*Expr, err error) {
	switch {
	case len(v.samples) == 0:
	case e.op == opExp:
		groups := v.groups(e.args[0])
		if len(groups) < 2 {
			return nil, nil
		}
		for _, group := range groups {
			parts = append(parts, simplify(opExp, group))
		}
	case e.op == opWhere && opLess <= e.args[0].op && e.args[0].op <= opGreaterEqual:
		a, b := e.args[0].args[0], e.args[0].args[1]
		if a.op == opSqrt || b.op == opSqrt {
			a, b = squared(a), squared(b)
		}
		for _, d := range []*Expr{simplify(opSub, a, b), simplify(opSub, b, a)} {
			groups := v.groups(d)
			if len(groups) < 2 {
				return nil, nil
			}
			values, least := make([][]float64, len(groups)), 0.0
			for i, group := range groups {
				f, err := v.evaluator(group, group.Variables())
				if err != nil {
					return nil, err
				}
				f.sample = v.samples[0]
				values[i] = f.at(f.places, f.places)
				least += slices.Min(values[i])
			}
			for i, group := range groups {
				others, passed := least-slices.Min(values[i]), 0
				for _, y := range values[i] {
					if y+others < 0 {
						passed++
					}
				}
				if passed < len(values[i])/2 { // a narrow rest says nothing of what the sum keeps out
					parts = append(parts, simplify(opWhere, simplify(opLess, simplify(opAdd, group, Const(others)), Const(0)), Const(1), Const(0)))
				}
			}
		}
	}
	return parts, nil
}

// groups are the addends of a sum, together where they share an axis or an input; what is along none goes with the first.
func (v *resolution) groups(sum *Expr) (groups []*Expr) {
	for _, addend := range addends(sum) {
		var others []*Expr
		for _, group := range groups {
			if names := v.depends(group); slices.ContainsFunc(v.depends(addend), func(name string) bool { return slices.Contains(names, name) }) {
				addend = simplify(opAdd, group, addend)
			} else {
				others = append(others, group)
			}
		}
		groups = append(others, addend)
	}
	var along []*Expr
	constant := Const(0)
	for _, group := range groups {
		if slices.ContainsFunc(v.depends(group), func(name string) bool { return v.problem.Axis(name) >= 0 }) {
			along = append(along, group)
		} else {
			constant = simplify(opAdd, constant, group)
		}
	}
	if len(along) > 0 {
		along[0] = simplify(opAdd, along[0], constant)
	}
	return along
}

// depends are the variables of an expression and the axes of those that are inputs.
func (v *resolution) depends(e *Expr) []string {
	names := slices.Clone(e.Variables())
	for _, name := range names {
		if in, _, _ := v.input(name); in != nil {
			names = append(names, in.Axes...)
		}
	}
	return names
}

// squared is the square of an expression of no negative values.
func squared(e *Expr) *Expr {
	if e.op == opSqrt {
		return e.args[0]
	}
	return simplify(opMul, e, e)
}

// addends takes a sum apart, through signs and factors without variables.
func addends(e *Expr) (out []*Expr) {
	of := func(e *Expr, as func(*Expr) *Expr) {
		for _, part := range addends(e) {
			out = append(out, as(part))
		}
	}
	positive := func(x *Expr) *Expr { return x }
	negative := func(x *Expr) *Expr { return simplify(opNeg, x) }
	switch {
	case e.op == opAdd:
		of(e.args[0], positive)
		of(e.args[1], positive)
	case e.op == opSub:
		of(e.args[0], positive)
		of(e.args[1], negative)
	case e.op == opNeg:
		of(e.args[0], negative)
	case e.op == opDiv && len(e.args[1].Variables()) == 0:
		of(e.args[0], func(x *Expr) *Expr { return simplify(opDiv, x, e.args[1]) })
	case e.op == opMul && len(e.args[0].Variables()) == 0:
		of(e.args[1], func(x *Expr) *Expr { return simplify(opMul, e.args[0], x) })
	case e.op == opMul && len(e.args[1].Variables()) == 0:
		of(e.args[0], func(x *Expr) *Expr { return simplify(opMul, x, e.args[1]) })
	default:
		out = []*Expr{e}
	}
	return out
}

const (
	// placesOfAxis is how many places an expression along one axis is evaluated at, placesOfAxes one along several:
	// features of a hundredth of a step of hundreds are at several.
	placesOfAxis, placesOfAxes = 1 << 15, 1 << 17
	// mostFactor between what is seen and what there is is resolved: what is as wide as a step is seen by one or two points.
	// exactFactor is let pass whatever shifted points see: a source on one point alone may be meant so.
	mostFactor, exactFactor = 2, 1.1
	// negligible is the distance from an expression's median, over that, which is let pass.
	negligible = 1e-3
)

// test compares what the points see of an expression with what there is, for every sample where it has inputs.
func (v *resolution) test(e *Expr) (bad bool, err error) {
	names := e.Variables()
	placed := func(name string) bool { return v.problem.Axis(name) >= 0 }
	if !slices.ContainsFunc(names, placed) || v.tested[e.String()] {
		return false, nil
	}
	v.tested[e.String()] = true
	f, err := v.evaluator(e, names)
	if err != nil {
		return false, err
	}
	for i := range v.samples {
		if i > 0 && !slices.ContainsFunc(names, func(name string) bool { return !placed(name) }) {
			break
		}
		f.sample, f.singular = v.samples[i], nil
		f.leaveSingular()
		if x, bad := f.compare(); bad {
			x.Rows, x.Expr = v.rows, e
			v.found = append(v.found, x)
			return true, nil
		}
	}
	return false, nil
}

// spread is the mean distance of values from a median, and the error of that as the mean of so many.
func spread(values []float64, median float64) (mean, err float64) {
	sum, squares, n := 0.0, 0.0, 0
	for _, y := range values {
		if !math.IsNaN(y) {
			d := math.Abs(y - median)
			sum, squares, n = sum+d, squares+d*d, n+1
		}
	}
	if n == 0 {
		return 0, 0
	}
	return sum / float64(n), math.Sqrt(squares) / float64(n)
}

func (f *sampled) compare() (x Unresolved, bad bool) {
	truth, values := f.at(f.places, f.places), f.at(f.seen, f.places)
	var some []float64
	for i := 0; i < len(truth); i += 16 {
		if y := truth[i]; !math.IsNaN(y) {
			some = append(some, y)
		}
	}
	if len(some) == 0 {
		return x, false
	}
	slices.Sort(some)
	median := some[len(some)/2]
	var err [2]float64
	x.Size, err[0] = spread(truth, median)
	x.Seen, err[1] = spread(values, median)
	off := func(seen float64) float64 { return max(seen/x.Size, x.Size/seen) }
	if max(x.Size, x.Seen) <= negligible*math.Abs(median) || math.Abs(x.Size-x.Seen) <= 2*math.Hypot(err[0], err[1]) || off(x.Seen) <= exactFactor {
		return x, false
	}
	worst := off(x.Seen)
	for _, shift := range []float64{-0.25, 0.25, 0.5} {
		if worst <= mostFactor {
			seen, _ := spread(f.at(f.standIns(shift), f.places), median)
			worst = off(seen)
		}
	}
	if worst <= mostFactor {
		return x, false
	}
	narrow := 0
	worst = 0
	for k := range f.along { // by the points along one axis alone
		moved := slices.Clone(f.places)
		moved[k] = f.seen[k]
		seen, _ := spread(f.at(moved, f.places), median)
		if factor := off(seen); factor > worst {
			narrow, worst = k, factor
		}
	}
	x.Axis = f.problem.Axes[f.along[narrow]].Name
	most := 0.0
	for i, y := range truth {
		if d := max(math.Abs(y-median), math.Abs(values[i]-median)); y != values[i] && d > most {
			most, x.Near = d, f.places[narrow][i]
		}
	}
	return x, true
}

// sampled evaluates an expression at places.
type sampled struct {
	*resolution
	names        []string
	program      *Program
	along        []int       // axes of the expression and of its inputs
	places, seen [][]float64 // coordinates on them, of places and of the points that stand for these
	sample       []float64
	singular     [][2]bool // of the ends of along
}

func (v *resolution) evaluator(e *Expr, names []string) (*sampled, error) {
	f := &sampled{resolution: v, names: names}
	var err error
	if f.program, err = Compile([]*Expr{e}, names); err != nil {
		return nil, err
	}
	for a, axis := range v.problem.Axes {
		if slices.ContainsFunc(names, func(name string) bool {
			in, _, _ := v.input(name)
			return name == axis.Name || in != nil && slices.Contains(in.Axes, axis.Name)
		}) {
			f.along = append(f.along, a)
		}
	}
	f.place()
	return f, nil
}

// input returns the input of a name, and the axis and the number of steps by which it is shifted.
func (v *resolution) input(name string) (in *PlacedInput, axis, shift int) {
	for i := range v.inputs {
		if v.inputs[i].Name == name {
			return &v.inputs[i], 0, 0
		}
		for a := range v.grid.Axes {
			for _, shift := range []int{1, -1} {
				if shiftedName(v.inputs[i].Name, a, shift) == name {
					return &v.inputs[i], a, shift
				}
			}
		}
	}
	return nil, 0, 0
}

// place chooses places that fill the box evenly: multiples of irrational numbers, modulo 1.
func (f *sampled) place() {
	// The root of x^(d+1) = x + 1: Roberts, "The unreasonable effectiveness of quasirandom sequences" (2018).
	root, n := 2.0, placesOfAxis
	for range 50 {
		root = math.Pow(1+root, 1/float64(len(f.along)+1))
	}
	if len(f.along) > 1 {
		n = placesOfAxes
	}
	for k, a := range f.along {
		axis, step, x := f.problem.Axes[a], math.Pow(1/root, float64(k+1)), make([]float64, n)
		for i := range x {
			_, part := math.Modf(0.5 + step*float64(i+1))
			x[i] = axis.Lo + (axis.Hi-axis.Lo)*part
		}
		f.places = append(f.places, x)
	}
	f.seen = f.standIns(0)
}

// standIns returns the points that stand for the places, shifted by a part of what each stands for.
func (f *sampled) standIns(shift float64) [][]float64 {
	var all [][]float64
	for k, a := range f.along {
		axis, q, x := f.problem.Axes[a], f.axes[a], make([]float64, len(f.places[k]))
		inside := 1e-9 * (axis.Hi - axis.Lo) / float64(len(q.At)) // at the ends themselves limits may be stated
		for i, place := range f.places[k] {
			j, _ := slices.BinarySearch(q.Ends, place)
			j = min(j, len(q.At)-1)
			begin := axis.Lo
			if j > 0 {
				begin = q.Ends[j-1]
			}
			x[i] = q.At[j] + shift*(q.Ends[j]-begin)
			if axis.Boundary != grid.Periodic {
				x[i] = min(max(x[i], axis.Lo+inside), axis.Hi-inside)
			}
		}
		all = append(all, x)
	}
	return all
}

// leaveSingular finds ends of axes at which the expression grows without bound, as coefficients in polar
// coordinates do: solutions vanish there, and what points see of the last step says nothing.
func (f *sampled) leaveSingular() {
	const tried = 16
	singular := make([][2]bool, len(f.along))
	for k, a := range f.along {
		axis := f.problem.Axes[a]
		if axis.Boundary == grid.Periodic {
			continue
		}
		for end := range 2 {
			var values [3][]float64
			for n, d := range []float64{1e-4, 1e-7, 1e-10} {
				near := make([][]float64, len(f.places))
				for l := range near {
					near[l] = slices.Clone(f.places[l][:tried])
				}
				for i := range near[k] {
					near[k][i] = []float64{axis.Lo + d*(axis.Hi-axis.Lo), axis.Hi - d*(axis.Hi-axis.Lo)}[end]
				}
				values[n] = f.at(near, near)
			}
			for i := range tried {
				x, y, z := math.Abs(values[0][i]), math.Abs(values[1][i]), math.Abs(values[2][i])
				singular[k][end] = singular[k][end] || math.IsNaN(z) || y > 2*x && z > 2*y
			}
		}
	}
	f.singular = singular
}

// at evaluates at coordinates with the inputs of places: NaN where that is not finite, or at an end that is left out.
func (f *sampled) at(x, places [][]float64) []float64 {
	n := len(places[0])
	in := make([][]float64, len(f.names))
	var points []int32
	for j, name := range f.names {
		if a := f.problem.Axis(name); a >= 0 {
			in[j] = x[slices.Index(f.along, a)]
			continue
		}
		if points == nil {
			points = make([]int32, n)
			for k, a := range f.along {
				for i := range points {
					points[i] += int32(f.grid.Axes[a].Nearest(places[k][i]) * f.grid.Strides()[a])
				}
			}
		}
		from, axis, shift := f.input(name)
		in[j] = make([]float64, n)
		for i, p := range points {
			in[j][i] = f.sample[from.At(p, axis, shift)]
		}
	}
	out := make([]float64, n)
	f.program.Eval(f.program.NewWorkspace(), n, [][]float64{out}, in)
	for i, y := range out {
		if math.IsInf(y, 0) {
			out[i] = math.NaN()
		}
	}
	if f.singular == nil {
		return out
	}
	for k, a := range f.along {
		ends, axis := f.axes[a].Ends, f.problem.Axes[a]
		last := axis.Hi
		if len(ends) > 1 {
			last = ends[len(ends)-2]
		}
		for i, x := range places[k] {
			if f.singular[k][0] && x <= ends[0] || f.singular[k][1] && x >= last {
				out[i] = math.NaN()
			}
		}
	}
	return out
}
