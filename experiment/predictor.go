package experiment

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"pihc/compute"
	"pihc/constraint"
	"pihc/dist"
	"pihc/engine"
	"pihc/grid"
	"pihc/internal/machine"
	"pihc/internal/words"
	"pihc/model"
	"pihc/pde"
	"pihc/score"
	"pihc/train"
)

// A Predictor is a trained run on a grid, with the engine and the parameters of its network.
type Predictor interface {
	// Predict computes the fields of a batch and calls each with every sample's, in order.
	Predict(batch engine.Batch, each func(i int, p *engine.Prediction) error) error
	// Evaluate scores predictions.
	Evaluate(s score.Samples, each func(i int, p *engine.Prediction) error) (*score.Evaluation, error)
	// Info has the spec of the evaluation, with the borders of training.
	Info() engine.Info
	// Repeat says how often the network runs where that is not as trained.
	Repeat() string
	// Meta is that of the checkpoint.
	Meta() train.Meta
	Close()
}

// Evaluation says how a run is used where that differs from its training and from the block evaluation of its spec.
type Evaluation struct {
	Options
	Grid       map[string]int // points by axis; others as trained
	Points     *int           // residual rows per expert, 0: all; nil: as evaluation has it, or as many as a smaller subdomain holds
	Tolerance  float64        // of the solves' gradient; 0: as trained
	Passes     model.Passes   // 0: as evaluation has them, or as trained
	Until      *float64       // of a run with several segments of time: where the last ends, beyond the problem's time or before its end; nil: with it
	Residual   float64        // of model.AutoPasses: residual that is small enough; 0: no such test
	Last       bool           // the newest checkpoint instead of the best
	TrustEdits bool           // a run folder that was edited
	AsTrained  bool           // whatever evaluation says
	// NoEstimates leaves out the estimates of errors, which solve the problem's rows for every sample.
	NoEstimates bool
}

// evaluation is what the spec of a run says, nothing for AsTrained.
func (e *Evaluation) evaluation(spec *model.Spec) model.EvaluationSpec {
	if e.AsTrained {
		return model.EvaluationSpec{}
	}
	return spec.Evaluation
}

// passes are those of a run's evaluation, 0 where they are as trained.
func (e *Evaluation) passes(spec *model.Spec) model.Passes {
	if spec.Network.Passes > 1 {
		return cmp.Or(e.Passes, e.evaluation(spec).Passes)
	}
	return e.Passes
}

// newton reports whether passes of a run have steps of Newton's method.
func (e *Evaluation) newton(spec *model.Spec) bool {
	return e.evaluation(spec).Newton && e.passes(spec) == model.AutoPasses && spec.Method != model.Soft
}

// Repeat says how often the network of a run is repeated where that is not as trained.
func (e *Evaluation) Repeat(r *Run) string {
	spec := r.Spec
	passes := e.passes(spec)
	text := passes.String()
	if passes == model.AutoPasses && e.Residual > 0 {
		text += fmt.Sprintf(" to %g", e.Residual)
	}
	if limit := e.evaluation(spec).Limit; passes == model.AutoPasses && limit > 0 {
		text += fmt.Sprintf(", at most %d", limit)
	}
	if e.newton(spec) {
		text += ", with steps of Newton's method"
	}
	return text
}

// Grid is the grid on which an evaluation uses a run: with the zero Evaluation that of Spec.Grid, whatever stages of its
// training had.
func (r *Run) Grid(e Evaluation) (*grid.Grid, error) {
	g, err := r.grid(e)
	if err != nil {
		return nil, err
	}
	g, _, err = until(r.Spec, g, e.Until)
	return g, err
}

// until returns a grid with an end of its own, and the segments of time up to there.
func until(spec *model.Spec, g *grid.Grid, at *float64) (*grid.Grid, int, error) {
	segments := spec.Segments()
	if at == nil {
		return g, segments, nil
	}
	end := *at
	time := g.Axes[0]
	length := (time.Hi - time.Lo) / float64(segments)
	count := math.Round((end - time.Lo) / length)
	switch {
	case segments == 1:
		return nil, 0, words.WithHint(usagef("--until %g: the run has not been trained in segments of its time", end), "rollout of the spec makes one that goes on")
	case !(count >= 1 && count <= mostSegments) || math.Abs(time.Lo+count*length-end) > 1e-9*length:
		return nil, 0, words.WithHint(usagef("--until %g: a segment of %s ends at %g and every %g after that", end, time.Name, time.Lo+length, length), "want one of these, the first %d", mostSegments)
	}
	out := &grid.Grid{Axes: slices.Clone(g.Axes)}
	out.Axes[0].Hi, out.Axes[0].Points = end, (time.Points-1)/segments*int(count)+1
	return out, int(count), nil
}

// mostSegments bounds how far a prediction goes on.
const mostSegments = 1000

// grid is Grid without an end of its own.
func (r *Run) grid(e Evaluation) (*grid.Grid, error) {
	if e.Passes == 0 && !e.AsTrained {
		if err := checkRepeats(r.Spec, r.overrides); err != nil {
			return nil, err
		}
	}
	points := map[string]int{}
	maps.Copy(points, r.Spec.Grid)
	maps.Copy(points, e.Grid)
	return r.Problem.Grid(points)
}

// Open loads the parameters of a run and builds the engine that evaluates it. The decomposition is that of training.
func (r *Run) Open(e Evaluation) (Predictor, error) {
	return r.open(e, "")
}

// open is Open for a command.
func (r *Run) open(e Evaluation, command string) (Predictor, error) {
	spec := *r.Spec
	g, err := r.grid(e)
	if err == nil {
		err = r.checkRead(command, &e)
	}
	if err != nil {
		return nil, err
	}
	if trained, err := r.Problem.Grid(spec.Grid); err != nil {
		return nil, err
	} else if g.Size() > trained.Size() {
		spec.Training.MicroBatch = 1 // a sample has the memory of a training's several
	}
	said, passes := e.evaluation(r.Spec), e.passes(r.Spec)
	if n := cmp.Or(e.Points, said.Points); n != nil {
		spec.Constraint.Points = *n
	}
	if e.Tolerance > 0 {
		spec.Constraint.Tolerance = e.Tolerance
	}
	if n := said.Directions; n != nil {
		spec.Constraint.Directions = *n
	}
	if e.newton(r.Spec) {
		spec.Constraint.Directions = max(1, spec.Constraint.Directions)
	}
	switch {
	case passes == model.AutoPasses:
		spec.Network.Passes = max(spec.Network.Passes, 3)
	case passes > 0:
		spec.Network.Passes = int(passes)
	}
	if err := checkNeeds(&spec, r.Problem, g, e.Workers, e.Slabs, false); err != nil {
		return nil, err
	}
	if spec.Network.Precision == "float64" {
		return newPredictor[float64](r, &spec, g, &e)
	}
	return newPredictor[float32](r, &spec, g, &e)
}

// predictor is a run whose network has precision T.
type predictor[T compute.Float] struct {
	engine engine.Engine[T]
	params []T
	from   train.Meta
	again  string
}

// newPredictor completes the spec of the evaluation by the points of a coarser grid.
func newPredictor[T compute.Float](r *Run, spec *model.Spec, g *grid.Grid, e *Evaluation) (Predictor, error) {
	p := r.Problem
	params, meta, err := train.LoadParams[T](r.Dir, spec, p, train.LoadOptions{Last: e.Last, TrustEdits: e.TrustEdits})
	if err != nil {
		return nil, err
	}
	own, err := p.Grid(spec.Grid)
	if err != nil {
		return nil, err
	}
	router, err := spec.NewRouter(p, own)
	if err != nil {
		return nil, err
	}
	sameCount := func(x, y []float64) bool { return len(x) == len(y) }
	if boxes, ok := router.(constraint.Boxes); ok && slices.EqualFunc(boxes, meta.Borders, sameCount) { // neither method nor experts are others than in training
		router = constraint.Boxes(meta.Borders)
	}
	if e.Points == nil {
		if spec.Constraint.Points, err = spec.FittingPoints(p, own, g, router); err != nil {
			return nil, err
		}
	}
	whole, segments, err := until(spec, g, e.Until)
	if err != nil {
		return nil, err
	}
	part, err := partOf(spec, p, g)
	if err != nil {
		return nil, err
	}
	made, err := newEngine[T](part, router, e)
	if err != nil {
		return nil, err
	}
	together := spec.Training.MicroBatch
	if e.Comm != nil {
		together = max(together, e.Comm.Size()/max(1, e.Slabs))
	}
	together = max(together, engine.AtATime(made))
	if e.passes(r.Spec) == model.AutoPasses {
		if made, err = repeated(made, r, spec, g, together, e); err != nil {
			return nil, err
		}
	}
	if spec.Rollout > 1 {
		all := *spec
		all.Rollout = segments
		if made, err = engine.Rollout(made, &all, p, whole, together); err != nil {
			return nil, err
		}
	}
	return &predictor[T]{made, params, meta, e.Repeat(r)}, nil
}

// part is what the passes of a network are of: a spec, its problem and a grid, or those of a segment (rollout).
type part struct {
	spec    *model.Spec
	problem *pde.Problem
	grid    *grid.Grid
}

func partOf(spec *model.Spec, p *pde.Problem, g *grid.Grid) (x part, err error) {
	x.spec, x.problem, x.grid, err = spec.SegmentOn(p, g)
	return x, err
}

func newEngine[T compute.Float](x part, router constraint.Router, e *Evaluation) (engine.Engine[T], error) {
	said := e.evaluation(x.spec)
	return dist.NewEngine[T](x.spec, x.problem, e.engine(engine.Options{Grid: x.grid, Router: router, Blend: said.BlendWidth(), Workers: e.Workers, Samples: e.threads()}), e.Comm, e.Slabs)
}

// repeated is an engine that runs until the residual stops falling, beginning on coarser grids. It closes made if it fails.
func repeated[T compute.Float](made engine.Engine[T], r *Run, spec *model.Spec, g *grid.Grid, together int, e *Evaluation) (engine.Engine[T], error) {
	coarse, err := coarserEngines[T](spec, r.Problem, g, e)
	if err != nil {
		made.Close()
		return nil, err
	}
	said := e.evaluation(r.Spec)
	out, err := engine.Repeat(made, engine.RepeatOptions{Tolerance: e.Residual, Limit: said.MostPasses(), Together: together, Newton: e.newton(r.Spec), Workers: e.threads()}, coarse...)
	if err != nil {
		for _, c := range append(coarse, made) {
			c.Close()
		}
	}
	return out, err
}

// coarserEngines are those of the grids on which passes begin. Only the last pass has experts, and
// it is on g. A grid is left out that slabs or memory have no place for.
func coarserEngines[T compute.Float](spec *model.Spec, p *pde.Problem, g *grid.Grid, e *Evaluation) ([]engine.Engine[T], error) {
	grids, err := spec.CoarserGrids(p, g)
	if err != nil {
		return nil, err
	}
	finest, err := partOf(spec, p, g)
	if err != nil {
		return nil, err
	}
	slabs, workers := max(1, e.Slabs), e.threads()
	needs, err := engine.Estimate(spec, p, g, workers, slabs, false)
	if err != nil {
		return nil, err
	}
	bytes, have := needs.Bytes(), machine.Memory()
	var out []engine.Engine[T]
	failed := func(err error) ([]engine.Engine[T], error) {
		for _, made := range out {
			made.Close()
		}
		return nil, err
	}
	for _, c := range grids {
		on, err := partOf(spec, p, c)
		if err != nil {
			return failed(err)
		}
		coarse, router := *on.spec, constraint.NewBoxes(on.grid, nil)
		if spec.Method == model.MoE {
			coarse.Method = model.Hard
		}
		if coarse.Constraint.Points, err = coarse.FittingPoints(on.problem, finest.grid, on.grid, router); err != nil {
			return failed(err)
		}
		if needs, err = engine.Estimate(&coarse, on.problem, on.grid, workers, slabs, false); err != nil {
			return failed(err)
		}
		if have > 0 && bytes+needs.Bytes() > have {
			continue
		}
		on.spec = &coarse
		made, err := newEngine[T](on, router, e)
		if err != nil && slabs > 1 {
			continue
		}
		if err != nil {
			return failed(err)
		}
		bytes += needs.Bytes()
		out = append(out, made)
	}
	return out, nil
}

func (t *predictor[T]) Evaluate(s score.Samples, each func(i int, p *engine.Prediction) error) (*score.Evaluation, error) {
	return score.Evaluate(t.engine, t.params, s, each)
}

func (t *predictor[T]) Predict(b engine.Batch, each func(i int, p *engine.Prediction) error) error {
	return t.engine.Predict(t.params, b, each)
}

func (t *predictor[T]) Info() engine.Info { return t.engine.Info() }
func (t *predictor[T]) Repeat() string    { return t.again }
func (t *predictor[T]) Meta() train.Meta  { return t.from }
func (t *predictor[T]) Close()            { t.engine.Close() }
