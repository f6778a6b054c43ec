package discrete

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"

	"pihc/grid"
	"pihc/internal/words"
	"pihc/pde"
)

const (
	// firstWave and waveStep are the first wave number looked at, over 2π and the length of an axis, and the factor to the next two: so large that
	// of terms with different derivatives the highest decides, also where its coefficient is small.
	firstWave, waveStep = 1 << 14, 16.0
	// unbounded is the least power of the wave number that a rate grows with: lower ones are those of roots, of rounding.
	unbounded = 0.75
	// growing is the least part of a matrix' norm that a rate is believed to be.
	growing = 1e-4
	// mostPlaces bounds the points that are looked at of each sample.
	mostPlaces = 200
)

// illPosed says where a disturbance exp(ik·x) grows at a rate without bound as the wave number k rises: finer grids then have faster growth, and
// there is nothing that they converge to. This is Petrovskii's condition (Kreiss and Lorenz, Initial-boundary value problems and the Navier-Stokes
// equations, chapter 2) with coefficients frozen at the values of initial conditions, for waves along axes and along diagonals of two. "": nowhere,
// or it cannot be told, as of spectral terms, of unknowns that the rows do not give from those with a rate in time (a pressure), and where faster waves hide slower growth.
// Where values are given at the end of time alone they go backward. everywhere: at all points that were looked at.
func illPosed(s *system, initial [][]float64) (text string, everywhere bool) {
	p, g := s.sys.Problem, s.sys.Grid
	backward := givenAtEnd(s)
	if !Marches(p) && !backward || len(p.Residuals) != len(p.Unknowns) {
		return "", false
	}
	for _, t := range p.Terms {
		if t.Spectral != nil && p.InResidual(t.Name) {
			return "", false
		}
	}
	looked, ill, all, worst, waves := 0, 0, true, "", directions(g)
	for draw, u0 := range initial {
		st := s.newState(u0)
		st.evaluate(varied(s.sys, u0, 0, 0, draw))
		bad, count := 0, 0
		places := rand.New(rand.NewPCG(5, uint64(draw))).Perm(g.Size())
		for _, q := range places[:min(len(places), mostPlaces)] {
			lines, ok := st.linesAt(int32(q))
			if !ok {
				continue
			}
			count++
			if along := slices.IndexFunc(waves, func(w []float64) bool { return st.growsWithoutBound(lines, w, backward) }); along >= 0 {
				bad++
				worst = namesOf(p, waves[along])
			}
		}
		if count == 0 {
			continue
		}
		looked++
		all = all && bad == count
		if bad > 0 {
			ill++
		}
	}
	where := "everywhere"
	switch {
	case ill == 0:
		return "", false
	case ill < looked:
		where = fmt.Sprintf("for %d of %d samples that were looked at", ill, looked)
	case !all:
		where = "at some points of all samples"
	}
	as, what := "backward in time", "is a sign reversed?"
	if backward {
		as, what = "whose values are given at the end of time", fmt.Sprintf("is a sign reversed, or does a condition at %s high belong at low?", p.Axes[0].Name)
	}
	return fmt.Sprintf("ill-posed %s: disturbances along %s grow at a rate without bound as their wave number rises, as of a heat equation %s; %s", where, worst, as, what), all
}

// givenAtEnd reports whether an equation with a rate in time has conditions at the end of it, and nothing holds an unknown at the beginning.
func givenAtEnd(s *system) bool {
	p, fixed := s.sys.Problem, fixes(s.sys)
	if p.Steady || p.Axes[0].Boundary != grid.Nodes || !marched(p) {
		return false
	}
	for f := range p.Unknowns {
		if heldAt(p, s.sys, fixed, 0, "low", f) {
			return false
		}
	}
	return slices.ContainsFunc(p.Conditions, func(c pde.Rows) bool { return c.At[p.Axes[0].Name] == "high" })
}

// line is the derivatives of one residual row by its terms.
type line struct {
	set    *pde.RowSet
	slopes []float64
}

// linesAt are the rows of all residuals at a point, not ok where there are fewer, or values are not finite.
func (st *state) linesAt(q int32) (lines []line, ok bool) {
	for k, set := range st.sys.Sets {
		if set.Kind != pde.ResidualRows {
			continue
		}
		for i, point := range set.Points {
			if point != q {
				continue
			}
			own := line{set: set, slopes: make([]float64, len(set.Terms))}
			for j := range set.Terms {
				own.slopes[j] = st.out[k][1+j][i]
				if math.IsNaN(own.slopes[j]) || math.IsInf(own.slopes[j], 0) {
					return nil, false
				}
			}
			lines = append(lines, own)
		}
	}
	return lines, len(lines) == st.fields
}

// directions are the wave vectors that are looked at, one wave over the length of each axis that they have a part of: those of axes of space, and
// of the diagonals of two.
func directions(g *grid.Grid) [][]float64 {
	var out [][]float64
	wave := func(a int) float64 { return 2 * math.Pi / (g.Axes[a].Hi - g.Axes[a].Lo) }
	for a := 1; a < len(g.Axes); a++ {
		w := make([]float64, len(g.Axes))
		w[a] = wave(a)
		out = append(out, w)
	}
	for a := 1; a < len(g.Axes); a++ {
		for b := a + 1; b < len(g.Axes); b++ {
			for _, sign := range []float64{1, -1} {
				w := make([]float64, len(g.Axes))
				w[a], w[b] = wave(a), sign*wave(b)
				out = append(out, w)
			}
		}
	}
	return out
}

// namesOf lists the axes that a wave vector has a part of.
func namesOf(p *pde.Problem, wave []float64) string {
	var names []string
	for a, k := range wave {
		if k != 0 {
			names = append(names, p.Axes[a].Name)
		}
	}
	return words.List(names)
}

// growsWithoutBound reports whether the fastest growth of exp(ik·x) in a direction, in time or backward, rises with the length of k, twice.
func (st *state) growsWithoutBound(lines []line, direction []float64, backward bool) bool {
	k, before := float64(firstWave), 0.0
	for i := range 3 {
		m := st.ratesOf(lines, direction, k)
		if m == nil {
			return false
		}
		if backward {
			for _, row := range m {
				for c := range row {
					row[c] = -row[c]
				}
			}
		}
		balance(m)
		rate := abscissa(m)
		if !(rate > growing*norm(m)) || i > 0 && rate < before*math.Pow(waveStep, unbounded) {
			return false
		}
		before, k = rate, k*waveStep
	}
	return true
}

// ratesOf is the matrix M of dv/dt = M v for the amplitudes of exp(ik·x), k so many times a direction, and of their rates where an unknown is
// of second order in time; nil where the rates of the rows do not follow from them.
func (st *state) ratesOf(lines []line, direction []float64, k float64) [][]complex128 {
	n := st.fields
	var by [orders][][]complex128 // per order in time: (rows, unknowns)
	for m := range by {
		by[m] = zeros(n, n)
	}
	for r, l := range lines {
		for j, t := range l.set.Terms {
			of, symbol, rate := t, complex(1, 0), 0
			if term, ok := st.sys.Term(t); ok {
				of = term.Of
				for _, f := range term.Factors {
					order := f.Scheme.Derivative
					if f.Edge != nil {
						return nil
					}
					if term.PerStep { // the two halves of a flux term have opposite signs
						order++
						symbol *= complex(float64(f.Scheme.Side)/2, 0)
					}
					if at := st.sys.Problem.Axis(f.Axis); at == 0 {
						rate += order
					} else if order > 0 {
						symbol *= cmplx.Pow(complex(0, k*direction[at]), complex(float64(order), 0))
					}
				}
			}
			if rate >= orders {
				return nil
			}
			by[rate][r][of] += complex(l.slopes[j], 0) * symbol
		}
	}
	// The state has all rates of each unknown below its highest, which the rows give.
	rates := TimeOrders(st.sys.Problem)
	var first []int // of each unknown, in the state
	size, highest := 0, zeros(n, n)
	for of, order := range rates {
		first = append(first, size)
		size += order
		for r := range n {
			highest[r][of] = by[order][r][of]
		}
	}
	m, rest := zeros(size, size), zeros(n, size) // minus what the highest rates equal
	for of, order := range rates {
		for o := range order {
			if o+1 < order {
				m[first[of]+o][first[of]+o+1] = 1
			}
			for r := range n {
				rest[r][first[of]+o] = by[o][r][of]
			}
		}
	}
	// An unknown without a rate is itself what the rows give.
	scale := equilibrate(highest, rest)
	if !solveComplex(highest, rest) {
		return nil
	}
	for of, order := range rates {
		for c := range size {
			if order > 0 {
				m[first[of]+order-1][c] = -rest[of][c] * scale[of]
			}
		}
	}
	return m
}

// equilibrate divides the columns of a by their largest elements, and then the rows of a and of b by those of a; the solution of the new a x = b times
// what is returned is that of the old.
func equilibrate(a, b [][]complex128) (scale []complex128) {
	scale = make([]complex128, len(a))
	for c := range a {
		largest := 0.0
		for r := range a {
			largest = max(largest, cmplx.Abs(a[r][c]))
		}
		if largest == 0 {
			continue
		}
		scale[c] = complex(1/largest, 0)
		for r := range a {
			a[r][c] *= scale[c]
		}
	}
	for r := range a {
		largest := 0.0
		for _, v := range a[r] {
			largest = max(largest, cmplx.Abs(v))
		}
		if largest == 0 {
			continue
		}
		by := complex(1/largest, 0)
		for c := range a[r] {
			a[r][c] *= by
		}
		for c := range b[r] {
			b[r][c] *= by
		}
	}
	return scale
}
