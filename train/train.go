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
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"pihc/compute"
	"pihc/constraint"
	"pihc/data"
	"pihc/dist"
	"pihc/engine"
	"pihc/internal/dataset"
	"pihc/internal/disk"
	"pihc/internal/kernel"
	"pihc/internal/words"
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
	Stopping func()         // called when an interrupted training goes on to its checkpoint, from another goroutine; may be nil
	Logger   *slog.Logger   // nil: silent
	Build    string         // of the program; ranks that train together have the same
	stopAt   int            // stop with a checkpoint after this step, as if interrupted; 0: never
	// Comm joins the processes that train together; nil: this one alone. All call
	// Run with the same arguments; rank 0 alone reads and writes the run folder and
	// reports. Interrupted, it returns without waiting for the others, and the
	// caller ends them by Comm.Abort, as after any error.
	Comm dist.Comm
	// Slabs successive ranks of Comm share the grid of a sample (0 and 1: one has all of
	// it). This changes how sums are rounded, and nothing else.
	Slabs int
	// Info is written into a new run folder (Folder.InfoFile); nil: no such file. Its dataset_hash is compared with
	// that of the checkpoints.
	Info []byte
	// From is the folder of a run whose best parameters a new run starts from; "":
	// the ones that its seed draws.
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
	Start        float64 // the same of the parameters at the beginning; NaN where it is not known
	Skipped      int     // steps
	Samples      int     // left out of steps that were done without them
	RecoveredAt  int     // the step after which training went back; 0: it did not
	Seconds      float64
	Complete     bool // the run had all its steps before
}

// Run trains spec on the training split of dataset in the run folder dir. The
// folder must not exist, or, with Resume, hold an unfinished run of the same
// spec.
func Run(ctx context.Context, dir string, spec *model.Spec, p *pde.Problem, set *data.Dataset, o Options) (Summary, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
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
	spec    *model.Spec
	problem *pde.Problem
	dir     string
	options Options
	begin   time.Time

	engine  engine.Engine[T] // on the spec's grid, of the last stage
	info    engine.Info      // its
	stages  []model.Stage
	now     stage[T]
	pool    *compute.Pool // of Adam; nil where an engine steps by itself
	samples samples
	valid   validationSet

	state *state[T]
	meta  Meta
	lock  *disk.Lock
	log   *disk.Log // nil but on rank 0
	// update is held by the loop except while a gradient is formed: then the state is that of a whole step.
	update sync.Mutex
	// abandoned says that another goroutine is still in a step, which nobody waits for.
	abandoned bool
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
	var first []T
	if t.state.step == 0 {
		first = slices.Clone(t.state.evaluated())
	}
	complete := t.state.step == spec.Training.Steps && !t.state.Due
	if err = t.loadBaselines(); err == nil {
		err = t.enter()
	}
	if err == nil {
		err = t.interruptible(ctx)
	}
	start := math.NaN()
	if err == nil {
		start, err = t.outcome(ctx, first)
	}
	if t.writes() {
		if closing := t.log.Close(); err == nil {
			err = closing
		}
	}
	s := t.state
	return Summary{s.step, s.BestStep, float64(s.BestResidual), start, s.BadTotal, s.BadSamples, s.RecoveredAt, time.Since(t.begin).Seconds(), complete}, err
}

func newTrainer[T compute.Float](dir string, spec *model.Spec, p *pde.Problem, set *data.Dataset, o Options) (*trainer[T], error) {
	if err := checkDataset(spec, p, set, o.Resume); err != nil {
		return nil, err
	}
	encoded, err := spec.Encode()
	if err != nil {
		return nil, err
	}
	t := &trainer[T]{spec: spec, problem: p, dir: dir, options: o, begin: time.Now(), now: stage[T]{number: -1}}
	if t.stages, err = spec.Stages(p); err != nil {
		return nil, err
	}
	if t.engine, err = t.newEngine(len(t.stages) - 1); err != nil {
		return nil, err
	}
	t.info = t.engine.Info()
	if err = t.checkLoss(); err == nil {
		t.samples, err = t.trainingSamples(set)
	}
	if err == nil {
		t.valid, err = t.validationSamples(set)
	}
	if err != nil {
		t.close()
		return nil, err
	}
	boxes, _ := t.info.Router.(constraint.Boxes)
	t.meta = Meta{
		Seed: spec.Seed, Precision: spec.Network.Precision, VectorBits: kernel.Width(), SpecHash: hash(encoded), ProblemHash: dataset.ProblemHash(p),
		DatasetHash: set.Checksum, Borders: boxes,
	}
	return t, nil
}

// close ends the workers and lets others into the run folder.
func (t *trainer[T]) close() {
	if !t.abandoned {
		t.leaveStage()
		t.engine.Close()
		t.pool.Close()
	}
	if t.lock != nil {
		t.lock.Release()
	}
}

// checkDataset reports a dataset of another problem, grid or, where a run begins, number of
// training samples than the spec's: the run's record would be wrong.
func checkDataset(spec *model.Spec, p *pde.Problem, set *data.Dataset, resume bool) error {
	if set.ProblemHash != dataset.ProblemHash(p) {
		return fmt.Errorf("the dataset was generated for problem %s with another PDE file, or other constants, than the spec's problem %s has; generate it again", set.Problem, p.Name)
	}
	g, err := p.Grid(spec.Grid)
	if err != nil {
		return err
	}
	split, err := set.Split("train")
	if err != nil {
		return err
	}
	if got, want := words.Shape(split.GridShape()), words.Shape(g.Shape()); got != want {
		return fmt.Errorf("the dataset's grid is %s, the spec's is %s; generate a dataset for this grid", got, want)
	}
	if !resume && split.Count != spec.Data.Train.Count {
		return fmt.Errorf("the dataset has %d training samples, the spec's data.train.count is %d; set it to %[1]d, or generate the dataset again", split.Count, spec.Data.Train.Count)
	}
	return nil
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
	t.samples.batch.Done, t.valid.batch.Done = ctx.Done(), ctx.Done()
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
		stop := ctx.Err() != nil || s.step == t.options.stopAt
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
	if err := errors.Join(t.log.Sync(), t.now.stepper.Sync()); err != nil {
		return err
	}
	if err := writeCheckpoint(t.dir, stepName(t.state.step), t.info.Layout, t.state, t.meta, true); err != nil {
		return err
	}
	return prune(t.dir, t.lastGood())
}

// oneStep trains on one batch. A step whose loss or gradient is not finite is
// skipped. Cancelled, it changes nothing.
func (t *trainer[T]) oneStep() error {
	s, spec := t.state, &t.spec.Training
	rate := spec.Rate(s.step)
	if s.RecoveredAt > 0 {
		rate *= float64(spec.RecoveryFactor)
	}
	stats, norm, err := t.now.stepper.Step(t.nextBatch(), rate)
	if err != nil {
		return fmt.Errorf("step %d: %w", s.step+1, err)
	}
	finite := stats.FiniteStep(norm)
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
	s.Due = s.step%spec.Validate == 0 || s.step == spec.Steps || slices.Contains(spec.Restarts, s.step) // as where it ended before
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
