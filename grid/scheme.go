package grid

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Closure says how a difference formula is closed at indices near an end where it
// would reach outside the axis. On a periodic axis it wraps and no closure applies.
type Closure int

const (
	// OneSided uses the nearest Derivative+Order points of the axis instead,
	// which keeps the formal order.
	OneSided Closure = iota
	// Extrapolated keeps the formula and fills the points outside by polynomial
	// extrapolation from the nearest Scheme.Points points.
	Extrapolated
	// Ghost extends the axis by one point whose value is given (Scheme.Low,
	// Scheme.High). Where the formula still does not fit, the nearest
	// Derivative+Order points of the extended axis are used.
	Ghost
	// Undefined gives no value there; see Operator.Defined.
	Undefined
)

var closureNames = []string{"one-sided", "extrapolated", "ghost", "undefined"}

// String returns the name used in PDE files.
func (c Closure) String() string { return nameOf(closureNames, int(c)) }

// UnmarshalText implements encoding.TextUnmarshaler: the inverse of String.
func (c *Closure) UnmarshalText(text []byte) error {
	return setName(c, "closure", closureNames, string(text))
}

// GhostValue is the value of the point one step outside an end of an axis:
// Constant + Σ_k Weights[k]·u[k-th point from that end], the end point first.
type GhostValue struct {
	Constant float64
	Weights  []float64
}

// String writes the value as a formula in u_1, u_2, ..., the end point first.
func (v *GhostValue) String() string {
	var b strings.Builder
	if v.Constant != 0 || len(v.Weights) == 0 {
		fmt.Fprintf(&b, "%.6g", v.Constant)
	}
	for k, w := range v.Weights {
		if b.Len() > 0 {
			b.WriteString(" + ")
		}
		fmt.Fprintf(&b, "%.6g u_%d", w, k+1)
	}
	return b.String()
}

// Scheme is a finite-difference formula for one derivative.
type Scheme struct {
	Derivative int // 0 to 4
	Order      int // of accuracy: 2, 4 or 6 for central ones (0 means 2), 1 to 6 for the others (0 means 1)
	// Side says where values are taken: 0 on either side of a point (central), -1 at the point
	// and those before it (backward; in time BDF1, BDF2, ...), 1 at it and those after it (forward).
	Side      int
	Closure   Closure
	Points    int         // Extrapolated: points used, 0 means Order+1 (three for order 2: ghost 3u_1 - 3u_2 + u_3)
	Low, High *GhostValue // Ghost: values outside the two ends; nil means OneSided at that end

	// Repeated applies Derivative times the first difference that is central
	// inside and of first order at the two ends, wherever the axis is periodic or
	// not: the published code's jnp.gradient of jnp.gradient. On x² it gives half
	// of u” at an end and 3/4 of it next to it. Order must be 0 or 2, Side
	// and Closure zero.
	Repeated bool
}

// side names the side as PDE files do.
func (s Scheme) side() string { return []string{"backward", "central", "forward"}[s.Side+1] }

func (s Scheme) order() int {
	switch {
	case s.Order != 0:
		return s.Order
	case s.Side == 0:
		return 2
	}
	return 1
}

// span returns the offsets first..last of the formula away from the ends.
func (s Scheme) span() (first, last int) {
	if s.Derivative == 0 {
		return 0, 0
	}
	switch width := s.Derivative + s.order(); s.Side {
	case -1:
		return 1 - width, 0
	case 1:
		return 0, width - 1
	default:
		half := (s.Derivative+1)/2 + s.order()/2 - 1
		return -half, half
	}
}

// MinPoints returns the number of points an axis must have for the scheme.
func (s Scheme) MinPoints(b Boundary) int {
	if s.Repeated {
		return 2
	}
	first, last := s.span()
	least := last - first + 1
	if b == Periodic || s.Derivative == 0 {
		return least
	}
	switch s.Closure {
	case Extrapolated:
		least = max(least, s.points())
	case OneSided, Ghost:
		least = max(least, s.Derivative+s.order())
		for _, v := range []*GhostValue{s.Low, s.High} {
			if v != nil {
				least = max(least, len(v.Weights))
			}
		}
	}
	return least
}

func (s Scheme) points() int {
	if s.Points != 0 {
		return s.Points
	}
	return s.order() + 1
}

// MaxDerivative is the highest order of a derivative along one axis.
const MaxDerivative = 6

var ordinals = []string{"zeroth", "first", "second", "third", "fourth", "fifth", "sixth"}

// describe names the scheme without its closure: "second-order first derivative".
func (s Scheme) describe() string {
	if s.Repeated {
		return fmt.Sprintf("repeated first difference for a %s derivative", ordinals[s.Derivative])
	}
	side := ""
	if s.Side != 0 {
		side = " " + s.side()
	}
	return fmt.Sprintf("%s-order%s %s derivative", ordinals[s.order()], side, ordinals[s.Derivative])
}

// Validate returns an error if the scheme makes no sense by itself.
func (s Scheme) Validate() error {
	switch {
	case s.Derivative < 0 || s.Derivative > MaxDerivative:
		return fmt.Errorf("derivative %d: want 0 to %d", s.Derivative, MaxDerivative)
	case s.Side < -1 || s.Side > 1:
		return errors.New("unknown side of a difference formula")
	case s.Closure < OneSided || s.Closure > Undefined:
		return errors.New("unknown closure of a difference formula")
	case s.Side == 0 && s.Order != 0 && s.Order != 2 && s.Order != 4 && s.Order != 6:
		return fmt.Errorf("a central difference of order %d: want 2, 4 or 6", s.Order)
	case s.Order < 0 || s.Order > 6:
		return fmt.Errorf("a %s difference of order %d: want 1 to 6", s.side(), s.Order)
	case s.Repeated && (s.order() != 2 || s.Side != 0 || s.Closure != OneSided):
		return errors.New("a repeated first difference is central, of order 2, and has its own closure")
	case s.Points < 0 || s.Points > 8:
		return fmt.Errorf("extrapolation from %d points: want 1 to 8", s.Points)
	case s.Points != 0 && s.Closure != Extrapolated:
		return errors.New("a number of extrapolation points is given but the closure is not extrapolated")
	case s.Closure == Ghost && s.Low == nil && s.High == nil:
		return errors.New("a ghost closure needs the ghost value of at least one end")
	case s.Closure != Ghost && (s.Low != nil || s.High != nil):
		return errors.New("a ghost value is given but the closure is not ghost")
	}
	for _, v := range []*GhostValue{s.Low, s.High} {
		if v == nil {
			continue
		}
		for _, c := range append([]float64{v.Constant}, v.Weights...) {
			if math.IsNaN(c) || math.IsInf(c, 0) {
				return errors.New("a ghost value is not finite")
			}
		}
	}
	return nil
}

// Derivative returns the difference formula s along the axis, which is the
// grid's number axis. Derivative 0 is the identity.
func (a Axis) Derivative(axis int, s Scheme) (*Line, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if least := s.MinPoints(a.Boundary); a.Points < least {
		return nil, fmt.Errorf("axis %s has %d points; a %s needs at least %d", a.Name, a.Points, s.describe(), least)
	}
	if a.Boundary == Periodic && !s.Repeated && s.Closure == Ghost {
		return nil, fmt.Errorf("axis %s is periodic and has no ghost points", a.Name)
	}
	if s.Repeated {
		return repeated(a, axis, s.Derivative), nil
	}
	b := &builder{axis: a, scheme: s, scale: math.Pow(a.Step(), -float64(s.Derivative))}
	return newLine(axis, a.Points, b.name(), b.row), nil
}

// builder makes the rows of a scheme on one axis.
type builder struct {
	axis   Axis
	scheme Scheme
	scale  float64 // step^-derivative
}

func (b *builder) name() string {
	s := b.scheme
	if s.Derivative == 0 {
		return "u"
	}
	name := symbol(b.axis.Name, s.Derivative)
	name += fmt.Sprintf(" [%s, order %d", s.side(), s.order())
	switch {
	case b.axis.Boundary == Periodic:
		name += ", periodic"
	case s.Closure == Extrapolated:
		name += fmt.Sprintf(", ghosts extrapolated from %d points", s.points())
	case s.Closure == Ghost:
		for i, v := range []*GhostValue{s.Low, s.High} {
			end := []string{"low", "high"}[i]
			if v == nil {
				name += fmt.Sprintf(", %s end one-sided", end)
			} else {
				name += fmt.Sprintf(", %s ghost %s", end, v)
			}
		}
	case s.Closure == Undefined:
		name += ", interior only"
	default:
		name += ", one-sided ends"
	}
	return name + "]"
}

func symbol(name string, derivative int) string {
	if derivative == 0 {
		return "u"
	}
	return "u_" + strings.Repeat(name, derivative)
}

func (b *builder) row(i int) *row {
	s, n := b.scheme, b.axis.Points
	first, last := s.span()
	sum := newSum()
	if b.axis.Boundary == Periodic {
		for k, w := range unitWeights(s.Derivative, 0, first, last-first+1) {
			sum.weight[((i+first+k)%n+n)%n] += b.scale * w
		}
		return sum.row(i)
	}
	lo, hi := 0, n-1 // the points a formula may use, ghosts included
	switch s.Closure {
	case Extrapolated:
		lo, hi = min(0, i+first), max(n-1, i+last)
	case Ghost:
		if s.Low != nil {
			lo = -1
		}
		if s.High != nil {
			hi = n
		}
	}
	if i+first < lo || i+last > hi {
		if s.Closure == Undefined {
			return nil
		}
		width := s.Derivative + s.order()
		if i+first < lo {
			first = lo - i
		} else {
			first = hi - width + 1 - i
		}
		last = first + width - 1
	}
	for k, w := range unitWeights(s.Derivative, 0, first, last-first+1) {
		b.add(sum.weight, &sum.constant, i+first+k, b.scale*w)
	}
	return sum.row(i)
}

// add puts c·u[j] into the row, j possibly outside the axis.
func (b *builder) add(weight map[int]float64, constant *float64, j int, c float64) {
	n := b.axis.Points
	if j >= 0 && j < n {
		weight[j] += c
		return
	}
	// Count from the end that j lies beyond: the k-th point is point(k), j is
	// the outside-th point outside it.
	value, outside := b.scheme.Low, -j
	point := func(k int) int { return k }
	if j >= n {
		value, outside = b.scheme.High, j-(n-1)
		point = func(k int) int { return n - 1 - k }
	}
	if b.scheme.Closure == Ghost {
		*constant += c * value.Constant
		for k, w := range value.Weights {
			weight[point(k)] += c * w
		}
		return
	}
	for k, w := range unitWeights(0, float64(-outside), 0, b.scheme.points()) {
		weight[point(k)] += c * w
	}
}

// repeated is the published first difference, applied derivative times.
func repeated(a Axis, axis, derivative int) *Line {
	n, h := a.Points, a.Step()
	first := newLine(axis, n, symbol(a.Name, 1), func(i int) *row {
		lo, hi := max(i-1, 0), min(i+1, n-1)
		c := 1 / (float64(hi-lo) * h)
		return &row{offset: []int{lo - i, hi - i}, coef: []float64{-c, c}}
	})
	line := newLine(axis, n, "u", func(int) *row { return &row{offset: []int{0}, coef: []float64{1}} })
	for range derivative {
		line = compose(first, line)
	}
	line.name = symbol(a.Name, derivative) + " [first difference, repeated]"
	return line
}
