package inverse

import (
	"cmp"
	"math"
	"slices"
)

// valley is the sum of squares near a point, by Gauss and Newton, where parameter j is held and the others move to their least.
type valley struct {
	cost, gain       float64   // half the sum at the point, and what the others take from it
	slope, curvature float64   // of the least along j
	down             []float64 // the step of the others
	along            []float64 // derivative of all parameters by j on the floor
}

// floor is half the sum of squares that the others leave.
func (v *valley) floor() float64 { return v.cost - v.gain }

// valley looks at where the fitter is. Numbers that run to an end, where the data see them no more, stay where they are.
func (f *fitter) valley(j int) (v valley) {
	var gone []int
	for {
		v = f.valleyWithout(j, gone)
		known := len(gone)
		for k, d := range v.down {
			p := &f.Parameters[k]
			if p.Log && p.Prior == nil && d*(f.at[k]-p.Coordinate(p.Start)) > 0 && f.influence(k) < seenLittle {
				gone = append(gone, k)
			}
		}
		if len(gone) == known {
			return v
		}
	}
}

// valleyWithout takes parameters as constant.
func (f *fitter) valleyWithout(j int, gone []int) (v valley) {
	cost, gradient := f.cost()
	n := len(gradient)
	v = valley{cost: cost, slope: gradient[j], down: make([]float64, n), along: make([]float64, n)}
	v.along[j] = 1
	column, others := make([]float64, n), slices.Clone(f.jacobian) // column of JᵀJ, J without it
	for i := range others {
		if k := i % n; k != j && slices.Contains(gone, k) {
			others[i] = 0
		}
		column[i%n] += others[i] * f.jacobian[i-i%n+j]
	}
	for i := j; i < len(others); i += n {
		others[i] = 0
	}
	v.curvature, column[j] = column[j], 0
	for _, k := range append(gone, j) {
		gradient[k] = 0
	}
	info := newInformation(others, n)
	down, own := info.solve(gradient), info.solve(column)
	for k := range n {
		v.down[k] = -down[k]
		v.gain += down[k] * gradient[k] / 2
		v.slope -= own[k] * gradient[k]
		v.curvature -= own[k] * column[k]
		if k != j {
			v.along[k] = -own[k]
		}
	}
	return v
}

// longest is the largest step of a logarithm.
const longest = 2

// step adds a multiple of a direction to the parameters other than j, whose logarithms take no more than the longest step.
func (f *fitter) step(at []float64, by float64, direction []float64, j int) {
	for k, d := range direction {
		if d *= by; k != j && f.Parameters[k].Log {
			d = min(max(d, -longest), longest)
		}
		at[k] += d
	}
}

// settle moves the parameters other than j to the least sum of squares: Gauss-Newton steps, halved where the sum rises. It is false
// where there is no solution, or no end of it.
func (f *fitter) settle(at []float64, j int) (v valley, ok bool) {
	const iterations, enough = 40, 2e-3
	least, best := math.Inf(1), slices.Clone(at)
	for range iterations {
		f.move(at)
		if f.err == nil {
			v = f.valley(j)
		}
		switch {
		case f.err == nil && v.cost <= least+1e-6:
			least = v.cost
			copy(best, at)
			if v.gain <= enough {
				return v, true
			}
			f.step(at, 1, v.down, j)
		case math.IsInf(least, 1):
			return v, false
		default:
			for k := range at {
				at[k] = (at[k] + best[k]) / 2
			}
		}
	}
	return v, false
}

// profile returns the coordinate of parameter j on one side of the minimum at which the sum of squares, least over all others, is larger by
// the quantile: Newton's method for its root, which is almost linear, in a bracket. It is infinite where the sum stays below; found is false where no
// solution is beyond what bracket there is. Better is a point of a smaller sum than the least, if one is met.
func (f *fitter) profile(theta []float64, j int, side, least float64) (end float64, found bool, better []float64) {
	const trials, near, slight = 40, 5e-3, 0.05
	target := math.Sqrt(Quantile)
	f.move(theta)
	from, last := f.valley(j), slices.Clone(theta) // the last point inside
	log := f.Parameters[j].Log
	d, far := target/math.Sqrt(from.curvature), 1e3*target/math.Sqrt(from.curvature)
	if log {
		d, far = min(d, longest), 12*longest
	}
	outside, x := math.Inf(int(side)), theta[j]+side*d
	for range trials {
		at := slices.Clone(last)
		f.step(at, x-last[j], from.along, j)
		v, ok := f.settle(at, j)
		rise := math.Sqrt(2 * max(v.floor()-least, 0))
		next := math.NaN()
		if rise > slight && v.slope*side > 0 {
			next = x + (target-rise)*rise/v.slope
		}
		switch {
		case ok && v.floor() < least-slight:
			return 0, false, at
		case ok && math.Abs(rise-target) < near && !math.IsNaN(next):
			return next, true, nil
		case !ok || rise > target:
			outside = x
		default:
			d, flatter := math.Abs(x-theta[j]), v.curvature < from.curvature
			from, last = v, at
			if d > far || log && d >= longest && flatter && math.Sqrt(v.curvature) < 2*seenLittle {
				return math.Inf(int(side)), true, nil
			}
		}
		if !ok {
			next = math.NaN()
		}
		if math.IsInf(outside, 0) {
			if most := theta[j] + 2*(x-theta[j]); !(math.Abs(next-theta[j]) < math.Abs(most-theta[j])) {
				next = most
			}
		} else if !((next-last[j])*side > 0 && (outside-next)*side > 0) {
			next = (last[j] + outside) / 2
		}
		if math.Abs(outside-last[j]) < 1e-3*math.Abs(last[j]-theta[j]) {
			break
		}
		x = next
	}
	return math.Inf(int(side)), false, nil
}

// seenLittle is what a factor of e of a number changes all predictions together by, in deviations, below which the data see it no more.
const seenLittle = 0.01

// influence is what a unit of a coordinate changes the predictions together by, in deviations.
func (f *fitter) influence(j int) float64 {
	sum, n := 0.0, len(f.at)
	for i := range f.Observations {
		sum += f.jacobian[i*n+j] * f.jacobian[i*n+j]
	}
	return math.Sqrt(sum)
}

// comeBack brings numbers that ran towards zero or infinity, where nothing depends on them any more, back to where the data just see
// them, and says towards which end the sum of squares falls; again is true where it falls towards the other.
func (f *fitter) comeBack(theta []float64) (ends []int, again bool) {
	ends = make([]int, len(theta))
	for j := range theta {
		p := &f.Parameters[j]
		f.move(theta)
		if !p.Log || p.Prior != nil || f.influence(j) >= seenLittle {
			continue
		}
		gone := theta[j]
		theta[j] = p.Coordinate(p.Start)
		towards := math.Copysign(1, gone-theta[j])
		for k := range 8 {
			f.move(theta)
			if f.err != nil {
				theta[j] = gone
				break
			}
			// Where the influence is lost in rounding it is zero.
			miss := max(math.Log(f.influence(j)/seenLittle), -12*longest)
			if math.Abs(miss) < 0.5 || k == 0 && miss < 0 { // it is where it belongs, or was never seen
				break
			}
			ends[j] = int(towards)
			theta[j] += towards * miss
		}
		if f.move(theta); f.err == nil && ends[j] != 0 && f.valley(j).slope*towards > 0 {
			again = true
		}
	}
	return ends, again
}

// A ProfilePoint is a number, and what the least sum of squares is above the minimum with it.
type ProfilePoint struct{ Value, Rise float64 }

// Profile returns points of a parameter's profile likelihood, from the low to the high end of its interval and a little beyond. Where an
// end is missing it goes as far as Gauss and Newton say, or a factor of e²; points without a solution are left out.
func (m *Model) Profile(fit *Fit, j, count int) (all []ProfilePoint) {
	f, p := fit.last, &m.Parameters[j]
	if math.IsInf(fit.Deviations[j], 1) {
		return nil
	}
	middle, span := fit.Coordinates[j], 2*fit.Deviations[j]
	if p.Log {
		span = min(span, longest)
	}
	for _, end := range []float64{fit.Low[j], fit.High[j]} {
		if math.IsInf(end, 0) {
			end = middle + math.Copysign(span, end)
		}
		at := slices.Clone(fit.Coordinates)
		f.move(at)
		from := f.valley(j)
		for k := range count + 1 {
			x := middle + (end-middle)*1.1*float64(k)/float64(count)
			next := slices.Clone(at)
			f.step(next, x-at[j], from.along, j)
			v, ok := f.settle(next, j)
			if !ok {
				break
			}
			at, from = next, v
			if k > 0 || end < middle {
				all = append(all, ProfilePoint{p.Value(x), 2*v.floor() - fit.ChiSquared})
			}
		}
	}
	slices.SortFunc(all, func(a, b ProfilePoint) int { return cmp.Compare(a.Value, b.Value) })
	return all
}
