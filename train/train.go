// Package train fits the parameters of an experiment: batches, Adam, schedules,
// validation, checkpoints and the run folder. Training sees initial conditions
// and the equation, never a solution but for loss.data, a control.
//
// A run folder holds spec.yaml (the resolved spec), problem.yaml (the PDE
// file), log.jsonl (one line per logged step) and checkpoints/. A run that is
// interrupted continues bitwise identically with Options.Resume.
package train

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"pihc/compute"
	"pihc/constraint"
	"pihc/data"
	"pihc/dataset"
	"pihc/dist"
	"pihc/engine"
	"pihc/internal/kernel"
	"pihc/model"
	"pihc/pde"
)

// Options says how to run, not what: nothing in it but Slabs changes a bit of the result.
type Options struct {
	Engine   string         // name of the engine; "": the default
	Plugin   string         // path of its library, where it has one
	Workers  int            // 0: all cores
	Resume   bool           // continue the run folder's newest checkpoint
	Progress func(r Record) // called after every logged step, may be nil
	Logger   *slog.Logger   // nil: silent
	Build    string         // of the program; ranks that train together have the same
	StopAt   int            // stop with a checkpoint after this step, as if interrupted; 0: never
	// Comm joins the processes that train together; nil: this one alone. All call
	// Run with the same arguments; rank 0 alone reads and writes the run folder and
	// reports. Interrupted, it returns without waiting for the others, and the
	// caller ends them by Comm.Abort, as after any error.
	Comm dist.Comm
	// Slabs successive ranks of Comm share the grid of a sample (0 and 1: one has all of
	// it). This changes how sums are rounded, and nothing else.
	Slabs int
	// Files are written into a new run folder beside the spec, by name.
	Files map[string][]byte
	// From is the folder of a run whose best parameters a new run starts from; "":
	// those that its seed draws.
	From string
}

// ErrInterrupted says that training stopped early with a checkpoint, because
// its context ended.
var ErrInterrupted = errors.New("training interrupted; a checkpoint was written")

// ErrNotFinite says that too many steps in a row had a non-finite loss or
// gradient.
var ErrNotFinite = errors.New("loss or gradient not finite")

// Summary tells how training ended.
type Summary struct {
	Steps        int
	BestStep     int
	BestResidual float64
	Skipped      int // steps
	Samples      int // left out of steps that were done without them
	RecoveredAt  int // the step after which training went back; 0: it did not
	Seconds      float64
	Complete     bool // the run had all its steps before
}

// Run trains spec on the training split of dataset in the run folder dir. The
// folder must not exist, or, with Resume, hold an unfinished run of the same
// spec.
func Run(ctx context.Context, dir string, spec *model.Spec, p *pde.Problem, set *data.Dataset, o Options) (Summary, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if o.Comm == nil {
		o.Comm = dist.Alone{}
	}
	if spec.Network.Precision == "float64" {
		return run[float64](ctx, dir, spec, p, set, o)
	}
	return run[float32](ctx, dir, spec, p, set, o)
}

// trainer is one training run in progress.
type trainer[T compute.Float] struct {
	spec     *model.Spec
	dir      string
	engine   engine.Engine[T]
	stepper  engine.Stepper[T] // the engine itself, or Adam beside it
	pool     *compute.Pool     // of Adam; nil where the engine is the stepper
	stages   []model.Stage
	stage    int              // that the stepper is of
	on       engine.Engine[T] // its engine: engine in the last stage, which is on the grid of engine
	initials [][]float64      // training samples on its grid
	problem  *pde.Problem
	info     engine.Info
	state    *state[T]
	meta     Meta
	lock     *data.Lock
	log      *data.Log  // nil but on rank 0
	update   sync.Mutex // held by the loop but while a gradient is formed, when the state is that of a whole step
	// abandoned says that another goroutine is still in a step, which nobody waits for.
	abandoned bool
	options   Options
	begin     time.Time

	initial  [][]float64 // training samples
	solved   [][]float64 // their solutions, for loss.data
	order    []int
	epoch    int
	batch    engine.Batch
	validate engine.Batch
	truth    [][]float64 // of the validation samples; nil without solutions
	still    []float64   // their losses where fields keep their initial values
	// baselines are for the first validation; nil after it.
	baselines map[string]Baseline
}

func run[T compute.Float](ctx context.Context, dir string, spec *model.Spec, p *pde.Problem, set *data.Dataset, o Options) (Summary, error) {
	t, err := newTrainer[T](dir, spec, p, set, o)
	if err != nil {
		return Summary{}, err
	}
	defer t.close()
	if err := t.join(); err != nil {
		return Summary{}, err
	}
	complete := t.state.step == spec.Training.Steps && !t.state.Due
	if err = t.loadBaselines(); err == nil {
		err = t.enter()
	}
	if err == nil {
		err = t.interruptible(ctx)
	}
	if t.writes() {
		if closing := t.log.Close(); err == nil {
			err = closing
		}
	}
	s := t.state
	return Summary{s.step, s.BestStep, float64(s.BestResidual), s.BadTotal, s.BadSamples, s.RecoveredAt, time.Since(t.begin).Seconds(), complete}, err
}

func newTrainer[T compute.Float](dir string, spec *model.Spec, p *pde.Problem, set *data.Dataset, o Options) (*trainer[T], error) {
	if err := checkDataset(spec, p, set); err != nil {
		return nil, err
	}
	if !o.Resume { // what began otherwise goes on
		if err := checkCount(spec, set); err != nil {
			return nil, err
		}
	}
	encoded, err := spec.Encode()
	if err != nil {
		return nil, err
	}
	t := &trainer[T]{spec: spec, problem: p, dir: dir, options: o, begin: time.Now(), epoch: -1, stage: -1}
	if t.stages, err = model.Stages(spec, p); err != nil {
		return nil, err
	}
	if t.engine, err = t.newEngine(len(t.stages) - 1); err != nil {
		return nil, err
	}
	t.info = t.engine.Info()
	if t.initial, err = samples(set.Initial("train")); err == nil {
		err = t.loadValidation(set)
	}
	if err == nil {
		err = t.loadSolutions(set)
	}
	if err != nil {
		t.close()
		return nil, err
	}
	t.order = make([]int, len(t.initial))
	boxes, _ := t.info.Router.(constraint.Boxes)
	t.meta = Meta{
		Seed: spec.Seed, Precision: spec.Network.Precision, VectorBits: kernel.Width(), SpecHash: hash(encoded), ProblemHash: dataset.ProblemHash(p),
		DatasetHash: set.Manifest().Checksum, Borders: boxes,
	}
	return t, nil
}

// close ends the workers and lets others into the run folder.
func (t *trainer[T]) close() {
	if !t.abandoned {
		if t.on != nil && t.on != t.engine {
			t.on.Close()
		}
		t.engine.Close()
		t.pool.Close()
	}
	if t.lock != nil {
		t.lock.Release()
	}
}

// checkDataset reports a dataset that was made for another problem or grid.
func checkDataset(spec *model.Spec, p *pde.Problem, set *data.Dataset) error {
	m := set.Manifest()
	if m.ProblemHash != dataset.ProblemHash(p) {
		return fmt.Errorf("the dataset was generated for problem %s with another PDE file, or other constants, than the spec's problem %s has; generate it again", m.Problem, p.Name)
	}
	g, err := p.Grid(spec.Grid)
	if err != nil {
		return err
	}
	split, err := set.Split("train")
	if err != nil {
		return err
	}
	if got, want := data.FormatShape(split.GridShape()), data.FormatShape(g.Shape()); got != want {
		return fmt.Errorf("the dataset's grid is %s, the spec's is %s; generate a dataset for this grid", got, want)
	}
	return nil
}

// checkCount reports a training split of another size than the spec's: the run's
// record would say what is not so.
func checkCount(spec *model.Spec, set *data.Dataset) error {
	split, err := set.Split("train")
	if err != nil {
		return err
	}
	if split.Count != spec.Data.Train.Count {
		return fmt.Errorf("the dataset has %d training samples, the spec's data.train.count is %d; set it to %[1]d, or generate the dataset again", split.Count, spec.Data.Train.Count)
	}
	return nil
}

// samples splits an array (sample, ...) into one slice a sample.
func samples(a *data.Array, err error) ([][]float64, error) {
	if err != nil {
		return nil, err
	}
	flat := a.Float64()
	width := len(flat) / a.Shape[0]
	out := make([][]float64, a.Shape[0])
	for i := range out {
		out[i] = flat[i*width : (i+1)*width]
	}
	return out, nil
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// drawn is the state before the first step.
func (t *trainer[T]) drawn() *state[T] {
	params := engine.InitialParams[T](t.info)
	n := len(params)
	s := &state[T]{State: engine.State[T]{Params: params, First: make([]T, n), Second: make([]T, n)}, counts: counts{BestResidual: data.Float(math.Inf(1))}}
	if t.spec.Training.Average > 0 {
		s.Average = slices.Clone(params)
	}
	return s
}

// loop runs the remaining steps.
func (t *trainer[T]) loop(ctx context.Context) error {
	spec, s := &t.spec.Training, t.state
	t.update.Lock()
	defer t.update.Unlock()
	t.batch.Done, t.validate.Done = ctx.Done(), ctx.Done()
	for s.step < spec.Steps || s.Due {
		err := t.enter()
		if err == nil && !s.Due {
			err = t.oneStep()
		}
		if err == nil && s.Due {
			err = t.validation()
		}
		canceled := ctx.Err() != nil && errors.Is(err, context.Canceled)
		if err != nil && !canceled {
			return err
		}
		last := s.step == spec.Steps && !s.Due
		stop := ctx.Err() != nil || s.step == t.options.StopAt
		if s.step%spec.Checkpoint == 0 || last || stop {
			if err := t.checkpoint(); err != nil {
				return err
			}
		}
		if stop && !last {
			return ErrInterrupted
		}
	}
	return nil
}

// checkpoint writes the state, on rank 0.
func (t *trainer[T]) checkpoint() error {
	if !t.writes() {
		return nil
	}
	if err := errors.Join(t.log.Sync(), t.stepper.Sync()); err != nil {
		return err
	}
	if err := writeCheckpoint(t.dir, stepName(t.state.step), t.info.Layout, t.state, t.meta, true); err != nil {
		return err
	}
	return prune(t.dir, t.lastGood())
}

// loadSolutions reads those of the training samples where loss.data has a weight.
func (t *trainer[T]) loadSolutions(set *data.Dataset) error {
	if t.spec.Loss.Data == 0 {
		return nil
	}
	if len(t.stages) > 1 {
		return errors.New("loss.data does not go with training.stages: solutions are on the spec's own grid")
	}
	split, err := set.Split("train")
	if err != nil {
		return err
	}
	if t.solved, err = samples(set.SolutionsRange("train", 0, split.Count)); err != nil {
		return fmt.Errorf("loss.data: %w; generate a dataset with loss.data in its spec", err)
	}
	t.cut(t.solved)
	return nil
}

// nextBatch selects the samples of the state's step: the data are walked
// through in an order drawn anew each epoch, so the step alone is the position.
func (t *trainer[T]) nextBatch() engine.Batch {
	n, size := len(t.initial), t.spec.Training.Batch
	t.batch.Initial, t.batch.Seeds, t.batch.Truth = t.batch.Initial[:0], t.batch.Seeds[:0], t.batch.Truth[:0]
	for i := range size {
		at := t.state.step*size + i
		if epoch := at / n; epoch != t.epoch {
			epochOrder(t.order, t.spec.Seed, epoch)
			t.epoch = epoch
		}
		sample := t.order[at%n]
		t.batch.Initial = append(t.batch.Initial, t.initials[sample])
		if t.solved != nil {
			t.batch.Truth = append(t.batch.Truth, t.solved[sample])
		}
		t.batch.Seeds = append(t.batch.Seeds, constraint.Seed{Run: t.spec.Seed, Step: uint64(t.state.step), Sample: uint64(sample)})
	}
	t.batch.Pass = 1 + t.state.step%t.spec.Network.Passes // each in turn
	t.batch.Progress = t.spec.Training.Progress(t.state.step)
	return t.batch
}

// oneStep trains on one batch. A step whose loss or gradient is not finite is
// skipped. Cancelled, it changes nothing.
func (t *trainer[T]) oneStep() error {
	s, spec := t.state, &t.spec.Training
	rate := spec.Rate(s.step)
	if s.RecoveredAt > 0 {
		rate *= float64(spec.RecoveryFactor)
	}
	stats, norm, err := t.stepper.Step(t.nextBatch(), rate)
	if err != nil {
		return fmt.Errorf("step %d: %w", s.step+1, err)
	}
	finite := engine.FiniteStep(&stats, norm)
	if finite {
		s.BadInRow = 0
	} else {
		s.BadInRow++
		s.BadTotal++
		t.options.Logger.Warn("step skipped: loss or gradient not finite", "step", s.step+1, "loss", stats.Loss, "gradient_norm", norm)
	}
	s.step++
	if stats.Skipped > 0 {
		s.BadSamples += stats.Skipped
		t.options.Logger.Warn("samples left out: loss or gradient not finite", "step", s.step, "samples", stats.Skipped)
	}
	s.Due = s.step%spec.Validate == 0 || s.step == spec.Steps
	if s.step%spec.Log == 0 || s.step == 1 || s.step == spec.Steps || !finite || stats.Skipped > 0 {
		if err := t.write(t.record(stats, norm, rate, finite)); err != nil {
			return err
		}
	}
	if s.BadInRow >= spec.MaxBadSteps {
		return t.recover()
	}
	return nil
}
