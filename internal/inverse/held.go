package inverse

import (
	"math"
	"slices"
	"strings"
)

// leastDerived is what a number's unit changes the predictions by, in parts of the largest value of their unknown, from which a derivative is more
// than rounding, whatever differences say: systems of derivatives are solved to this by GMRES, and rows to a hundredth of it.
const leastDerived = 1e-7

// dropRounding sets derivatives by a number to zero where they are what solves leave, as of a factor of a whole row, which no solution
// depends on: below leastDerived, and not those of a difference.
func (f *fitter) dropRounding(theta, values, jac, sizes []float64) {
	const part = 0.01 // of the unit
	n := len(theta)
	for j := range theta {
		unit, most := f.Parameters[j].unit(theta[j]), 0.0
		for i, size := range sizes {
			if v := math.Abs(jac[i*n+j]) * unit; v > 0 {
				most = max(most, v/size)
			}
		}
		if most == 0 || most > leastDerived {
			continue
		}
		moved := slices.Clone(theta)
		moved[j] += part * unit
		f.out.Evaluations++
		there, _, _, err := f.evaluate(moved)
		miss, whole := 0.0, 0.0
		for i, o := range f.Observations {
			if err != nil {
				break
			}
			linear := part * unit * jac[i*n+j] / o.Sigma
			left := (there[i]-values[i])/o.Sigma - linear
			miss, whole = miss+left*left, whole+linear*linear
		}
		if miss > whole/4 {
			for i := range sizes {
				jac[i*n+j] = 0
			}
		}
	}
}

// findHeld looks for numbers, and directions of several, along which all derivatives are zero, while a finite change is seen: a fit by
// derivatives does not move along them. They are no longer among the unseen.
func (out *Fit) findHeld() error {
	f, theta := out.last, out.Coordinates
	out.Held = make([]bool, len(theta))
	for j := range f.Parameters {
		p := &f.Parameters[j]
		if f.move(theta); f.influence(j) > 0 {
			continue
		}
		before, most := slices.Clone(f.residual[:len(f.Observations)]), max(seenLittle, f.noise)
		at, least := 0.0, math.Inf(1)
		for _, by := range []float64{-1, -0.1, 0.1, 1} {
			moved := slices.Clone(theta)
			moved[j] += by * p.unit(moved[j])
			if !(f.change(before, moved) > most) {
				continue
			}
			value, sum := p.Value(moved[j]), norm2(f.residual)
			if v, ok := f.settle(moved, j); ok {
				sum = 2 * v.floor()
			}
			if sum < least {
				at, least = value, sum
			}
		}
		if out.Held[j] = !math.IsInf(least, 1); out.Held[j] {
			out.Unseen = slices.DeleteFunc(out.Unseen, func(u Unseen) bool { return len(u.Parameters) == 1 && u.Parameters[0] == p.Name })
			out.warn("%s = %.4g is not fitted: its derivative is zero there (a comparison, a sign, a step, or a flat place), but chi-squared at %.4g is %.4g instead of %.4g; all other intervals take it as known: --value %s=... tries others",
				p.Name, p.Value(theta[j]), at, least, out.ChiSquared, p.Name)
		}
	}
	out.Unseen = slices.DeleteFunc(out.Unseen, func(u Unseen) bool { return len(u.Parameters) > 1 && u.Seen == "" && out.bent(u) })
	f.move(theta)
	return f.ctx.Err()
}

// bent reports whether chi-squared, with the other numbers fitted, changes on both sides of an unseen direction of several, which it warns of.
// On one side it may be that a positive number is at its end.
func (out *Fit) bent(u Unseen) bool {
	f, sums := out.last, [2]float64{}
	j := slices.IndexFunc(f.Parameters, func(p Parameter) bool { return p.Name == u.Parameters[0] })
	p, moved := &f.Parameters[j], []float64(nil)
	for side := range sums {
		moved = slices.Clone(out.Coordinates)
		moved[j] += 0.1 * float64(2*side-1) * p.unit(moved[j])
		v, ok := f.settle(moved, j)
		if sums[side] = 2 * v.floor(); !ok || math.Abs(sums[side]-out.ChiSquared) < max(0.05*scale(out.ChiSquared, out.Degrees), f.noise) {
			return false
		}
	}
	out.warn("%s are not all fitted: derivatives along one direction are zero (a comparison, a sign, a step, or a flat place), but chi-squared at %s = %.4g is %.4g instead of %.4g; all other intervals take them as known: --value %s=... tries others",
		strings.Join(u.Parameters, ", "), p.Name, p.Value(moved[j]), sums[1], out.ChiSquared, p.Name)
	return true
}
