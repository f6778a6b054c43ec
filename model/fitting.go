package model

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"pihc/constraint"
	"pihc/data"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/discrete"
	"pihc/pde"
)

const (
	// smoothing is a tenth of what makes S halve what the highest derivative alone would undo in the whole of the time: docs/evidence/choices.md.
	smoothing = 0.1
	// steadyLength is the length of S of a steady problem times its lowest wave number: docs/evidence/choices.md.
	steadyLength = 0.4
)

// fitting is what defaults are found from.
type fitting struct {
	problem *pde.Problem
	grid    *grid.Grid
	scales  []float64            // per unknown: SizeOf initial conditions, or about the root mean square of a steady problem's solutions, with two digits
	centers []float64            // of the same
	unsized []int                // unknowns whose size neither the spec nor a draw says
	lengths []map[string]float64 // per unknown, by rough axis: of its S
	units   []float64            // per set of rows, residuals first: factor to the unit of the first unknown
	names   []string             // of the sets
	misfit  float64              // of conditions at axes of space by initial conditions that are kept, in that unit
	miss    float64              // of those without derivatives

	multiplier float64 // the largest value of the ansatz's, which may have a unit
}

func newFitting(s *Spec, p *pde.Problem) (*fitting, error) {
	g, err := p.Grid(s.Grid)
	if err != nil {
		return nil, err
	}
	sys, err := p.Discretize(g)
	if err != nil {
		return nil, err
	}
	f := &fitting{problem: p, grid: g, multiplier: largestMultiplier(sys)}
	u0 := make([]float64, p.InputSize(g))
	var drawn []bool
	if f.scales, f.centers, drawn, err = drawnSizes(sys, u0); err != nil {
		return nil, err
	}
	given := make([]bool, len(p.Unknowns)) // by the spec, where no draw says it
	for c, u := range p.Unknowns {
		_, named := s.Network.Scales[u.Name]
		given[c] = !drawn[c] && (named || c == 0 && len(s.unset) > 0 && !slices.Contains(s.unset, "network.initial_scale"))
		switch {
		case given[c]:
			f.scales[c], f.centers[c] = s.Network.ScaleOf(u.Name), s.Network.Centers[u.Name]
		case !drawn[c]:
			f.scales[c] = cmp.Or(f.scales[c], 1)
			f.unsized = append(f.unsized, c)
		}
	}
	parts, err := mixtureParts(p, sys, u0)
	if err != nil {
		return nil, err
	}
	steady, held := make([]float64, sys.FieldSize()), make([]float64, sys.FieldSize())
	p.Persist(steady, u0, sys.Grid)
	var ofs []int // the unknown that each set says most of
	for range p.Unknowns {
		f.lengths = append(f.lengths, map[string]float64{})
	}
	leading, fixed := make([]float64, len(p.Unknowns)), fixedEnds(sys, steady, u0)
	for _, set := range sys.Sets {
		values := sys.NewRowValues(set, set.Points)
		out := values.Eval(1, steady, u0)
		unit, of := dataset.UnitOf(sys, set, out[1:])
		rms := dataset.RootMeanSquare(out[0])
		if set.Kind != pde.ResidualRows && !dataset.AtFirstAxis(p, set.Name) && !ofNoBeginning(p, set.Name) {
			misfit := rms
			for _, part := range parts {
				p.Persist(held, part, sys.Grid)
				misfit = max(misfit, dataset.RootMeanSquare(values.Eval(0, held, part)[0]))
			}
			misfit *= unit * f.scales[0] / f.scales[of]
			if f.misfit = max(f.misfit, misfit); !slices.ContainsFunc(set.Terms, func(t int) bool { return derivative(sys, t) }) {
				f.miss = max(f.miss, misfit)
			}
		}
		if p.Steady && set.Kind == pde.ResidualRows {
			// A Laplacian's lowest eigenvalue on the interval is π²/L², and the unit L²/2.
			if size := unit * rms * 2 / (math.Pi * math.Pi); !given[of] && size > 0 && !math.IsInf(size, 0) {
				f.scales[of] = Rounded(size)
			}
		}
		if set.Kind == pde.ResidualRows {
			f.smooth(sys, set, unit/f.scales[of], out[1:])
		}
		if set.Kind == pde.ResidualRows && p.Steady {
			f.smoothSteady(sys, set, out[1:], fixed, leading)
		}
		f.units, f.names, ofs = append(f.units, unit), append(f.names, set.Name), append(ofs, of)
	}
	for i, of := range ofs {
		f.units[i] *= f.scales[0] / f.scales[of]
	}
	f.respond(sys, u0)
	return f, nil
}

// respond sets the units of several residuals by what their rows make of fields, relative to the scales, where these are solutions of the linear part of the rows.
// The geometric mean of the units stays.
func (f *fitting) respond(sys *pde.System, u0 []float64) {
	residuals := len(f.problem.Residuals)
	if !f.problem.Unknowns[0].Ansatz.ByRows || residuals < 2 {
		return
	}
	rows, err := sys.NewLinearRows()
	if err != nil {
		return
	}
	responses, err := rows.Responses(u0)
	if err != nil {
		return
	}
	units, mean := make([]float64, residuals), 0.0 // of logarithms of the changes
	for i := range units {
		for c, rms := range responses[f.names[i]] {
			units[i] += rms * rms / (f.scales[c] * f.scales[c])
		}
		units[i] = math.Sqrt(units[i])
		mean += math.Log(f.units[i]/units[i]) / float64(residuals)
	}
	if math.IsNaN(mean) || math.IsInf(mean, 0) {
		return
	}
	for i, unit := range units {
		f.units[i] = unit * math.Exp(mean)
	}
}

// smooth finds the lengths of S from the slopes of a residual's rows by their terms: λ^d is smoothing times the factor of the
// derivative of order d where the row has the unit of the unknown.
func (f *fitting) smooth(sys *pde.System, set *pde.RowSet, unit float64, slopes [][]float64) {
	for j, t := range set.Terms {
		term, ok := sys.Term(t)
		if !ok || len(term.Factors) != 1 {
			continue
		}
		axis, order := term.Factors[0].Axis, term.Factors[0].Scheme.Derivative
		if !slices.Contains(f.problem.Rough(term.Of), axis) || order < 3 {
			continue
		}
		length := math.Pow(smoothing*unit*f.scales[term.Of]*dataset.RootMeanSquare(slopes[j]), 1/float64(order))
		if length > 0 && !math.IsInf(length, 0) {
			f.lengths[term.Of][axis] = Rounded(max(f.lengths[term.Of][axis], length))
		}
	}
}

// smoothSteady finds the lengths of S of a steady problem of second order from the slopes of a residual's rows by their terms, where its second derivatives are larger
// than those of residuals before, of which leading has the sums. With a_i the coefficient along axis i, v_i that of the first derivative and r of the
// unknown itself, the lowest wave number k has k² = Σ a_i (π n_i/(2 L_i))² + Σ v_i²/(4 a_i) + r: n_i ends of the axis fix values (fixedEnds), or one
// of each where none does. There is no length where solutions have kinks, which S rounds off. Lengths are in proportion to √a_i, so that S falls alike along all axes, as the residual of a wave grows.
func (f *fitting) smoothSteady(sys *pde.System, set *pde.RowSet, slopes, fixed [][]float64, leading []float64) {
	p := f.problem
	for c := range p.Unknowns {
		if p.Kinked(c) {
			continue
		}
		second, first, own := make([]float64, len(p.Axes)), make([]float64, len(p.Axes)), 0.0
		for j, t := range set.Terms {
			term, ok := sys.Term(t)
			slope := dataset.RootMeanSquare(slopes[j])
			switch {
			case !ok && sys.Terms[t].Of == c:
				own = slope
			case !ok || term.Of != c || len(term.Factors) != 1 || term.Factors[0].Edge != nil:
			case term.PerStep || term.Factors[0].Scheme.Derivative == 2:
				i := p.Axis(term.Factors[0].Axis)
				second[i] = max(second[i], slope)
			case term.Factors[0].Scheme.Derivative == 1:
				i := p.Axis(term.Factors[0].Axis)
				first[i] = max(first[i], slope)
			}
		}
		sum, square, free := 0.0, own, own
		for i, a := range second {
			if a > 0 {
				wave := math.Pi / 2 / (p.Axes[i].Hi - p.Axes[i].Lo)
				drift := first[i] * first[i] / (4 * a)
				sum, square, free = sum+a, square+a*math.Pow(wave*fixed[c][i], 2)+drift, free+a*wave*wave+drift
			}
		}
		if square == 0 {
			square = free
		}
		if !(sum > leading[c]) || math.IsInf(sum, 0) || !(square > 0) || math.IsInf(square, 0) {
			continue
		}
		leading[c] = sum
		for i, a := range second {
			if p.Smooths(c, i) == nil && p.Highest(c, i) == 2 && a > 0 {
				f.lengths[c][p.Axes[i].Name] = Rounded(steadyLength * math.Sqrt(a/square))
			}
		}
	}
}

// fixedEnds are by unknown and axis how many ends of it fix the value: 1 each where a condition gives it, 0 where one gives the slope, and in between h L/(1 + h L) of
// the slope and h times the value, L the length of the axis.
func fixedEnds(sys *pde.System, field, inputs []float64) [][]float64 {
	p := sys.Problem
	out := make([][]float64, len(p.Unknowns))
	for c := range out {
		out[c] = make([]float64, len(p.Axes))
	}
	for k, set := range sys.Sets[len(p.Residuals):] {
		i := slices.IndexFunc(p.Axes, func(a pde.DomainAxis) bool { return p.Conditions[k].At[a.Name] != "" })
		if i < 0 {
			continue
		}
		slopes := sys.NewRowValues(set, set.Points).Eval(1, field, inputs)[1:]
		value, slope := make([]float64, len(p.Unknowns)), make([]float64, len(p.Unknowns))
		for j, t := range set.Terms {
			of, order := sys.Terms[t].Of, 0
			if term, ok := sys.Term(t); ok {
				if len(term.Factors) != 1 || term.Factors[0].Axis != p.Axes[i].Name {
					continue
				}
				if order = term.Factors[0].Scheme.Derivative; term.Factors[0].Edge != nil {
					order = term.Factors[0].Edge.Derivative
				}
			}
			switch size := dataset.RootMeanSquare(slopes[j]); order {
			case 0:
				value[of] += size
			case 1:
				slope[of] += size
			}
		}
		for c, v := range value {
			if v *= p.Axes[i].Hi - p.Axes[i].Lo; v > 0 {
				out[c][i] += v / (v + slope[c])
			}
		}
	}
	return out
}

// SmoothLengths returns the lengths of S of the ansatz of each unknown, by the axes that want one: those of fourth order (Problem.Rough), of steady problems those of second order too, and of second order in
// time also that, as long as it is, where it can be divided into segments and no other axis wants one (both together were not measured).
func SmoothLengths(p *pde.Problem) ([]map[string]float64, error) {
	s := defaultSpec(fittedDefaults)
	f, err := newFitting(&s, p)
	if err != nil {
		return nil, err
	}
	if p.Steady || !discrete.Marches(p) || s.dividing(p) == 1 {
		return f.lengths, nil
	}
	for c, order := range discrete.TimeOrders(p) {
		if time := p.Axes[0]; order == 2 && len(f.lengths[c]) == 0 {
			f.lengths[c][time.Name] = time.Hi - time.Lo
		}
	}
	return f.lengths, nil
}

const (
	// mostCentered is how large a mean may be, over what values deviate from it, before they are taken about it.
	mostCentered = 2
	// leastAbout is a deviation, over the mean, that is none.
	leastAbout = 1e-6
)

// SizeOf is the size of values with a mean and a mean square: their root mean square about 0 or, where they vary little about another centre, as temperatures in kelvin do, about that.
func SizeOf(mean, square float64) (scale, center float64) {
	if about := math.Sqrt(max(0, square-mean*mean)); math.Abs(mean) > mostCentered*about && about > leastAbout*math.Abs(mean) {
		return about, mean
	}
	return math.Sqrt(square), 0
}

// drawnSizes are the SizeOf initial conditions by the unknown, over some draws, 0 where there are none or all are zero, and whether that says how much solutions vary: not
// where all values are the same, or near a mean. u0 gets the inputs of the last draw.
func drawnSizes(sys *pde.System, u0 []float64) (scales, centers []float64, say []bool, err error) {
	p := sys.Problem
	scales, centers, say = make([]float64, len(p.Unknowns)), make([]float64, len(p.Unknowns)), make([]bool, len(p.Unknowns))
	if !p.Drawn() && p.Reference.File == "" {
		return scales, centers, say, nil
	}
	next, err := dataset.NewSampler(p, sys.Grid)
	if err != nil {
		return nil, nil, nil, err
	}
	const draws = 16
	squares, means := make([]float64, len(p.Unknowns)), make([]float64, len(p.Unknowns))
	start := make([]float64, sys.FieldSize())
	for i := range draws {
		if err := next(data.SampleRand(1, i), u0); err != nil {
			return nil, nil, nil, err
		}
		stated := !p.Steady && p.Initials() == 0 // what unknowns begin with
		if stated {
			p.Persist(start, u0, sys.Grid)
		}
		for c, u := range p.Unknowns {
			var initial []float64
			switch {
			case stated:
				initial = start[c*sys.Grid.Size():][:sys.SliceSize()]
			case u.Initial < 0:
				continue
			default:
				initial = sys.Inputs[u.Initial].Of(u0)
			}
			for _, v := range initial {
				means[c] += v / float64(draws*len(initial))
				squares[c] += v * v / float64(draws*len(initial))
			}
		}
	}
	for c, square := range squares {
		if square > 0 && !math.IsInf(square, 0) {
			scale, center := SizeOf(means[c], square)
			scales[c], centers[c] = Rounded(scale), Rounded(center)
			say[c] = center == 0 && square-means[c]*means[c] > leastAbout*square
		}
	}
	return scales, centers, say, nil
}

// largestMultiplier is the largest value of an ansatz's multiplier on the grid, 1 without one.
func largestMultiplier(sys *pde.System) float64 {
	most := 0.0
	for _, v := range sys.Multiplier() {
		if v = math.Abs(v); !math.IsInf(v, 0) {
			most = max(most, v)
		}
	}
	return cmp.Or(most, 1)
}

// mixtureParts are inputs of a sample with one of them drawn from one part of its mixture, for each part:
// a few of many draws may be of a part that all others are not like.
func mixtureParts(p *pde.Problem, sys *pde.System, sample []float64) ([][]float64, error) {
	var out [][]float64
	for i, in := range p.Inputs {
		for k, part := range in.Sampler.Mixture {
			next, err := dataset.NewInputSampler(part, sys.Inputs[i].Space)
			if err != nil {
				return nil, err
			}
			drawn := slices.Clone(sample)
			v := sys.Inputs[i].Of(drawn)
			if err := next(data.SampleRand(1, k), v); err != nil {
				return nil, err
			}
			in.Sampler.Transform(v)
			out = append(out, drawn)
		}
	}
	return out, nil
}

// derivative reports whether a term is one.
func derivative(sys *pde.System, term int) bool {
	t, ok := sys.Term(term)
	return ok && (t.Spectral != nil || slices.ContainsFunc(t.Factors, func(f pde.Factor) bool {
		return f.Edge == nil && f.Scheme.Derivative > 0 || f.Edge != nil && f.Edge.Derivative > 0
	}))
}

// weights are factors times the unit of each set of rows, or its square.
func (f *fitting) weights(residual, condition float64, squared bool) map[string]float64 {
	out := map[string]float64{}
	for i, name := range f.names {
		w := condition * f.units[i]
		if i < len(f.problem.Residuals) {
			w = residual * f.units[i]
		}
		if squared {
			w *= f.units[i]
		}
		out[name] = Rounded(w)
	}
	return out
}

// centered are the centers that are not 0 by the names of the unknowns.
func (f *fitting) centered() map[string]float64 {
	out := map[string]float64{}
	for c, u := range f.problem.Unknowns {
		if f.centers[c] != 0 {
			out[u.Name] = f.centers[c]
		}
	}
	return out
}

// sizes are the scales by the names of the unknowns.
func (f *fitting) sizes() map[string]float64 {
	out := map[string]float64{}
	for c, u := range f.problem.Unknowns {
		out[u.Name] = f.scales[c]
	}
	return out
}

// modes keeps eight on the first axis and of two axes of space, twelve on a single
// one, or as many as the axis holds.
func (f *fitting) modes() map[string]int {
	out := map[string]int{}
	space := f.space()
	for _, a := range f.grid.Axes {
		most := 8
		if len(space) == 1 && a.Name == space[0].Name {
			most = 12
		}
		out[a.Name] = max(1, min(most, a.Points/2))
	}
	return out
}

// space are the axes but time.
func (f *fitting) space() []grid.Axis {
	if f.problem.Steady {
		return f.grid.Axes
	}
	return f.grid.Axes[1:]
}

// homogeneous returns the periodic axes of space whose coordinate no row, ansatz or
// condition contains: the network commutes with translations along them without it.
func (f *fitting) homogeneous() []string {
	out := []string{}
	for _, a := range f.space() {
		used := false
		for _, u := range f.problem.Unknowns {
			used = used || u.Ansatz.Offset.DependsOn(a.Name) || u.Ansatz.Multiplier.DependsOn(a.Name)
		}
		for _, r := range f.problem.AllRows() {
			used = used || r.Expr.DependsOn(a.Name) || r.Weight.DependsOn(a.Name) || r.At[a.Name] != ""
		}
		if a.Boundary == grid.Periodic && !used {
			out = append(out, a.Name)
		}
	}
	return out
}

// experts divides a single axis of space into four and each of two into two, as far
// as every part keeps eight points. A derivative of order d sees a jump at a border 1/h^d
// times: axes with derivatives of order 3 or more are not divided (docs/evidence/choices.md), nor is space where fields are
// solutions of the linear part or integrated along time: such equations carry jumps on undamped, from one segment of time into the
// next. Where no other is left, time is, into two.
func (f *fitting) experts() map[string]int {
	axes, parts := f.space(), 4
	if len(axes) > 1 {
		parts = 2
	}
	time := f.grid.Axes[0].Name
	undamped := !f.problem.Steady && slices.ContainsFunc(f.problem.Unknowns, func(u pde.Unknown) bool { return u.Ansatz.Duhamel || u.Ansatz.Smooth[time] > 0 })
	axes = slices.DeleteFunc(slices.Clone(axes), func(a grid.Axis) bool { return undamped || f.derivative(a.Name) > 2 })
	if len(axes) == 0 && !f.problem.Steady {
		axes, parts = f.grid.Axes[:1], 2
	}
	out := map[string]int{}
	for _, a := range axes {
		if n := min(parts, a.Points/8); n > 1 {
			out[a.Name] = n
		}
	}
	return out
}

// derivative is the highest order of a derivative along an axis, at all its points.
func (f *fitting) derivative(axis string) int {
	most := 0
	for _, t := range f.problem.Terms {
		order := 0
		for _, x := range t.Factors {
			if x.Axis == axis && x.Edge == nil {
				order += x.Scheme.Derivative
			}
		}
		if t.Spectral != nil && t.Spectral.Kind == "derivative" && t.Spectral.Axis == axis {
			order = t.Spectral.Derivative
		}
		most = max(most, order)
	}
	return most
}

// points is the number of rows of an expert: all, 0, unless the smallest subdomain
// has more than expertRows.
func (f *fitting) points(c *ConstraintSpec) int {
	o := constraint.Options{Experts: make([]int, len(f.grid.Axes)), Router: c.Router}
	for i, a := range f.grid.Axes {
		o.Experts[i] = max(1, c.Experts[a.Name])
	}
	router, err := o.NewRouter(f.grid)
	if err != nil {
		return 0 // the engine reports it
	}
	division, err := constraint.Divide(router, f.grid)
	if err != nil {
		return 0
	}
	for k := range router.Experts() {
		if len(division.Points(k)) < 2*expertRows {
			return 0
		}
	}
	return expertRows
}

// borderRows is that of docs/evidence/choices.md at 128 points an axis. A jump d between two
// experts shows as d/h² in the rows beside it, h the step as a fraction of the axis, and
// these are a share of all that falls as h: with a factor h^1.5 a jump costs the same on
// every grid. On coarser ones than 128 points the end grows as h^0.5.
func (f *fitting) borderRows(experts map[string]int) Ramp {
	h := 0.0
	for _, a := range f.grid.Axes {
		if experts[a.Name] > 1 {
			h = max(h, a.Step()/(a.Hi-a.Lo))
		}
	}
	if h == 0 {
		return Ramp{1, 1, 0, 1}
	}
	at := 128 * h
	return Ramp{Start: Rounded(min(1, 0.01*math.Pow(at, 1.5))), End: Rounded(min(1, 0.1*math.Sqrt(at), 0.1*math.Pow(at, 1.5))), From: 0.1, To: 0.7}
}

// Rounded keeps two digits, so that what is written reads well.
func Rounded(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 2, 64), 64)
	return v
}
