package score

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/words"
	"pihc/pde"
)

// From where predictions are warned of (docs/reference/metrics.md says which runs the numbers were looked at on).
const (
	mostMeanConditions, mostConditions = 0.1, 0.3 // of conditions_over_size, where errors are not known or estimated
	mostMeanResidual, mostResidual     = 0.5, 1.5 // of residual_over_rate, likewise
	leastSize                          = 0.1      // of predictions, over solutions; the inverse is as bad
	leastSpread                        = 0.01     // of predictions from sample to sample, over that of solutions
	conserved, mostDrift               = 1e-3, 0.02
	mostVaried, leastVaried            = 0.2, 1e-6 // of errors over what solutions vary by, and of that over their size, below which they are one value
	// heldConditions is conditions_over_size of which one says that they hold, or as much as solutions leave.
	heldConditions = 0.01
	// spreadPoints is the number of points of an unknown at which samples are compared.
	spreadPoints = 4096
)

// watch looks at predictions for what no mean over samples shows.
type watch struct {
	problem    *pde.Problem
	grid       *grid.Grid
	unknowns   []watched
	conditions []*pde.RowValues // on values, none on derivatives
	nothing    []float64        // (C, P): zeros
	points     []int            // of an unknown, at which samples are compared
	weights    []float64        // of the mean over space, by point of a slice
	truths     bool
	broken     []int // samples that are not finite
	zero       []int // samples whose solution is zero, and not the prediction
	finite     int
}

// watched is what is added up of one unknown over the samples that are finite. Of v, a solution or, where there are
// none, what fields begin with at all times.
type watched struct {
	name             string
	size, sizeOf     float64 // sums of squares of u and v
	off, sumOf       float64 // sum of squares of u - v, and sum of v
	spread, spreadOf spread
	drift            float64 // of the mean over space of u, summed over samples
	driftOf          float64 // the largest of v
}

func newWatch(sys *pde.System, truths bool) *watch {
	p, g := sys.Problem, sys.Grid
	w := &watch{problem: p, grid: g, truths: truths, nothing: make([]float64, sys.FieldSize())}
	for _, name := range p.UnknownNames() {
		w.unknowns = append(w.unknowns, watched{name: name})
	}
	for _, set := range sys.Sets {
		onValues := set.Kind != pde.ResidualRows && !slices.ContainsFunc(set.Terms, func(t int) bool { return t >= len(p.Unknowns) })
		if onValues {
			w.conditions = append(w.conditions, sys.NewRowValues(set, set.Points))
		}
	}
	rng := rand.New(rand.NewPCG(1, 0))
	for i := range min(g.Size(), spreadPoints) {
		if g.Size() > spreadPoints {
			i = rng.IntN(g.Size())
		}
		w.points = append(w.points, i)
	}
	if !p.Steady {
		w.weights = spaceWeights(g)
	}
	return w
}

// spaceWeights are those of the mean over space: the trapezoidal rule where points lie at the ends of an axis.
func spaceWeights(g *grid.Grid) []float64 {
	out, sum := make([]float64, g.Size()/g.Axes[0].Points), 0.0
	for i := range out {
		out[i] = 1
		for a, axis := range g.Axes[1:] {
			if at := i / g.Strides()[1+a] % axis.Points; axis.Boundary == grid.Nodes && (at == 0 || at == axis.Points-1) {
				out[i] /= 2
			}
		}
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// add looks at the prediction u of sample i for its inputs. v is its solution, or where there are none
// what fields begin with.
func (w *watch) add(i int, u, v []float64) {
	if square := sumSquares(u); math.IsNaN(square) || math.IsInf(square, 0) && slices.ContainsFunc(u, notFinite) {
		w.broken = append(w.broken, i)
		return
	}
	w.finite++
	n, zero := len(u)/len(w.unknowns), false
	for c := range w.unknowns {
		x, own, of := &w.unknowns[c], u[c*n:(c+1)*n], v[c*n:(c+1)*n]
		size := sumSquares(of)
		x.size, x.sizeOf = x.size+sumSquares(own), x.sizeOf+size
		for i, v := range of {
			x.off += (own[i] - v) * (own[i] - v)
			x.sumOf += v
		}
		zero = zero || w.truths && size == 0 && sumSquares(own) > 0
		x.spread.add(own, w.points)
		x.spreadOf.add(of, w.points)
		if w.weights != nil && w.truths && size > 0 {
			rms := math.Sqrt(size / float64(n))
			x.drift += w.drift(own) / rms
			x.driftOf = max(x.driftOf, w.drift(of)/rms)
		}
	}
	if zero {
		w.zero = append(w.zero, i)
	}
}

// drift is the largest change in time of the mean over space of a field of one unknown.
func (w *watch) drift(u []float64) float64 {
	first, most := 0.0, 0.0
	for slice := range slices.Chunk(u, len(w.weights)) {
		mean := 0.0
		for i, v := range slice {
			mean += w.weights[i] * v
		}
		if &slice[0] == &u[0] {
			first = mean
		}
		most = max(most, math.Abs(mean-first))
	}
	return most
}

// overSize is, for a field and the inputs of its sample, the largest root mean square of the rows of a condition on values,
// in the unit of the unknown, over that of the unknown, or of what the condition prescribes where that is larger; NaN
// without such conditions.
func (w *watch) overSize(field, inputs []float64) float64 {
	worst := math.NaN()
	n := len(field) / len(w.unknowns)
	for _, values := range w.conditions {
		prescribed := dataset.RootMeanSquare(values.Eval(0, w.nothing, inputs)[0])
		out := values.Eval(1, field, inputs)
		miss := dataset.RootMeanSquare(out[0])
		unit, of := dataset.UnitOf(values.System, values.Set, out[1:])
		over := 0.0
		if miss > 0 || math.IsNaN(miss) {
			over = absent(unit * miss / max(dataset.RootMeanSquare(field[of*n:(of+1)*n]), unit*prescribed))
		}
		if !(over <= worst) { // worst may be NaN
			worst = over
		}
	}
	return worst
}

// judge sets the verdict on an evaluation whose summaries are filled, and the warnings that are its reasons. why says why samples
// have no estimate of their error, if so.
func (w *watch) judge(e *Evaluation, why error) {
	e.Verdict, e.Warnings = Trusted, nil
	say := func(verdict, format string, args ...any) {
		if e.Warnings = append(e.Warnings, fmt.Sprintf(format, args...)); e.Verdict != Failed {
			e.Verdict = verdict
		}
	}
	if n := len(w.broken); n > 0 {
		say(Failed, "the run diverged: %d of %d predictions are not finite, sample %d is the first; log.jsonl has the loss by step, and a smaller training.learning_rate may do", n, n+w.finite, w.broken[0])
	}
	if w.finite > 0 {
		for _, line := range w.shapes() {
			say(Failed, "%s", line)
		}
	}
	failed := e.Verdict == Failed // what else is wrong follows from that
	if len(w.zero) > 0 {
		say(Doubtful, "relative_l2 of %d of %d samples is infinite: their solution is zero, and the prediction is not; sample %d is the first", len(w.zero), e.Samples, w.zero[0])
	}
	hinted := func(verdict, text, hint string) {
		if text != "" && !failed {
			text += "; " + hint
		}
		if text != "" {
			say(verdict, "%s", text)
		}
	}
	longer := "more training.steps help while the validation residual falls, as the report shows; `pihc check` tells what the rows leave"
	loss := 0.0 // says little where solutions or estimates tell
	switch {
	case w.truths:
		verdict, text := Judge("relative_l2", w.counted(e, func(s Sample) float64 { return s.RelativeL2 }))
		hinted(verdict, text, longer)
		estimated, far := Judge("error_estimate", w.counted(e, func(s Sample) float64 { return s.ErrorEstimate }))
		if far != "" && (verdict == Trusted || verdict == Doubtful && estimated == Failed) {
			say(estimated, "%s; relative_l2 is less, so that the reference or the grid is off by the difference: `pihc check` tells what the grid costs, and how many points would do", far)
		}
		if !failed {
			for _, line := range w.drifts() {
				say(Doubtful, "%s", line)
			}
			if verdict == Trusted { // else relative_l2 has said it
				for _, line := range w.varied() {
					hinted(Doubtful, line, longer)
				}
			}
		}
	case e.ErrorEstimate != nil:
		verdict, text := Judge("error_estimate", w.counted(e, func(s Sample) float64 { return s.ErrorEstimate }))
		hinted(verdict, text, longer)
	default:
		loss = e.Loss.Mean
		hinted(Doubtful, excess("residual_over_rate", w.counted(e, func(s Sample) float64 { return s.ResidualOverRate }), mostMeanResidual, mostResidual), "there are no solutions to compare with; "+longer)
		hinted(Doubtful, excess("conditions_over_size", w.counted(e, func(s Sample) float64 { return s.ConditionsOverSize }), mostMeanConditions, mostConditions), "fields miss their conditions: weights in the PDE file, or an ansatz, hold them")
	}
	if why != nil && !w.truths {
		say(Doubtful, "there are no solutions to compare with, and no estimate of the error: %v", why)
	}
	if line := Unbeaten(e.RelativeL2, loss, "loss", e.Trivial); line != "" {
		say(Failed, "%s", line)
	}
}

// counted has a metric by sample, NaN for those that are not finite or have a solution of zero, which are told of apart.
func (w *watch) counted(e *Evaluation, get func(Sample) float64) []float64 {
	out := make([]float64, len(e.PerSample))
	for i, s := range e.PerSample {
		if out[i] = get(s); slices.Contains(w.broken, s.Index) || slices.Contains(w.zero, s.Index) {
			out[i] = math.NaN()
		}
	}
	return out
}

// shapes names runs whose predictions are zero, far too large, or one field for every sample.
func (w *watch) shapes() []string {
	var out []string
	of := "the solutions"
	for i := range w.unknowns {
		x := &w.unknowns[i]
		predictions := "predictions"
		if len(w.unknowns) > 1 {
			predictions += " of " + x.name
		}
		if x.sizeOf == 0 && (w.truths || !w.problem.Steady) {
			continue // nothing to compare with
		}
		size, spread, differ := x.size/x.sizeOf, x.spread.rms(), x.spreadOf.rms()
		least, most := leastSize, 1/leastSize
		same := differ > leastSpread*math.Sqrt(x.sizeOf/float64(w.finite*w.grid.Size())) && spread < leastSpread*differ
		if !w.truths {
			// A field that begins so has this much of it at least, and nobody knows how much more.
			least, most, of = leastSize/math.Sqrt(float64(w.grid.Axes[0].Points)), math.Inf(1), "what they are to begin with"
			same = differ > 0 && spread < least*differ
			if w.problem.Steady {
				size, same = 1, w.finite > 1 && x.size > 0 && spread < 1e-6*math.Sqrt(x.size/float64(w.finite*w.grid.Size()))
			}
		}
		switch {
		case x.size == 0 && (x.sizeOf > 0 || !w.truths):
			out = append(out, "the run collapsed: "+predictions+" are zero; "+collapseHint)
		case math.Sqrt(size) < least:
			out = append(out, fmt.Sprintf("the run collapsed towards zero: the size of %s is %s of the size of %s (rms); %s", predictions, words.Percent(math.Sqrt(size)), of, collapseHint))
		case math.Sqrt(size) > most:
			out = append(out, fmt.Sprintf("the run diverged, or never came near: %s are %s times as large as %s (rms); log.jsonl has the loss by step, and a smaller training.learning_rate or a network.initial_scale as large as initial conditions may do", predictions, words.Number(math.Sqrt(size)), of))
		case same:
			out = append(out, fmt.Sprintf("the run collapsed: %s are one field for every sample, which differs by %s from sample to sample (rms), and %s by %s; %s", predictions, words.Number(spread), of, words.Number(differ), collapseHint))
		}
	}
	return out
}

const collapseHint = "larger weights of the conditions in the PDE file, or an ansatz, hold fields to their inputs"

// drifts names unknowns whose mean over space the solutions keep, and the predictions do not.
func (w *watch) drifts() []string {
	var out []string
	for _, x := range w.unknowns {
		if drift := x.drift / float64(w.finite); w.finite > 0 && w.weights != nil && x.driftOf <= conserved && x.sizeOf > 0 && drift > mostDrift {
			out = append(out, fmt.Sprintf("the mean of %s over space, which the solutions keep, drifts by %s of their size (rms; the largest change in time, mean over samples; above %g %%); a larger weight of the residual, or more of its rows in a solve, holds it", x.name, words.Percent(drift), 100*mostDrift))
		}
	}
	return out
}

// varied names unknowns whose errors are large beside what solutions vary by about their mean, of which relative_l2 says nothing.
func (w *watch) varied() []string {
	var out []string
	for _, x := range w.unknowns {
		n := float64(w.finite * w.grid.Size())
		mean := x.sumOf / n
		about := x.sizeOf - mean*mean*n
		if off := math.Sqrt(x.off / about); about > leastVaried*leastVaried*x.sizeOf && off > mostVaried {
			out = append(out, fmt.Sprintf("the error of %s is %s of what solutions vary by about their mean, %s (rms; above %g %%), which relative_l2 does not show", x.name, words.Percent(off), words.Number(mean), 100*mostVaried))
		}
	}
	return out
}

// spread adds up how fields of several samples differ at some points.
type spread struct {
	first, sum []float64
	square     float64
	count      int
}

func (s *spread) add(u []float64, points []int) {
	if s.first == nil {
		s.sum = make([]float64, len(points))
		for _, q := range points {
			s.first = append(s.first, u[q])
		}
	}
	s.count++
	for i, q := range points {
		d := u[q] - s.first[i] // small where fields are alike
		s.sum[i] += d
		s.square += d * d
	}
}

// rms is the root mean square of the difference from the mean field.
func (s *spread) rms() float64 {
	if s.count == 0 {
		return 0
	}
	n := float64(s.count)
	return math.Sqrt(max(0, s.square/n-sumSquares(s.sum)/(n*n)) / float64(len(s.sum)))
}

func sumSquares(u []float64) float64 {
	r := dataset.RootMeanSquare(u)
	return r * r * float64(len(u))
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// UnbeatenNote is Unbeaten where that is no warning: a run whose error, though not its loss, is below those of predictions
// without training.
func (e *Evaluation) UnbeatenNote() string {
	if slices.Contains(e.Warnings, e.Unbeaten) {
		return ""
	}
	return e.Unbeaten
}

// AllWarnings are the warnings, and those on other grids.
func (e *Evaluation) AllWarnings() []string {
	out := slices.Clone(e.Warnings)
	for i := range e.Grids {
		for _, line := range e.Grids[i].Warnings {
			out = append(out, "on "+words.Shape(e.Grids[i].Grid)+": "+line)
		}
	}
	return out
}

// held says whether the predictions are a solution as far as can be told without looking at the residual: they are trusted, conditions on values hold to 1 % or as solutions do, and the mean error is less than half of that of every
// prediction without training.
func (e *Evaluation) held() bool {
	if e.Verdict != Trusted || e.RelativeL2 == nil {
		return false
	}
	if c := e.ConditionsOverSize; c != nil {
		most := heldConditions
		if e.TruthConditions != nil {
			most = max(most, e.TruthConditions.Mean)
		}
		if !(c.Mean <= most) {
			return false
		}
	}
	beaten := func(s *Summary) bool { return s == nil || e.RelativeL2.Mean < s.Mean/2 }
	for _, t := range e.Trivial {
		if !beaten(t.RelativeL2) {
			return false
		}
	}
	return beaten(e.Persistence) && beaten(e.Interpolation)
}
