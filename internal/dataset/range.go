package dataset

import (
	"fmt"
	"math"
	"slices"

	"pihc/data"
	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/pde"
)

// rangeDraws is how many draws a Range is found by.
const rangeDraws = 64

// A Range is what inputs of a problem's distributions are like on a grid: a
// network has been trained on nothing else.
type Range struct {
	initial bool // there is nothing but the initial condition
	inputs  []inputRange
	walls   *wallRange // nil: no condition holds at ends of axes of space
}

type inputRange struct {
	pde.PlacedInput
	low, high float64 // of the values
	rough     float64 // largest root mean square of the differences of neighbours along the last axis
	small     float64 // smallest root mean square of the values that is like those drawn, 0: any is
}

// NewRange draws from the problem's distributions; nil where one is missing.
func NewRange(p *pde.Problem, g *grid.Grid) (*Range, error) {
	if !p.Drawn() {
		return nil, nil
	}
	next, err := NewSampler(p, g)
	if err != nil {
		return nil, err
	}
	r := &Range{initial: p.OnlyInitial()}
	if r.walls, err = newWallRange(p, g); err != nil {
		return nil, err
	}
	for _, in := range p.PlaceInputs(g) {
		small, err := smallest(in.Sampler, in.Space)
		if err != nil {
			return nil, err
		}
		r.inputs = append(r.inputs, inputRange{in, math.Inf(1), math.Inf(-1), 0, small})
	}
	sample := make([]float64, p.InputSize(g))
	for i := range rangeDraws {
		if err := next(data.SampleRand(1, i), sample); err != nil {
			return nil, err
		}
		r.Add(sample)
	}
	return r, nil
}

// Add makes the inputs of a sample some of those that others are compared with.
func (r *Range) Add(sample []float64) {
	for k := range r.inputs {
		in := &r.inputs[k]
		v := in.Of(sample)
		in.low, in.high = min(in.low, slices.Min(v)), max(in.high, slices.Max(v))
		in.rough = max(in.rough, in.roughness(v))
	}
	if r.walls != nil {
		r.walls.add(sample)
	}
}

// smallest is a tenth of the smallest size (root mean square) of an input's draws, of each part
// of a mixture. It is 0 where draws come near zero, the smallest size being less than a tenth of
// the median: a network has been trained on such, and 64 draws do not show where they end.
// Numbers that are drawn by their logarithm end at a bound that 64 draws come close to.
func smallest(s pde.Sampler, axes []grid.Axis) (float64, error) {
	parts, least := s.Mixture, math.Inf(1)
	if len(parts) == 0 {
		parts = []pde.Sampler{s}
	}
	size := (&grid.Grid{Axes: axes}).Size()
	v := make([]float64, size)
	for _, part := range parts {
		next, err := NewInputSampler(part, axes)
		if err != nil {
			return 0, err
		}
		uniform := part.Distribution == "uniform" || part.Distribution == "uniform-constant"
		var sizes []float64
		for i := range 64 {
			if uniform { // with both bounds
				v[0], _ = part.Constant(float64(i) / 63)
				v = v[:1]
			} else if err := next(data.SampleRand(1, i), v); err != nil {
				return 0, err
			}
			if len(s.Mixture) > 0 {
				s.Transform(v)
			}
			sizes = append(sizes, RootMeanSquare(v))
			v = v[:size]
		}
		slices.Sort(sizes)
		if sizes[0] < 0.1*sizes[32] && part.Distribution != "log-uniform" {
			return 0, nil
		}
		least = min(least, sizes[0])
	}
	return 0.1 * least, nil
}

// roughness is the root mean square of the differences of neighbours.
func (r *inputRange) roughness(v []float64) float64 {
	line := 1
	if n := len(r.Space); n > 0 {
		line = r.Space[n-1].Points
	}
	sum, n := 0.0, 0
	for i := 1; i < len(v); i++ {
		if i%line == 0 {
			continue
		}
		sum += (v[i] - v[i-1]) * (v[i] - v[i-1])
		n++
	}
	return math.Sqrt(sum / float64(max(n, 1)))
}

// Outside says how the inputs of a sample are unlike those of the distributions: values
// further outside of theirs than half their range, or of a sign that theirs have not, differences of neighbours more
// than three times theirs, a size less than a tenth of the smallest of theirs where these do
// not come near zero, or a beginning that misses the conditions of walls. It is "" for a sample that is like them.
func (r *Range) Outside(sample []float64) string {
	for i := range r.inputs {
		in := &r.inputs[i]
		v, of := in.Of(sample), ""
		if !r.initial {
			of = in.Name + ": "
		}
		low, high := slices.Min(v), slices.Max(v)
		margin := (in.high - in.low) / 2
		const rounding = 1e-6 // of values that are zero
		switch rough := in.roughness(v); {
		case low < in.low-margin || high > in.high+margin, in.low >= 0 && low < -rounding*in.high, in.high <= 0 && high > -rounding*in.low:
			return of + fmt.Sprintf("values from %.3g to %.3g; draws of the PDE file's distribution were from %.3g to %.3g", low, high, in.low, in.high)
		case rough > 3*in.rough+1e-6*max(math.Abs(in.low), math.Abs(in.high)):
			return of + fmt.Sprintf("neighbouring values differ by %.3g (root mean square); in the PDE file's distribution by %.3g at most", rough, in.rough)
		case RootMeanSquare(v) < in.small:
			return of + fmt.Sprintf("values of size %.3g (root mean square); the smallest of the PDE file's distribution are of %.3g", RootMeanSquare(v), 10*in.small)
		}
	}
	if r.walls != nil {
		return r.walls.outside(sample)
	}
	return ""
}

// A wallRange says how far fields that keep their initial values miss the conditions at ends of axes
// of space, when these first hold.
type wallRange struct {
	problem *pde.Problem
	grid    *grid.Grid
	field   []float64 // (C, P)
	slice   int
	sets    []wallSet
	squares []float64 // per unknown: of initial values, the mean over draws
}

type wallSet struct {
	name   string
	values *pde.RowValues
	of     int     // the unknown whose unit misses are in
	most   float64 // of the draws
}

// newWallRange returns nil for a problem without such conditions.
func newWallRange(p *pde.Problem, g *grid.Grid) (*wallRange, error) {
	if p.Steady || !slices.ContainsFunc(p.Conditions, func(c pde.Rows) bool { return c.At[p.Axes[0].Name] == "" }) {
		return nil, nil
	}
	sys, err := p.Discretize(g)
	if err != nil {
		return nil, err
	}
	w := &wallRange{problem: p, grid: g, field: make([]float64, sys.FieldSize()), slice: sys.SliceSize(), squares: make([]float64, len(p.Unknowns))}
	for _, set := range sys.Sets {
		if set.Kind == pde.ResidualRows || AtFirstAxis(p, set.Name) {
			continue
		}
		first := int(slices.Min(set.Points)) / w.slice
		points := slices.DeleteFunc(slices.Clone(set.Points), func(q int32) bool { return int(q)/w.slice != first })
		w.sets = append(w.sets, wallSet{name: set.Name, values: sys.NewRowValues(set, points)})
	}
	return w, nil
}

// miss returns the root mean square of the rows of a set, in the unit of one unknown.
func (w *wallRange) miss(set *wallSet, sample []float64) float64 {
	out := set.values.Eval(1, w.field, sample)
	unit, of := UnitOf(set.values.System, set.values.Set, out[1:])
	set.of = of
	return unit * RootMeanSquare(out[0])
}

func (w *wallRange) add(sample []float64) {
	w.problem.Persist(w.field, sample, w.grid)
	for i := range w.sets {
		w.sets[i].most = max(w.sets[i].most, w.miss(&w.sets[i], sample))
	}
	for c := range w.squares {
		size := len(w.field) / len(w.squares)
		w.squares[c] += kernel.SumSquares64(w.field[c*size:c*size+w.slice]) / float64(rangeDraws*w.slice)
	}
}

// mostMiss is how much of the size of initial values a sample may miss a condition by.
const mostMiss = 0.1

// outside says how far a sample misses a condition, "" where that is as little as draws do, three times over.
func (w *wallRange) outside(sample []float64) string {
	w.problem.Persist(w.field, sample, w.grid)
	for i := range w.sets {
		set := &w.sets[i]
		miss := w.miss(set, sample)
		begin := set.of * len(w.field) / len(w.squares) // of the unknown, in the field
		size := max(math.Sqrt(w.squares[set.of]), RootMeanSquare(w.field[begin:begin+w.slice]))
		if size > 0 && miss > 3*set.most+mostMiss*size {
			return fmt.Sprintf("a beginning that misses condition %s by %.0f %% of its size; the PDE file's distribution does by %.0f %% at most", set.name, 100*miss/size, 100*set.most/size)
		}
	}
	return ""
}
