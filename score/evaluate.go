package score

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"pihc/compute"
	"pihc/constraint"
	"pihc/engine"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/pde"
)

// Samples are the inputs and solutions that a method is scored on.
type Samples struct {
	Inputs [][]float64       // per sample: InputSize values, its inputs, on the engine's grid
	Seeds  []constraint.Seed // per sample: the points it is constrained at
	First  int               // values of the first input; 0: all
	Grid   []int             // points of the solutions along each axis, as Evaluation.Grid
	// Unknowns are the names of several unknowns, whose fields follow one another in
	// solutions and predictions (C, P).
	Unknowns []string
	// Truth returns the classical solution of sample i (P) or (C, P), valid until the next
	// call; nil where there is none.
	Truth func(i int) ([]float64, error)
	// ReferenceError is the relative L2 distance of the solutions from solutions of another
	// refinement, 0 where that was not measured.
	ReferenceError float64
	Workers        int  // that estimate errors, 0: one on each core
	NoEstimates    bool // of errors
}

// initialMean is the mean of the first input of a sample, zero where it is what rounding to
// float32 leaves of that.
func (s *Samples) initialMean(i int) float64 {
	first := s.Inputs[i]
	if s.First > 0 {
		first = first[:s.First]
	}
	m, squares := mean(first), 0.0
	for _, x := range first {
		squares += x * x
	}
	if math.Abs(m) < 1e-7*math.Sqrt(squares/float64(len(first))) {
		return 0
	}
	return m
}

// relativeL2 returns the root mean square, over unknowns, of their relative L2 errors, and with
// several unknowns the errors by name.
func (s *Samples) relativeL2(u, truth []float64) (all float64, unknowns map[string]float64) {
	n := len(truth) / max(1, len(s.Unknowns))
	for c, name := range s.Unknowns {
		if unknowns == nil {
			unknowns = map[string]float64{}
		}
		unknowns[name] = absent(grid.RelativeL2(u[c*n:(c+1)*n], truth[c*n:(c+1)*n], 1))
	}
	return grid.RelativeL2(u, truth, max(1, len(s.Unknowns))), unknowns
}

// nrmse is the root mean square of NRMSE over unknowns.
func (s *Samples) nrmse(u, truth []float64) float64 {
	unknowns, norm := max(1, len(s.Unknowns)), 0.0
	n := len(truth) / unknowns
	for c := range unknowns {
		norm = math.Hypot(norm, nrmse(u[c*n:(c+1)*n], truth[c*n:(c+1)*n]))
	}
	return norm / math.Sqrt(float64(unknowns))
}

// between returns the values of a field (C, P) from an index of every unknown to another.
func (s *Samples) between(u []float64, from, to int) []float64 {
	var out []float64
	for part := range slices.Chunk(u, len(u)/max(1, len(s.Unknowns))) {
		out = append(out, part[from:to]...)
	}
	return out
}

// Evaluate predicts every sample and scores it, and compares the whole loss with that of
// predictions that need no training. each, which may be nil, sees
// every prediction during the call, in order; its first error ends the evaluation.
//
// With several unknowns RelativeL2, NRMSE, Unseen and Persistence are root mean squares over unknowns.
// ResidualRMS, InitialError and BoundaryError are root mean squares, over the
// whole grid, of the residual rows, the rows of initial conditions and those of
// boundary conditions, in the PDE file's weighting; RelativeResidual and its like are
// without weights. BorderJump is the root mean square difference of the two neighbouring experts' fields at the points on
// either side of every border. A prediction that is not finite scores +Inf.
func Evaluate[T compute.Float](e engine.Engine[T], params []T, s Samples, each func(i int, p *engine.Prediction) error) (*Evaluation, error) {
	begin := time.Now()
	sys, err := e.Info().Problem.Discretize(e.Info().Grid)
	if err != nil {
		return nil, err
	}
	sc, err := newScorer(e.Info(), sys, s)
	if err != nil {
		return nil, err
	}
	err = e.Predict(params, engine.Batch{Inputs: s.Inputs, Seeds: s.Seeds}, func(i int, p *engine.Prediction) error {
		if err := sc.add(i, p); err != nil || each == nil {
			return err
		}
		return each(i, p)
	})
	why := sc.estimated()
	if err != nil {
		return nil, err
	}
	trivial, err := sc.info.Trivials(s.Inputs, s.Truth)
	if err != nil {
		return nil, err
	}
	out := sc.evaluation()
	out.compare(sc.losses, trivial)
	sc.watch.judge(out, why)
	out.Seconds, out.EstimateSeconds = time.Since(begin).Seconds(), sc.estimates.Waited().Seconds()
	return out, nil
}

// scorer scores predictions one after another.
type scorer struct {
	samples    Samples
	info       engine.Info
	plain      *pde.PlainResidual
	loss       *engine.Loss
	spectra    *SpectrumSum
	errors     *overTime
	watch      *watch
	estimates  *dataset.Estimates
	persistent []float64 // workspace: the initial condition at all times
	squares    []float64 // workspace: mean squares of the rows
	seen       int       // values of an unknown within training.window

	out             *Evaluation
	losses          []float64
	iterations, rms [][]float64 // by expert
}

func newScorer(info engine.Info, sys *pde.System, s Samples) (*scorer, error) {
	plain, err := sys.NewPlainResidual()
	if err != nil {
		return nil, err
	}
	loss, err := engine.NewLoss(sys, info.Spec.Loss, nil)
	if err != nil {
		return nil, err
	}
	var estimator *dataset.Estimator
	if !s.NoEstimates {
		estimator = dataset.NewEstimator(info.Problem, info.Grid)
	}
	sc := &scorer{
		samples: s, info: info, plain: plain, loss: loss,
		spectra: NewSpectrum(info.Problem, info.Grid), errors: newOverTime(info.Problem, info.Grid), watch: newWatch(sys, s.Truth != nil),
		estimates:  estimator.Begin(s.Workers),
		persistent: make([]float64, sys.FieldSize()), squares: make([]float64, len(sys.Sets)),
		seen: info.Spec.WindowEnd(info.Grid) * info.SliceSize(),
		out: &Evaluation{
			Method: info.Spec.Method, Problem: info.Problem.Name, Grid: info.Grid.Shape(), Parameters: info.Parameters(),
			ReferenceError: s.ReferenceError,
		},
		iterations: make([][]float64, info.Experts), rms: make([][]float64, info.Experts),
	}
	for range info.Experts {
		sc.out.Experts = append(sc.out.Experts, Expert{Statuses: map[string]int{}})
	}
	return sc, nil
}

// add scores the prediction of sample i.
func (sc *scorer) add(i int, p *engine.Prediction) error {
	x := NewSample(i)
	x.InitialMean = sc.samples.initialMean(i)
	var truth []float64
	if sc.samples.Truth != nil {
		var err error
		if truth, err = sc.samples.Truth(i); err != nil {
			return err
		}
		sc.compare(&x, p.Field, truth)
	}
	if passes := max(p.Passes, sc.info.Spec.Network.Passes); passes > 1 {
		x.Passes = float64(cmp.Or(p.Passes, passes))
		x.Points = float64(cmp.Or(p.Points, passes*sc.info.Grid.Size()))
	}
	inputs := sc.samples.Inputs[i]
	x.ResidualOverRate = absent(dataset.PredictionResidual(sc.plain, sc.info.Problem, sc.info.Grid, p.Field, inputs))
	x.ConditionsOverSize = sc.watch.overSize(p.Field, inputs)
	if truth == nil {
		sc.info.Problem.Persist(sc.persistent, inputs, sc.info.Grid)
		sc.watch.add(i, p.Field, sc.persistent)
	} else {
		x.TruthConditions = sc.watch.overSize(truth, inputs)
		sc.watch.add(i, p.Field, truth)
	}
	sc.spectra.Add(p.Field, truth)
	sc.errors.add(p.Field, truth)
	rows := sc.info.Rows
	x.ResidualRMS = kindRMS(rows, p.MeanSquares, pde.ResidualRows)
	x.InitialError = kindRMS(rows, p.MeanSquares, pde.InitialRows)
	x.BoundaryError = kindRMS(rows, p.MeanSquares, pde.BoundaryRows)
	x.Residuals, x.Conditions = rowsRMS(rows, p.MeanSquares, true), rowsRMS(rows, p.MeanSquares, false)
	if sc.info.Router.Experts() > 1 {
		x.BorderJump = absent(p.JumpRMS)
	}
	for k, o := range p.Experts {
		sc.iterations[k] = append(sc.iterations[k], float64(o.Iterations))
		sc.rms[k] = append(sc.rms[k], o.ConstraintRMS)
		sc.out.Experts[k].Statuses[o.Status.String()]++
	}
	sc.out.PerSample = append(sc.out.PerSample, x)
	sc.estimates.Add(p.Field, inputs)
	loss, _ := sc.loss.Evaluate(p.Field, inputs)
	sc.losses = append(sc.losses, loss)
	return nil
}

// compare scores a field, and persistence, against the solution.
func (sc *scorer) compare(x *Sample, field, truth []float64) {
	s := &sc.samples
	x.RelativeL2, x.Unknowns = s.relativeL2(field, truth)
	x.RelativeL2, x.NRMSE = absent(x.RelativeL2), absent(s.nrmse(field, truth))
	size := sc.info.Grid.Size()
	if sc.seen < size {
		e, _ := s.relativeL2(s.between(field, sc.seen, size), s.between(truth, sc.seen, size))
		x.Unseen = absent(e)
	}
	if n := sc.info.Spec.Segments(); n > 1 {
		x.Segments = map[string]float64{}
		slice := sc.info.SliceSize()
		for k := range n {
			from, to := slice+(size-slice)*k/n, slice+(size-slice)*(k+1)/n
			e, _ := s.relativeL2(s.between(field, from, to), s.between(truth, from, to))
			x.Segments[strconv.Itoa(k+1)] = absent(e)
		}
	}
	initial := s.Inputs[x.Index]
	_, rate := sc.plain.RMS(truth, initial)
	ratio := func(u []float64) float64 {
		return absent(dataset.ResidualOver(sc.plain, sc.info.Problem, sc.info.Grid, u, initial, rate, dataset.Computed(sc.info.Problem, sc.info.Grid, truth)))
	}
	x.RelativeResidual, x.TruthResidual = ratio(field), ratio(truth)
	if !sc.info.Problem.Steady {
		sc.info.Problem.Persist(sc.persistent, initial, sc.info.Grid)
		e, _ := s.relativeL2(sc.persistent, truth)
		x.Persistence, x.PersistenceResidual = absent(e), ratio(sc.persistent)
	}
}

// estimated adds the estimates of errors to the samples, and returns why one has none, if so.
func (sc *scorer) estimated() error {
	values, why := sc.estimates.Wait()
	for i, v := range values {
		x := &sc.out.PerSample[i]
		x.ErrorEstimate, x.GridError, x.RowsError = v.Error, v.Grid, v.Rows
	}
	return why
}

// evaluation sums up the samples.
func (sc *scorer) evaluation() *Evaluation {
	for k := range sc.out.Experts {
		sc.out.Experts[k].Iterations, sc.out.Experts[k].ConstraintRMS = Summarize(sc.iterations[k]), Summarize(sc.rms[k])
	}
	sc.out.Summarize()
	sc.out.Spectra, sc.out.ErrorOverTime = sc.spectra.Mean(), sc.errors.mean()
	return sc.out
}

// rowsRMS returns the root mean squares of the rows of every residual, or of every condition, by
// name; nil if there is only one, which ResidualRMS and the like describe.
func rowsRMS(rows []engine.Rows, meanSquares []float64, residuals bool) map[string]float64 {
	all := map[string]float64{}
	for k, set := range rows {
		if residuals == (set.Kind == pde.ResidualRows) {
			all[set.Name] = absent(math.Sqrt(meanSquares[k]))
		}
	}
	if len(all) < 2 {
		return nil
	}
	return all
}

// kindRMS is the root mean square over all rows of one kind, NaN if there are
// none.
func kindRMS(rows []engine.Rows, meanSquares []float64, kind pde.Kind) float64 {
	sum, count := 0.0, 0
	for i, set := range rows {
		if set.Kind == kind {
			sum += meanSquares[i] * float64(set.Count)
			count += set.Count
		}
	}
	if count == 0 {
		return math.NaN()
	}
	return absent(math.Sqrt(sum / float64(count)))
}

// absent replaces NaN, which stands for metrics that do not apply, by +Inf: a metric that
// applies and is NaN is infinitely bad.
func absent(v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(1)
	}
	return v
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
