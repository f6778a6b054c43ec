package discrete

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pihc/grid"
	"pihc/pde"
)

// speeds is how many waves go up an axis, down, and stay where they are.
type speeds struct{ up, down, stay int }

// wrongWaves finds ends of axes of space where a system of first order, in time and along the axis, has fewer conditions than waves that come
// in there, or more: as many as eigenvalues of its matrix along the axis with the sign of the end, which is what makes such a system well-posed (Kreiss and
// Lorenz, Initial-boundary value problems and the Navier-Stokes equations, chapter 7). It is a fault of linear rows; of others, whose waves
// may turn round later, a note. Nothing is said where the draws do not agree. Of an equation with one unknown openWalls finds what is missing; here
// it is what no condition may prescribe.
func (x *Examination) wrongWaves(s *system, initial [][]float64) {
	p := s.sys.Problem
	if len(p.Residuals) != len(p.Unknowns) || !Marches(p) || slices.Min(TimeOrders(p)) != 1 || slices.Max(TimeOrders(p)) != 1 {
		return
	}
	fixed := fixes(s.sys)
	for a, axis := range p.Axes {
		if a == 0 || axis.Boundary == grid.Periodic || !ofFirstOrder(p, axis.Name) {
			continue
		}
		var all, values [2]int // conditions, and those without a derivative along the axis
		for e, end := range []string{"low", "high"} {
			for f := range p.Unknowns {
				if fixedAt(s.sys, fixed, a, end, f) {
					all[e] = -1 // it cannot be told
				}
			}
			for _, c := range p.Conditions {
				switch {
				case c.At[axis.Name] != end:
				case len(c.At) > 1 || len(c.Weight.Variables()) > 0:
					all[e] = -1
				case all[e] >= 0:
					all[e]++
					if !slices.ContainsFunc(p.Terms, func(t pde.Term) bool { return alongAxis(t, axis.Name) >= 1 && c.Expr.DependsOn(t.Name) }) {
						values[e]++
					}
				}
			}
		}
		found, ok := s.waves(initial, a)
		if !ok {
			continue
		}
		in, stay := [2]int{found[0].up, found[1].down}, [2]int{found[0].stay, found[1].stay}
		if missing := func(e int) bool { return all[e] >= 0 && all[e] < in[e] }; len(p.Unknowns) == 1 && (missing(0) || missing(1)) {
			continue
		}
		var wrong []string
		for e, end := range []string{"low", "high"} {
			if all[e] < 0 || all[e] >= in[e] && values[e] <= in[e]+stay[e] {
				continue
			}
			wrong = append(wrong, fmt.Sprintf("%s at %s %s, where %s", count(all[e], "condition holds", "conditions hold"), axis.Name, end, count(in[e], "wave comes in", "waves come in")))
		}
		if len(wrong) == 0 {
			continue
		}
		text := strings.Join(wrong, ", and ") + ": each wave of the equations wants one condition where it comes in, and none where it leaves"
		if slices.ContainsFunc(s.sys.Sets, func(set *pde.RowSet) bool { return set.Kind == pde.ResidualRows && !set.Linear }) {
			x.Open = append(x.Open, text)
		} else {
			x.Faults = append(x.Faults, text)
		}
	}
}

// count is a number of things in words.
func count(n int, one, many string) string {
	switch n {
	case 0:
		return "no " + one
	case 1:
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// ofFirstOrder reports whether no residual has anything along an axis but first derivatives of unknowns, without ghost values.
func ofFirstOrder(p *pde.Problem, axis string) bool {
	for _, t := range p.Terms {
		if !p.InResidual(t.Name) {
			continue
		}
		if t.Spectral != nil || t.PerStep {
			return false
		}
		order := alongAxis(t, axis)
		if order > 1 || order == 1 && len(t.Factors) > 1 || slices.ContainsFunc(t.Factors, func(f pde.Factor) bool {
			return f.Edge != nil || f.Axis == axis && (f.Low != nil || f.High != nil) || f.Axis != p.Axes[0].Name && f.Axis != axis && f.Scheme.Derivative > 1
		}) {
			return false
		}
	}
	return true
}

// waves counts those at the ends of axis a (low, high) for all draws, not ok where they differ between draws or points of an end.
func (s *system) waves(initial [][]float64, a int) (found [2]speeds, ok bool) {
	g := s.sys.Grid
	stride, n := g.Strides()[a], g.Axes[a].Points
	for draw, u0 := range initial {
		st := s.newState(u0)
		st.evaluate(varied(s.sys, u0, 0, 0, draw))
		first, last := n, -1 // rows may leave out the ends themselves
		for k, set := range s.sys.Sets {
			if set.Kind != pde.ResidualRows {
				continue
			}
			low, high := n, -1
			for _, q := range s.sys.Sets[k].Points {
				low, high = min(low, int(q)/stride%n), max(high, int(q)/stride%n)
			}
			if last < 0 {
				first, last = low, high
			}
			first, last = max(first, low), min(last, high)
		}
		for end, at := range []int{first, last} {
			places := 0
			for q := 0; q < g.Size() && places < mostPlaces; q++ {
				if q/stride%n != at {
					continue
				}
				lines, complete := st.linesAt(int32(q))
				if !complete {
					continue
				}
				places++
				here, ok := st.speeds(lines, a)
				if !ok {
					return found, false
				}
				if draw == 0 && places == 1 {
					found[end] = here
				}
				if here != found[end] {
					return found, false
				}
			}
			if places == 0 {
				return found, false
			}
		}
	}
	return found, true
}

// speeds counts the waves along axis a by the signs of their speeds, the eigenvalues of the matrix of its derivatives over that of the rates; not ok
// where the rates do not follow from the rows.
func (st *state) speeds(lines []line, a int) (c speeds, ok bool) {
	n := st.fields
	rate, m := zeros(n, n), zeros(n, n)
	for r, l := range lines {
		for j, t := range l.set.Terms {
			term, ok := st.sys.Term(t)
			if !ok {
				continue
			}
			order, axis := alongOne(st.sys, t)
			switch {
			case order == 1 && axis == 0:
				rate[r][term.Of] += complex(l.slopes[j], 0)
			case order == 1 && axis == a:
				m[r][term.Of] += complex(l.slopes[j], 0)
			}
		}
	}
	scale := equilibrate(rate, m)
	if !solveComplex(rate, m) {
		return c, false
	}
	for r := range m {
		for c := range m[r] {
			m[r][c] *= scale[r]
		}
	}
	balance(m)
	small := 1e-6 * norm(m)
	above, left := signs(m, small)
	right, below := signs(m, -small)
	return speeds{above, below, right - above}, above+left == n && right+below == n
}

// signs counts the eigenvalues of m whose real part is above a number, and below, by the matrix sign function (Roberts 1980): Newton's method for
// the square root of one, from m less that number.
func signs(m [][]complex128, number float64) (above, below int) {
	n := len(m)
	x := zeros(n, n)
	for i := range n {
		copy(x[i], m[i])
		x[i][i] -= complex(number, 0)
	}
	for range 60 {
		a, inverse := zeros(n, n), zeros(n, n)
		for i := range n {
			copy(a[i], x[i])
			inverse[i][i] = 1
		}
		if !solveComplex(a, inverse) {
			return 0, 0
		}
		for i := range n {
			for j := range n {
				x[i][j] = (x[i][j] + inverse[i][j]) / 2
			}
		}
	}
	trace := 0.0
	for i := range n {
		trace += real(x[i][i])
	}
	above = int(math.Round((float64(n) + trace) / 2))
	return above, n - above
}
