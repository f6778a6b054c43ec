package pde

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"pihc/expr"
	"pihc/grid"
	"pihc/internal/kernel"
)

// A Smoother is S of the ansatz along one axis. Along time it is the inverse of λ^m ∂^m, m the highest derivative in time of an
// unknown, from zero on: the integral from the first time, m times, over λ^m. Along others it is the inverse of 1 + (-1)^m λ^2m ∂^2m by differences of second order, 2m the
// highest derivative of an unknown along it, with the linear conditions at its ends in the place of rows there. The
// derivative grows as the power 2m of a wave number, S falls alike, and S b meets the conditions without their right-hand sides.
// An end of an axis of second order without such a condition is free: there S b + λ ∂(S b)/∂n is b, n outward, so that values and slopes are any.
type Smoother struct {
	Axis   int
	Matrix []float64 // (n, n), row-major, n the points of the axis; along space the columns of conditions are zero
}

// mostGain bounds what S does to a field: that of conditions that fit the derivative is about 1.
const mostGain = 10

// Smoothers returns, for each unknown, those of its ansatz, along different axes.
func (s *System) Smoothers() ([][]Smoother, error) {
	out := make([][]Smoother, len(s.Problem.Unknowns))
	for c, u := range s.Problem.Unknowns {
		for a, axis := range s.Grid.Axes {
			length, ok := u.Ansatz.Smooth[axis.Name]
			if !ok {
				continue
			}
			if s.Problem.isTime(a) && s.Slab != nil {
				return nil, fmt.Errorf("ansatz: smooth along %s: slabs divide it, and each value wants all times before it", axis.Name)
			}
			m, err := s.All().smoother(c, a, length)
			if err != nil {
				return nil, fmt.Errorf("ansatz: smooth along %s: %w", axis.Name, err)
			}
			out[c] = append(out[c], Smoother{a, m})
		}
	}
	return out, nil
}

func (s *System) smoother(unknown, axis int, length float64) ([]float64, error) {
	p, stride, n := s.Problem, s.Grid.Strides()[axis], s.Grid.Axes[axis].Points
	if p.isTime(axis) {
		return integral(s.Grid.Axes[axis], p.timeOrder(unknown), length), nil
	}
	f, ends, err := p.smoothing(unknown, axis)
	if err != nil {
		return nil, err
	}
	order, open := f.Scheme.Derivative, p.FreeEnds(unknown, axis)
	f.Scheme.Order, f.Scheme.Side, f.Scheme.Repeated = 2, 0, false
	line, err := f.line(s.Grid.Axes[axis], axis)
	if err != nil {
		return nil, err
	}
	a, given, free := make([]float64, n*n), make([]bool, n), make([]bool, n)
	for end, rows := range ends {
		place := func(k int) int { return end*(n-1) + (1-2*end)*k } // the k-th from the end
		if i := place(0); open[end] {
			free[i] = true
			steps := length / s.Grid.Axes[axis].Step()
			for k, v := range [3]float64{1 + 1.5*steps, -2 * steps, 0.5 * steps} {
				a[i*n+place(k)] = v
			}
		}
		for k, r := range rows {
			i := place(k)
			given[i] = true
			set := s.Set(r.Name)
			for _, t := range set.Terms {
				slope, _ := p.atEnd(r, s.Grid.Axes[axis].Name).Diff(s.Terms[t].Name).Constant()
				s.Terms[t].Operator.(grid.Sparse).Row(int(set.Points[0]), func(q int, coef float64) {
					a[i*n+q/stride%n] += slope * coef
				})
			}
		}
	}
	difference := s.Grid.NewOperator(grid.Product{Coef: math.Pow(length, float64(order)), Lines: []*grid.Line{line}}).(grid.Sparse)
	sign := float64(1 - order%4)
	for i := range n {
		if given[i] || free[i] {
			continue
		}
		if !difference.Defined(i * stride) {
			return nil, fmt.Errorf("point %d has neither a difference nor a condition", i)
		}
		a[i*n+i]++
		difference.Row(i*stride, func(q int, coef float64) { a[i*n+q/stride] += sign * coef })
	}
	inverse := invert(a, n)
	for i := range n {
		gain := 0.0
		for k := range n {
			if given[k] {
				inverse[i*n+k] = 0
			}
			gain += math.Abs(inverse[i*n+k])
		}
		if !(gain <= mostGain) {
			return nil, errors.New("the conditions at its ends do not fit the derivative")
		}
	}
	return inverse, nil
}

// integral is that from the first time, order times, over length^order.
func integral(time grid.Axis, order int, length float64) []float64 {
	n, once := time.Points, time.Integral()
	for i := range once {
		once[i] /= length
	}
	out := once
	for range order - 1 {
		next := make([]float64, n*n)
		for i := range n {
			for k, v := range out[i*n : (i+1)*n] {
				kernel.Axpy64(next[i*n:(i+1)*n], v, once[k*n:(k+1)*n])
			}
		}
		out = next
	}
	return out
}

// isTime reports whether an axis is time.
func (p *Problem) isTime(axis int) bool { return axis == 0 && !p.Steady }

// timeOrder is the highest derivative in time of an unknown in the residual.
func (p *Problem) timeOrder(unknown int) int {
	f, _ := p.highest(unknown, 0)
	return f.Scheme.Derivative
}

// integrated reports whether the basis of an unknown is integrated along time, so that fields begin with the offset of the ansatz and
// with its derivatives below the highest one.
func (p *Problem) integrated(unknown int) bool {
	return !p.Steady && (p.duhamel() || p.Unknowns[unknown].Ansatz.Smooth[p.Axes[0].Name] > 0)
}

// Vanishing is the multiplier of the ansatz (C, P), and where the basis is integrated along time also the power of the time since
// the first that fields leave the offset with, and by Duhamel's formula zero at walls where an unknown is; nil where all are 1.
func (s *System) Vanishing() []float64 {
	mu := s.Multiplier()
	var odd []bool
	if s.Problem.duhamel() && !s.Problem.Steady {
		odd = s.odd()
	}
	for c := range s.Problem.Unknowns {
		if !s.Problem.integrated(c) {
			continue
		}
		if mu == nil {
			mu = slices.Repeat([]float64{1}, s.FieldSize())
		}
		n, size, time := s.SliceSize(), s.Grid.Size(), s.Grid.Axes[0]
		for i := range time.Points {
			power := math.Pow((time.Coordinate(i)-time.Lo)/(time.Hi-time.Lo), float64(s.Problem.timeOrder(c)))
			for q := range n {
				if mu[c*size+i*n+q] *= power; odd != nil && odd[c*n+q] {
					mu[c*size+i*n+q] = 0
				}
			}
		}
	}
	return mu
}

// invert returns the inverse of a matrix (n, n), which it overwrites; values that are not finite where there is none.
func invert(a []float64, n int) []float64 {
	out := make([]float64, n*n)
	for i := range n {
		out[i*n+i] = 1
	}
	for k := range n {
		pivot := k
		for i := k + 1; i < n; i++ {
			if math.Abs(a[i*n+k]) > math.Abs(a[pivot*n+k]) {
				pivot = i
			}
		}
		for _, m := range [][]float64{a, out} {
			for j := range n {
				m[k*n+j], m[pivot*n+j] = m[pivot*n+j], m[k*n+j]
			}
		}
		for i := range n {
			if f := a[i*n+k] / a[k*n+k]; i != k && f != 0 { // not a number is not zero
				kernel.Axpy64(a[i*n:(i+1)*n], -f, a[k*n:(k+1)*n])
				kernel.Axpy64(out[i*n:(i+1)*n], -f, out[k*n:(k+1)*n])
			}
		}
	}
	for i := range n {
		for j := range n {
			out[i*n+j] /= a[i*n+i]
		}
	}
	return out
}

// Rough returns the axes with ends, not periodic ones, along which the highest derivative of an unknown is of even order above
// 2: without S what a basis has of short waves there drowns the rest of its residual (docs/evidence/choices.md).
func (p *Problem) Rough(unknown int) (axes []string) {
	for i, a := range p.Axes {
		f, _, _ := p.smoothing(unknown, i)
		if d := f.Scheme.Derivative; d > 2 && d%2 == 0 && a.Boundary != grid.Periodic && !p.isTime(i) {
			axes = append(axes, a.Name)
		}
	}
	return axes
}

// Smoothable says why no S of an unknown's ansatz meets the conditions at the ends of its rough axes.
func (p *Problem) Smoothable(unknown int) error {
	for _, axis := range p.Rough(unknown) {
		if _, _, err := p.smoothing(unknown, p.Axis(axis)); err != nil {
			return fmt.Errorf("along %s %w", axis, err)
		}
	}
	return nil
}

// SmoothMet returns the names of the conditions at walls that S of an unknown's ansatz meets, or Duhamel's formula, but for what its
// offset misses.
func (p *Problem) SmoothMet(unknown int) []string {
	if p.byRows() {
		return p.rowsMet(unknown)
	}
	if p.duhamel() {
		l, err := p.linearPart()
		if err != nil {
			return nil
		}
		return l.met[unknown]
	}
	return p.smoothMet(unknown, p.Unknowns[unknown].Ansatz.Smooth)
}

func (p *Problem) smoothMet(unknown int, smooth map[string]float64) (names []string) {
	for _, axis := range slices.Sorted(maps.Keys(smooth)) {
		if p.isTime(p.Axis(axis)) {
			continue // the offset's
		}
		_, ends, _ := p.smoothing(unknown, p.Axis(axis))
		for _, r := range slices.Concat(ends[0], ends[1]) {
			names = append(names, r.Name)
		}
	}
	return names
}

// Smooths says why no S along an axis can be of an unknown.
func (p *Problem) Smooths(unknown, axis int) error {
	if !p.isTime(axis) {
		_, _, err := p.smoothing(unknown, axis)
		return err
	}
	a := p.Axes[0]
	if p.timeOrder(unknown) == 0 || a.Boundary != grid.Nodes {
		return fmt.Errorf("want a derivative of %s along it as a term of a residual by itself, and nodes", p.Unknowns[unknown].Name)
	}
	for _, c := range p.Conditions {
		if c.At[a.Name] == "high" {
			return fmt.Errorf("%s is a condition at its high end, and integrals begin at the low one", c.Name)
		}
	}
	return nil
}

// highest returns the highest difference of an unknown along an axis that is a term of a residual by itself, and its name. A flux term is of second order.
func (p *Problem) highest(unknown, axis int) (highest Factor, name string) {
	a := p.Axes[axis]
	for _, t := range p.Terms {
		if t.Of != unknown || len(t.Factors) != 1 || !p.InResidual(t.Name) {
			continue
		}
		f := t.Factors[0]
		if t.PerStep {
			f.Scheme = grid.Scheme{Derivative: 2, Order: 2, Closure: grid.Undefined}
		}
		if f.Axis == a.Name && f.Edge == nil && f.Scheme.Derivative > highest.Scheme.Derivative {
			highest, name = f, t.Name
		}
	}
	return highest, name
}

// Highest returns the order of the highest difference of an unknown along an axis that is a term of a residual by itself.
func (p *Problem) Highest(unknown, axis int) int {
	f, _ := p.highest(unknown, axis)
	return f.Scheme.Derivative
}

// FreeEnds reports of the low and the high end of an axis of space whether S of an unknown has neither a condition nor a ghost value there.
func (p *Problem) FreeEnds(unknown, axis int) (free [2]bool) {
	f, ends, err := p.smoothing(unknown, axis)
	for end, ghost := range []*expr.Expr{f.Low, f.High} {
		free[end] = err == nil && p.Axes[axis].Boundary != grid.Periodic && len(ends[end]) == 0 && ghost == nil
	}
	return free
}

// Kinked reports whether what multiplies a second derivative of an unknown in a residual jumps from one place to another, so that solutions have kinks there.
func (p *Problem) Kinked(unknown int) bool {
	var jumping []string // inputs
	for _, in := range p.Inputs {
		if in.Nearest || len(in.Sampler.Levels) > 0 {
			jumping = append(jumping, in.Name)
		}
	}
	for _, r := range p.Residuals {
		for _, t := range p.Terms {
			if t.Of != unknown || len(t.Factors) != 1 || !t.PerStep && t.Factors[0].Scheme.Derivative != 2 || !r.Expr.DependsOn(t.Name) {
				continue
			}
			factor := r.Expr.Diff(t.Name)
			names := factor.Variables()
			if factor.Jumps(names) || slices.ContainsFunc(names, func(name string) bool {
				input, _, _ := strings.Cut(name, ".") // also of a neighbour (shiftedName)
				return slices.Contains(jumping, input)
			}) {
				return true
			}
		}
	}
	return false
}

// smoothing returns the highest difference of an unknown along an axis of space, and the conditions at its low and its high
// end that S meets: those that hold on the whole of it and are linear, but the ones that the ansatz leaves to rows. They are half as many at each as the derivative
// has, ghost values included, or none where that is of second order.
func (p *Problem) smoothing(unknown, axis int) (highest Factor, ends [2][]Rows, err error) {
	a := p.Axes[axis]
	highest, name := p.highest(unknown, axis)
	order := highest.Scheme.Derivative
	if order == 0 || order%2 > 0 {
		return highest, ends, fmt.Errorf("the highest derivative of %s along it is no difference of even order", p.Unknowns[unknown].Name)
	}
	if a.Boundary == grid.Periodic {
		return highest, ends, nil
	}
	var count [2]int
	for i, ghost := range []bool{highest.Low != nil, highest.High != nil} {
		for _, c := range p.Conditions {
			if !slices.Contains(p.Unknowns[unknown].Ansatz.Leaves, c.Name) && p.onWall(c, axis, i == 1) && p.linearAlong(c, unknown, a.Name) {
				ends[i] = append(ends[i], c)
			}
		}
		if count[i] = len(ends[i]); ghost {
			count[i]++
		}
	}
	if fits := func(n int) bool { return n == order/2 || n == 0 && order == 2 }; !fits(count[0]) || !fits(count[1]) {
		err = fmt.Errorf("%s wants %d linear conditions on the whole of each end, and there are %d at the low and %d at the high one", name, order/2, count[0], count[1])
	}
	return highest, ends, err
}

// onWall reports whether a condition holds on all of one end of an axis, but two points at the ends of others.
func (p *Problem) onWall(c Rows, axis int, high bool) bool {
	a := p.Axes[axis]
	if c.At[a.Name] != map[bool]string{false: "low", true: "high"}[high] || len(c.At) != 1 || a.Boundary == grid.Periodic || c.Weight.Jumps(p.AxisNames()) {
		return false
	}
	for _, skip := range c.Skip {
		if max(skip[0], skip[1]) > 2 {
			return false
		}
	}
	return true
}

// linearAlong reports whether a condition is linear, by constants at its end of an axis, in an unknown and its derivatives along that alone.
func (p *Problem) linearAlong(c Rows, unknown int, axis string) bool {
	if !slices.Equal(p.unknownsOf(c.Expr), []int{unknown}) {
		return false
	}
	names := []string{p.Unknowns[unknown].Name}
	for _, t := range p.Terms {
		if !c.Expr.DependsOn(t.Name) {
			continue
		}
		if len(t.Factors) != 1 || t.Factors[0].Axis != axis {
			return false
		}
		names = append(names, t.Name)
	}
	there := p.atEnd(c, axis)
	return !slices.ContainsFunc(names, func(name string) bool {
		_, constant := there.Diff(name).Constant()
		return !constant
	}) && !there.Jumps(names)
}

// atEnd is the expression of a condition at an end of an axis, with the coordinate there.
func (p *Problem) atEnd(c Rows, axis string) *expr.Expr {
	return c.Expr.Substitute(map[string]*expr.Expr{axis: p.end(p.Axis(axis), c.At[axis] == "high")})
}
