package pde

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"pihc/expr"
	"pihc/grid"
	"pihc/internal/words"
)

// An Unresolved is an expression in axes, constants and inputs that is narrower along an axis than the
// distance of the points there.
type Unresolved struct {
	Rows   string // whose expression has it
	Expr   *expr.Expr
	Axis   string  // along which it is too narrow
	Near   float64 // the place on that axis
	Chance bool    // a point happens to be there
	Waves  bool    // it goes up and down between points, and Near says nothing
}

// String says what is not resolved, and where.
func (x Unresolved) String() string {
	if x.Waves {
		return fmt.Sprintf("the points along %s are too far apart for %s in %s, which goes up and down between them", x.Axis, words.Clip(x.Expr.String(), 120), x.Rows)
	}
	see := "see nothing of"
	if x.Chance {
		see = "see by chance"
	}
	return fmt.Sprintf("the points along %s %s %s in %s, narrower than their distance, near %s = %.4g", x.Axis, see, words.Clip(x.Expr.String(), 120), x.Rows, x.Axis, x.Near)
}

// Unresolved finds such expressions in residuals and conditions: addends, and factors of those that are resolved. points
// has the coordinates along every axis at which a discretisation evaluates rows, and samples the inputs on g.
func (p *Problem) Unresolved(g *grid.Grid, points, samples [][]float64) (found []Unresolved) {
	b := &probe{problem: p, grid: g, inputs: p.PlaceInputs(g), points: points}
	for a, at := range points {
		length := p.Axes[a].Hi - p.Axes[a].Lo
		step := length / float64(len(at))
		for i := range at[1:] {
			step = max(step, at[i+1]-at[i])
		}
		b.middle, b.whole, b.steps = append(b.middle, p.Axes[a].Lo+length/2), append(b.whole, length), append(b.steps, step)
	}
	var tested []*expr.Expr
	seen := map[*expr.Expr]bool{}
	for _, r := range p.AllRows() {
		ends := map[string]*expr.Expr{}
		for _, a := range g.Axes {
			switch r.At[a.Name] {
			case "low":
				ends[a.Name] = expr.Const(a.Coordinate(0))
			case "high":
				ends[a.Name] = expr.Const(a.Coordinate(a.Points - 1))
			}
		}
		for parts := []part{{Expr: r.Expr.Substitute(ends)}}; len(parts) > 0; parts = parts[1:] {
			e, whole, rest := parts[0].Expr, parts[0].whole, parts[0].rest
			if seen[e] {
				continue
			}
			seen[e] = true
			sum := e.IsSum()
			same := func(x *expr.Expr) bool { return expr.Same(x, e) }
			if !sum && e.Name() == "" && b.work < mostWork && len(b.along(e)) > 0 && !slices.ContainsFunc(tested, same) {
				tested = append(tested, e)
				if x, bad := b.test(parts[0], samples); bad {
					x.Rows, x.Expr = r.Name, e
					found = append(found, x)
					continue
				}
			}
			switch {
			case sum:
				for _, x := range e.Args() {
					parts = append(parts, part{x, whole, rest})
				}
			case e.IsProduct() || e.IsQuotient():
				if whole == nil {
					whole, rest = e, expr.Const(1)
				}
				factors := e.Args()
				if e.IsQuotient() {
					factors = factors[:1]
				}
				for _, x := range factors {
					parts = append(parts, part{x, whole, rest.Times(e).Over(x)})
				}
			}
		}
	}
	return found
}

// A part of an addend of rows, and what multiplies it there.
type part struct {
	*expr.Expr
	whole, rest *expr.Expr
}

// A probe evaluates expressions anywhere in the box of a problem.
type probe struct {
	problem              *Problem
	grid                 *grid.Grid
	inputs               []PlacedInput
	points               [][]float64
	middle, whole, steps []float64 // per axis, of the box, its lengths, and the largest distance of points

	sample []float64 // of the inputs
	random *rand.Rand
	work   float64 // operations done at places, those of compiling counted as at a thousand
}

// mostWork is when a probe looks at no more expressions, after some seconds. One of ten operations takes the hundredth.
const mostWork = 2e9

// along returns the axes of an expression.
func (b *probe) along(e *expr.Expr) (along []int) {
	for a, axis := range b.problem.Axes {
		if e.DependsOn(axis.Name) {
			along = append(along, a)
		}
	}
	return along
}

// evaluate returns the values of an expression at places. Unknowns and terms are numbers.
func (b *probe) evaluate(e *expr.Expr, places [][]float64) []float64 {
	names := e.Variables()
	program, err := expr.Compile([]*expr.Expr{e}, names)
	if err != nil {
		panic("pde: " + err.Error()) // names are its variables
	}
	b.work += float64(program.Len()) * float64(len(places)+1000)
	in, out := make([][]float64, len(names)), make([]float64, len(places))
	for j, name := range names {
		in[j] = make([]float64, len(places))
		a, input := b.problem.Axis(name), slices.Index(b.problem.InputNames(), name)
		for i, place := range places {
			switch {
			case a >= 0:
				in[j][i] = place[a]
			case input >= 0:
				point := 0 // nearest to the place
				for a, axis := range b.grid.Axes {
					point = point*axis.Points + axis.Nearest(place[a])
				}
				in[j][i] = b.sample[b.inputs[input].At(int32(point), 0, 0)]
			default:
				in[j][i] = 0.7391 + 0.1618*float64(j)
			}
		}
	}
	program.Evaluator()(len(places), [][]float64{out}, in)
	return out
}

// moved is a place moved along an axis, mirrored at walls. At the ends themselves limits may be stated.
func (b *probe) moved(place []float64, a int, by float64) []float64 {
	axis, x, inside := b.problem.Axes[a], place[a]+by, 1e-9*b.steps[a]
	switch {
	case axis.Boundary == grid.Periodic:
		x -= b.whole[a] * math.Floor((x-axis.Lo)/b.whole[a])
	case x < axis.Lo:
		x = 2*axis.Lo - x
	case x > axis.Hi:
		x = 2*axis.Hi - x
	}
	place = slices.Clone(place)
	place[a] = min(max(x, axis.Lo+inside), axis.Hi-inside)
	return place
}

// scatter chooses places in a box of the given sides about one, which is the first of them: evenly along every axis
// (a Latin hypercube).
func (b *probe) scatter(about, sides []float64, n int) [][]float64 {
	places := slices.Repeat([][]float64{about}, n)
	for a, side := range sides {
		for i, at := range b.random.Perm(n) {
			places[i] = b.moved(places[i], a, min(float64(i), 1)*side*((float64(at)+0.5)/float64(n)-0.5))
		}
	}
	return places
}

// largest is the place of the largest value, or, for sign -1, the least.
func (b *probe) largest(e *expr.Expr, places [][]float64, sign float64) []float64 {
	y, at := b.evaluate(e, places), 0
	for i := range y {
		if sign*y[i] > sign*y[at] || math.IsNaN(y[at]) {
			at = i
		}
	}
	return slices.Clone(places[at])
}

// extremes are places where an expression is largest and least, of many, some of which have coordinates where
// sub-expressions are so: a spot, which no chosen place would meet, is where the distance from its middle is least. Of a comparison they are also on
// both sides of where it turns: a pulse is between two of these.
func (b *probe) extremes(e *expr.Expr) [][]float64 {
	all := b.scatter(b.middle, b.whole, 1<<13)
	toward := func(x *expr.Expr, sign, beside float64) {
		along := b.along(x)
		if b.work > mostWork || len(along) == 0 {
			return
		}
		best, sides := b.largest(x, all, sign), slices.Clone(b.whole)
		for range 36 {
			for a := range sides {
				sides[a] /= 2
			}
			best = b.largest(x, b.scatter(best, sides, 64), sign)
		}
		for i, place := range all {
			if i == 0 || b.random.IntN(4) == 0 {
				for _, a := range along {
					place[a] = b.moved(best, a, beside*b.whole[a]*(2*b.random.Float64()-1))[a]
				}
			}
		}
	}
	e.Walk(map[*expr.Expr]bool{}, func(x *expr.Expr) {
		if x.IsComparison() {
			x = x.Args()[0].Minus(x.Args()[1])
			toward(x.Times(x), -1, 1e-8)
		}
		toward(x, 1, 0)
		toward(x, -1, 0)
	})
	return [][]float64{b.largest(e, all, 1), b.largest(e, all, -1)}
}

// test reports whether an expression is narrow where it is largest or least, and not little of its addend there.
func (b *probe) test(of part, samples [][]float64) (found Unresolved, bad bool) {
	e := of.Expr
	b.random = rand.New(rand.NewPCG(1, 2))
	for i := range samples {
		if i > 0 && !slices.ContainsFunc(b.problem.InputNames(), e.DependsOn) {
			break
		}
		b.sample = samples[i]
		for _, place := range b.extremes(e) {
			for _, k := range b.along(e) {
				if seen, waves := b.waves(e, place, k); waves && !b.vanishes(of, place, k, seen) {
					return Unresolved{Axis: b.problem.Axes[k].Name, Waves: true}, true
				}
				median, size := b.narrow(e, place, k)
				if size == 0 || b.singular(of, place, k) || b.vanishes(of, place, k, median) {
					continue
				}
				closest := b.points[k][0]
				for _, x := range b.points[k] {
					if math.Abs(x-place[k]) < math.Abs(closest-place[k]) {
						closest = x
					}
				}
				seen := b.evaluate(e, [][]float64{b.moved(place, k, closest-place[k])})[0]
				return Unresolved{Axis: b.problem.Axes[k].Name, Near: place[k], Chance: math.Abs(seen-median) > size/100}, true
			}
		}
	}
	return found, false
}

// narrow returns the median of an expression within four steps along an axis about a place, and how far from it the place
// is: 0 unless less than the fourth of the values are near that, as of a source stated by its mean over a step, and most others at the
// median. That must hold however far along the other axes: a disc has narrow rims.
func (b *probe) narrow(e *expr.Expr, place []float64, k int) (median, size float64) {
	for steps, all := 0., false; !all; steps = max(3, 3*steps) {
		sides := make([]float64, len(place))
		all = true
		for a := range sides {
			sides[a] = min(steps*b.steps[a], 2*b.whole[a]) // both ways to the walls and back
			all = all && (a == k || sides[a] < steps*b.steps[a])
		}
		sides[k] = min(4*b.steps[k], 2*b.whole[k])
		y := b.evaluate(e, b.scatter(place, sides, 4096))
		here := y[0]
		if y = slices.DeleteFunc(y, math.IsNaN); math.IsNaN(here) {
			return 0, 0
		}
		slices.Sort(y)
		n, alike := len(y), 0
		median = y[n/2]
		size = math.Abs(here - median)
		for _, z := range y {
			if 2*math.Abs(z-median) > size {
				alike++
			}
		}
		if float64(alike) > 0.95*float64(n)/4 || y[4*n/5]-y[n/5] > size/4 || !(size > 1e-3*math.Abs(median)) {
			return median, 0
		}
	}
	return median, size
}

// waves reports whether an expression goes up and down between the points along an axis through a place, and its mean at these: at more than
// half of the places between points it is further from what lies between the values there than a quarter of its range. Waves of
// three points or more are not.
func (b *probe) waves(e *expr.Expr, place []float64, k int) (mean float64, waves bool) {
	x := b.points[k]
	if len(x) < 4 {
		return 0, false
	}
	at := func(share float64) []float64 {
		places := make([][]float64, len(x)-1)
		for i := range places {
			places[i] = b.moved(place, k, x[i]+share*(x[i+1]-x[i])-place[k])
		}
		return b.evaluate(e, places)
	}
	left, right := at(0), at(1)
	lo, hi := slices.Min(left), slices.Max(left)
	shares := []float64{0.3819660, 0.2361, 0.7071}
	between := make([][]float64, len(shares))
	for j, share := range shares {
		between[j] = at(share)
		lo, hi = min(lo, slices.Min(between[j])), max(hi, slices.Max(between[j]))
	}
	if !(hi-lo > 1e-3*max(math.Abs(lo), math.Abs(hi))) || math.IsInf(hi-lo, 0) {
		return 0, false
	}
	for i := range left {
		mean += left[i] / float64(len(left))
	}
	for j, share := range shares {
		off := 0
		for i, v := range between[j] {
			if math.Abs(v-(1-share)*left[i]-share*right[i]) > (hi-lo)/4 {
				off++
			}
		}
		if 2*off > len(left) {
			return mean, true
		}
	}
	return mean, false
}

// mostVanished is what is little of an expression.
const mostVanished = 0.01

// vanishes reports whether a narrow part, less its median nearby, is little of its addend: friction at a surface without pressure.
func (b *probe) vanishes(of part, place []float64, k int, median float64) bool {
	if of.whole == nil {
		return false
	}
	sides := make([]float64, len(place))
	sides[k] = min(2*b.steps[k], 2*b.whole[k])
	largest := func(x *expr.Expr, places [][]float64) (most float64) {
		for _, v := range b.evaluate(x, places) {
			if !math.IsNaN(v) {
				most = max(most, math.Abs(v))
			}
		}
		return most
	}
	here := largest(of.Minus(expr.Const(median)).Times(of.rest), b.scatter(place, sides, 4096))
	return here < mostVanished*largest(of.whole, b.scatter(b.middle, b.whole, 4096))
}

// singular reports whether an expression grows without bound at a place, as coefficients in polar coordinates do:
// solutions vanish there. A source, which nothing unknown multiplies, must do so slower than the inverse of the distance: of others no integral exists.
func (b *probe) singular(of part, place []float64, k int) bool {
	addend := cmp.Or(of.whole, of.Expr)
	source := !slices.ContainsFunc(b.problem.Unknowns, func(u Unknown) bool { return addend.DependsOn(u.Name) }) &&
		!slices.ContainsFunc(b.problem.Terms, func(t Term) bool { return addend.DependsOn(t.Name) })
	for _, length := range []float64{b.whole[k], -b.whole[k]} {
		y := b.evaluate(of.Expr, [][]float64{b.moved(place, k, 1e-4*length), b.moved(place, k, 1e-7*length), b.moved(place, k, 1e-10*length)})
		if math.Abs(y[1]) > 1.1*math.Abs(y[0]) && math.Abs(y[2]) > 1.1*math.Abs(y[1]) {
			return !source || math.Abs(y[2]) < 500*math.Abs(y[1]) // a thousand of the inverse
		}
	}
	return false
}
