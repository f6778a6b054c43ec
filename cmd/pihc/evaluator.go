package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"pihc/compute"
	"pihc/constraint"
	"pihc/data"
	"pihc/dataset"
	"pihc/dist"
	"pihc/engine"
	"pihc/grid"
	"pihc/model"
	"pihc/pde"
	"pihc/score"
	"pihc/train"
)

// evaluator is a trained run on a grid, in the precision of its network.
type evaluator interface {
	evaluate(s score.Samples, each func(i int, p *engine.Prediction) error) (*score.Evaluation, error)
	predict(batch engine.Batch, each func(i int, p *engine.Prediction) error) error
	info() engine.Info
	repeat() string // its passes where not as trained
	meta() train.Meta
	close()
}

// evaluatorOptions say how a run is evaluated where that differs from training.
type evaluatorOptions struct {
	grid       map[string]int       // by axis; others as trained
	points     int                  // per expert; < 0: as evaluation has it, or as many as a smaller subdomain holds
	tolerance  float64              // 0: as trained
	passes     model.Passes         // 0: as trained
	residual   float64              // of AutoPasses: residual that is small enough; 0: no such test
	evaluation model.EvaluationSpec // what holds where these say nothing; zero: as trained
	last       bool                 // the newest checkpoint instead of the best
	trust      bool                 // a run folder that was edited
	workers    int
	engine     engineFlags
	comm       dist.Comm // nil: this process alone
	slabs      int       // of the grid, each of one rank; 0: one
}

// asTrained is the evaluation without any difference.
var asTrained = evaluatorOptions{points: -1}

// orSpec takes from the spec of a run what the options leave open.
func (o evaluatorOptions) orSpec(spec *model.Spec) evaluatorOptions {
	o.evaluation = spec.Evaluation
	if spec.Network.Passes > 1 {
		o.passes = cmp.Or(o.passes, spec.Evaluation.Passes)
	}
	return o
}

// repeat says how often the network runs where that is not as trained.
func (o evaluatorOptions) repeat() string {
	text := o.passes.String()
	if o.passes == model.AutoPasses && o.residual > 0 {
		text += fmt.Sprintf(" to %g", o.residual)
	}
	if limit := o.evaluation.Limit; o.passes == model.AutoPasses && limit > 0 {
		text += fmt.Sprintf(", at most %d", limit)
	}
	return text
}

// openEvaluator loads the parameters of a run with the spec of its training and builds its
// engine, whose info has the spec of the evaluation; the decomposition is that of training.
func openEvaluator(dir string, trainedSpec *model.Spec, p *pde.Problem, o evaluatorOptions) (evaluator, error) {
	spec := *trainedSpec
	points := maps.Clone(spec.Grid)
	maps.Copy(points, o.grid)
	g, err := p.Grid(points)
	if err != nil {
		return nil, err
	}
	if own, err := p.Grid(spec.Grid); err != nil {
		return nil, err
	} else if g.Size() > own.Size() {
		spec.Training.MicroBatch = 1 // a sample has the memory of a training's several
	}
	if o.points >= 0 {
		spec.Constraint.Points = o.points
	} else if n := o.evaluation.Points; n != nil {
		spec.Constraint.Points = *n
	}
	if o.tolerance > 0 {
		spec.Constraint.Tolerance = o.tolerance
	}
	if n := o.evaluation.Directions; n != nil {
		spec.Constraint.Directions = *n
	}
	switch {
	case o.passes == model.AutoPasses && spec.Network.Passes == 1:
		return nil, withHint(fmt.Errorf("--passes auto: run %s was trained with one pass, and its network corrects no field", dir), "network.passes and network.features of the spec make one that does")
	case o.passes == model.AutoPasses:
		spec.Network.Passes = max(spec.Network.Passes, 3)
	case o.passes > 0:
		spec.Network.Passes = int(o.passes)
	}
	if err := checkNeeds(&spec, p, g, o.workers, o.slabs, false); err != nil {
		return nil, err
	}
	if spec.Network.Precision == "float64" {
		return newTrained[float64](dir, &spec, p, g, o)
	}
	return newTrained[float32](dir, &spec, p, g, o)
}

// trained is a run whose network has precision T.
type trained[T compute.Float] struct {
	engine  engine.Engine[T]
	params  []T
	from    train.Meta
	options evaluatorOptions
}

// newTrained completes the spec of the evaluation by the points of a coarser grid.
func newTrained[T compute.Float](dir string, spec *model.Spec, p *pde.Problem, g *grid.Grid, o evaluatorOptions) (evaluator, error) {
	params, meta, err := train.LoadParams[T](dir, spec, p, train.LoadOptions{Last: o.last, TrustEdits: o.trust})
	if err != nil {
		return nil, err
	}
	own, err := p.Grid(spec.Grid)
	if err != nil {
		return nil, err
	}
	settings, err := spec.Options(p)
	if err != nil {
		return nil, err
	}
	router := constraint.NewRouter(own, settings.Experts)
	sameCount := func(x, y []float64) bool { return len(x) == len(y) }
	if slices.EqualFunc(router.Borders, meta.Borders, sameCount) { // neither method nor experts are others than in training
		router.Borders = meta.Borders
	}
	if o.points < 0 {
		if spec.Constraint.Points, err = model.FittingPoints(spec, p, own, g, router); err != nil {
			return nil, err
		}
	}
	runner, err := newEngine[T](spec, p, g, router, o)
	if err != nil {
		return nil, err
	}
	if o.passes == model.AutoPasses {
		coarse, err := coarserEngines[T](spec, p, g, o)
		if err != nil {
			runner.Close()
			return nil, err
		}
		together := spec.Training.MicroBatch
		if o.comm != nil {
			together = max(together, o.comm.Size()/max(1, o.slabs))
		}
		repeated, err := engine.Repeat(runner, engine.RepeatOptions{Tolerance: o.residual, Limit: cmp.Or(o.evaluation.Limit, model.MostPasses), Together: together}, coarse...)
		if err != nil {
			for _, e := range append(coarse, runner) {
				e.Close()
			}
			return nil, err
		}
		runner = repeated
	}
	return &trained[T]{runner, params, meta, o}, nil
}

func newEngine[T compute.Float](spec *model.Spec, p *pde.Problem, g *grid.Grid, router *constraint.Router, o evaluatorOptions) (engine.Engine[T], error) {
	return dist.NewEngine[T](spec, p, o.engine.options(engine.EngineOptions{Grid: g, Borders: router.Borders, Workers: o.workers}), o.comm, o.slabs)
}

// coarserEngines are those of the grids on which passes begin. Only the last pass has experts, and
// it is on g. A grid is left out that slabs or memory have no place for.
func coarserEngines[T compute.Float](spec *model.Spec, p *pde.Problem, g *grid.Grid, o evaluatorOptions) ([]engine.Engine[T], error) {
	grids, err := model.CoarserGrids(spec, p, g)
	if err != nil {
		return nil, err
	}
	slabs, workers := max(1, o.slabs), cmp.Or(o.workers, runtime.GOMAXPROCS(0))
	needs, err := engine.Estimate(spec, p, g, workers, slabs, false)
	if err != nil {
		return nil, err
	}
	bytes, have := needs.Bytes(), machineMemory()
	var out []engine.Engine[T]
	failed := func(err error) ([]engine.Engine[T], error) {
		for _, e := range out {
			e.Close()
		}
		return nil, err
	}
	for _, c := range grids {
		coarse, router := *spec, constraint.NewRouter(c, nil)
		if spec.Method == model.MoE {
			coarse.Method = model.Hard
		}
		if coarse.Constraint.Points, err = model.FittingPoints(&coarse, p, g, c, router); err != nil {
			return failed(err)
		}
		if needs, err = engine.Estimate(&coarse, p, c, workers, slabs, false); err != nil {
			return failed(err)
		}
		if have > 0 && bytes+needs.Bytes() > have {
			continue
		}
		e, err := newEngine[T](&coarse, p, c, router, o)
		if err != nil && slabs > 1 {
			continue
		}
		if err != nil {
			return failed(err)
		}
		bytes += needs.Bytes()
		out = append(out, e)
	}
	return out, nil
}

func (t *trained[T]) evaluate(s score.Samples, each func(i int, p *engine.Prediction) error) (*score.Evaluation, error) {
	return score.Evaluate(t.engine, t.params, s, each)
}

func (t *trained[T]) predict(b engine.Batch, each func(i int, p *engine.Prediction) error) error {
	return t.engine.Predict(t.params, b, each)
}

func (t *trained[T]) info() engine.Info { return t.engine.Info() }
func (t *trained[T]) repeat() string    { return t.options.repeat() }
func (t *trained[T]) meta() train.Meta  { return t.from }
func (t *trained[T]) close()            { t.engine.Close() }

// evaluationSeeds are the seeds of count samples: the same in every evaluation.
func evaluationSeeds(count int) []constraint.Seed {
	seeds := make([]constraint.Seed, count)
	for i := range seeds {
		seeds[i] = train.EvaluationSeed(i)
	}
	return seeds
}

// loadSamples reads the initial conditions of a split and gives access to its
// solutions, on grid g: where that is not the dataset's but has points of it
// alone, both are thinned out; elsewhere initial conditions are resampled and
// solutions computed anew. most > 0 takes the first most.
func loadSamples(set *data.Dataset, name string, p *pde.Problem, g *grid.Grid, most int) (score.Samples, error) {
	split, err := set.Split(name)
	if err != nil {
		return score.Samples{}, err
	}
	count := split.Count
	if most > 0 {
		count = min(count, most)
	}
	initial, err := set.InitialRange(name, 0, count)
	if err != nil {
		return score.Samples{}, err
	}
	from, err := p.Grid(pointsOf(split))
	if err != nil {
		return score.Samples{}, err
	}
	s := score.Samples{Initial: rowsOf(initial.Float64(), count), Seeds: evaluationSeeds(count), First: p.PlaceInputs(g)[0].Size, Grid: g.Shape()}
	if len(p.Unknowns) > 1 {
		s.Unknowns = p.UnknownNames()
	}
	if slices.Equal(g.Axes, from.Axes) {
		if split.Solve {
			s.Truth = func(i int) ([]float64, error) {
				a, err := set.SolutionsRange(name, i, 1)
				if err != nil {
					return nil, err
				}
				return a.Float64(), nil
			}
		}
		return s, nil
	}
	for i, u0 := range s.Initial {
		s.Initial[i] = dataset.InputsOn(p, u0, from, g)
	}
	if !dataset.Thins(g.Axes, from.Axes) {
		if split.Solve {
			s.Truth, err = solveOn(p, g, s.Initial, mostKept)
		}
		return s, err
	}
	if split.Solve {
		field := make([]float64, len(p.Unknowns)*g.Size())
		s.Truth = func(i int) ([]float64, error) {
			a, err := set.SolutionsRange(name, i, 1)
			if err != nil {
				return nil, err
			}
			dataset.Thin(field, a.Float64(), g.Axes, from.Axes)
			return field, nil
		}
	}
	return s, nil
}

// mostKept bounds the solutions on another grid that are kept, in bytes.
const mostKept = 1 << 28

// solveOn gives access to the classical solutions on g, valid until the next call, each solved
// once where all of them take no more than most bytes.
func solveOn(p *pde.Problem, g *grid.Grid, initial [][]float64, most int) (func(i int) ([]float64, error), error) {
	solver, err := dataset.ReferenceSolver(p, g)
	if err != nil {
		return nil, err
	}
	size := len(p.Unknowns) * g.Size()
	fields, last := make([][]float64, len(initial)), -1
	return func(i int) ([]float64, error) {
		if fields[i] != nil {
			return fields[i], nil
		}
		var field []float64
		if last >= 0 && 8*size*len(initial) > most {
			field, fields[last], last = fields[last], nil, -1
		} else {
			field = make([]float64, size)
		}
		if _, err := solver.Solve(field, initial[i]); err != nil {
			return nil, err
		}
		fields[i], last = field, i
		return field, nil
	}, nil
}

// rowsOf splits count equal rows.
func rowsOf(flat []float64, count int) [][]float64 {
	rows := make([][]float64, count)
	width := len(flat) / max(count, 1)
	for i := range rows {
		rows[i] = flat[i*width : (i+1)*width]
	}
	return rows
}

func pointsOf(split data.Split) map[string]int {
	points := map[string]int{}
	for _, a := range split.Axes {
		points[a.Name] = a.Points
	}
	return points
}

// checkRunData reports a dataset of another problem than the run's.
func checkRunData(dir string, p *pde.Problem, set *data.Dataset) error {
	if m := set.Manifest(); m.ProblemHash != dataset.ProblemHash(p) {
		return withHint(fmt.Errorf("run %s: the dataset was generated for problem %s with another PDE file", dir, m.Problem), "generate one from the run's spec: `pihc generate %s/spec.yaml --out DIR`", dir)
	}
	return nil
}

// whileRunning stops a loop over samples when ctx ends, and shows its progress.
func whileRunning(ctx context.Context, m *meter, each func(i int, p *engine.Prediction) error) func(i int, p *engine.Prediction) error {
	return func(i int, p *engine.Prediction) error {
		m.set(i+1, "")
		if err := ctx.Err(); err != nil {
			return err
		}
		if each != nil {
			return each(i, p)
		}
		return nil
	}
}
