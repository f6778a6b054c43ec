// Package train fits the parameters of an experiment: batches, Adam, schedules,
// validation, checkpoints and the run folder. Training sees initial conditions
// and the equation, never a solution.
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
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"pihc/constraint"
	"pihc/data"
	"pihc/dist"
	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/model"
	"pihc/pde"
)

// Record is one line of log.jsonl. Numbers that were not computed at a step are
// absent.
type Record struct {
	Step         int                   `json:"step"`
	Loss         *data.Float           `json:"loss,omitempty"`
	MeanSquares  map[string]data.Float `json:"mean_squares,omitempty"` // per set of rows
	BorderJump   *data.Float           `json:"border_jump,omitempty"`
	GradientNorm *data.Float           `json:"gradient_norm,omitempty"`
	LearningRate *data.Float           `json:"learning_rate,omitempty"`
	Iterations   *data.Float           `json:"solver_iterations,omitempty"`
	Failed       int                   `json:"solver_failed,omitempty"`
	Fallbacks    int                   `json:"adjoint_fallbacks,omitempty"`
	Skipped      bool                  `json:"skipped,omitempty"` // a non-finite loss or gradient
	// SkippedSamples were left out of the step, since theirs is not finite.
	SkippedSamples int     `json:"skipped_samples,omitempty"`
	Seconds        float64 `json:"seconds"` // since this process began training

	ValidationResidual *data.Float `json:"validation_residual,omitempty"`
	// ValidationRelative is the mean, over samples, of the root of the loss over that of
	// the field that keeps its initial values.
	ValidationRelative *data.Float `json:"validation_relative,omitempty"`
	// ValidationRMS is the root mean square of the rows of each set, over the whole grid
	// and all samples.
	ValidationRMS   map[string]data.Float `json:"validation_rms,omitempty"`
	ValidationError *data.Float           `json:"validation_relative_l2,omitempty"` // shown, never used to choose
	// Collapse is the root mean square of the predictions over that of the solutions,
	// or of the initial conditions where there are none, if it is below a tenth.
	Collapse *data.Float `json:"collapse,omitempty"`
	// RecoveredFrom is the checkpoint that training went back to after this step.
	RecoveredFrom *int `json:"recovered_from,omitempty"`
}

// Options says how to run, not what: nothing in it changes the result.
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
	// Files are written into a new run folder beside the spec, by name.
	Files map[string][]byte
	// From is the folder of a run whose best parameters a new run starts from; "":
	// those that its seed draws.
	From string
}

// collapsed is the size of predictions, relative to what is expected, below which
// training is said to go towards zero.
const collapsed = 0.1

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
type trainer[T kernel.Float] struct {
	spec     *model.Spec
	dir      string
	engine   model.Engine[T]
	stepper  model.Stepper[T] // the engine itself, or Adam beside it
	pool     *kernel.Pool     // of Adam; nil where the engine is the stepper
	stages   []model.Stage
	stage    int             // that the stepper is of
	on       model.Engine[T] // its engine: engine in the last stage, which is on the grid of engine
	initials [][]float64     // training samples on its grid
	problem  *pde.Problem
	info     model.Info
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
	order    []int
	epoch    int
	batch    model.Batch
	validate model.Batch
	truth    [][]float64 // of the validation samples; nil without solutions
	still    []float64   // their losses where fields keep their initial values
}

func run[T kernel.Float](ctx context.Context, dir string, spec *model.Spec, p *pde.Problem, set *data.Dataset, o Options) (Summary, error) {
	t, err := newTrainer[T](dir, spec, p, set, o)
	if err != nil {
		return Summary{}, err
	}
	defer t.close()
	if err := t.join(p); err != nil {
		return Summary{}, err
	}
	complete := t.state.step == spec.Training.Steps && !t.state.due
	if err = t.enter(); err == nil {
		err = t.interruptible(ctx)
	}
	if t.writes() {
		if closing := t.log.Close(); err == nil {
			err = closing
		}
	}
	s := t.state
	return Summary{s.step, s.bestStep, s.bestResidual, s.badTotal, s.badSamples, s.recoveredAt, time.Since(t.begin).Seconds(), complete}, err
}

func newTrainer[T kernel.Float](dir string, spec *model.Spec, p *pde.Problem, set *data.Dataset, o Options) (*trainer[T], error) {
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
	if err != nil {
		t.close()
		return nil, err
	}
	t.order = make([]int, len(t.initial))
	t.meta = Meta{
		Seed: spec.Seed, Precision: spec.Network.Precision, VectorBits: kernel.Width(), SpecHash: hash(encoded), ProblemHash: model.ProblemHash(p),
		DatasetHash: set.Manifest().Checksum, Borders: t.info.Borders,
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
	if m.ProblemHash != model.ProblemHash(p) {
		return fmt.Errorf("the dataset was generated for problem %s with another PDE file than the spec's problem %s; generate it again", m.Problem, p.Name)
	}
	g, err := p.Grid(spec.Grid)
	if err != nil {
		return err
	}
	split, err := set.Split("train")
	if err != nil {
		return err
	}
	if got, want := data.FormatShape(split.SolutionShape()), data.FormatShape(g.Shape()); got != want {
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

func (t *trainer[T]) loadValidation(set *data.Dataset) error {
	split, err := set.Split("validation")
	if err != nil {
		return err
	}
	count := split.Count
	if n := t.spec.Training.ValidateCount; n > 0 && n < count {
		count = n
	}
	if t.validate.Initial, err = samples(set.InitialRange("validation", 0, count)); err != nil {
		return err
	}
	for i := range count {
		t.validate.Seeds = append(t.validate.Seeds, EvaluationSeed(i))
	}
	if split.Solve {
		if t.truth, err = samples(set.SolutionsRange("validation", 0, count)); err != nil {
			return err
		}
		for i := range t.truth { // as far as training goes
			t.truth[i] = t.truth[i][:t.info.Grid.Size()]
		}
	}
	t.still, err = model.StillLosses(t.info, t.validate.Initial)
	return err
}

// EvaluationSeed is the seed of the points sample i is constrained at outside
// training: the same in every evaluation, and apart from every training seed.
func EvaluationSeed(i int) constraint.Seed {
	return constraint.Seed{Run: 0x6576616c, Step: math.MaxUint64, Sample: uint64(i)}
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// open makes the run folder, or reads the newest checkpoint of the one to
// resume.
func (t *trainer[T]) open(p *pde.Problem) error {
	path := filepath.Join(t.dir, LogFile)
	var err error
	if !t.options.Resume {
		if t.lock, err = makeRun(t.dir, t.spec, p, t.options.Files); err != nil {
			return err
		}
		if err := t.start(); err != nil {
			return err
		}
		if t.log, err = data.CreateLog(path); err != nil || t.options.From == "" {
			return err
		}
		return t.takeOver()
	}
	if t.lock, err = claim(t.dir); err != nil {
		return err
	}
	if err := t.sameRun(); err != nil {
		return err
	}
	names, err := stepCheckpoints(t.dir)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		// Stopped before the first checkpoint: the beginning is the state.
		if err := t.start(); err != nil {
			return err
		}
		t.log, err = openLog(t.dir, t.meta, &t.spec.Training)
		return err
	}
	name := names[len(names)-1]
	s, m, err := readCheckpoint[T](t.dir, name, t.info.Layout, true)
	if err != nil {
		for _, older := range slices.Backward(names[:len(names)-1]) {
			if _, _, e := readCheckpoint[T](t.dir, older, t.info.Layout, true); e == nil {
				return &DamagedError{Run: t.dir, Checkpoint: name, Older: older, Err: err}
			}
		}
		return err
	}
	if m.VectorBits != 0 && m.VectorBits != t.meta.VectorBits {
		t.options.Logger.Warn("the run was trained with vectors of another width: it goes on, with other rounding", "bits", m.VectorBits, "now", t.meta.VectorBits)
	}
	for _, c := range []struct{ what, got, want string }{
		{"spec", m.SpecHash, t.meta.SpecHash}, {"PDE file", m.ProblemHash, t.meta.ProblemHash}, {"dataset", m.DatasetHash, t.meta.DatasetHash},
	} {
		if c.got != c.want {
			return fmt.Errorf("run %s was trained with another %s (hash %.12s, now %.12s); resume needs the same one", t.dir, c.what, c.got, c.want)
		}
	}
	t.state = s
	t.log, err = openLog(t.dir, m, &t.spec.Training)
	t.options.Logger.Info("resumed", "run", t.dir, "step", s.step)
	return err
}

// sameRun compares the spec and the PDE file given with those of the run folder.
// Checkpoints record the hash of the spec as it is stored: what is stored keeps it
// when the same spec is written in another way.
func (t *trainer[T]) sameRun() error {
	path := filepath.Join(t.dir, SpecFile)
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	stored, err := model.LoadSpec(path, src)
	if err != nil {
		return err
	}
	encoded, err := stored.Encode()
	if err != nil {
		return err
	}
	if hash(encoded) != t.meta.SpecHash {
		return fmt.Errorf("run %s was begun with another spec than the one given; resume needs the same one", t.dir)
	}
	t.meta.SpecHash = hash(src)
	if src, err = os.ReadFile(filepath.Join(t.dir, ProblemFile)); err != nil {
		return err
	}
	if hash(src) != t.meta.ProblemHash {
		return fmt.Errorf("run %s was begun with another PDE file than the one given; resume needs the same one", t.dir)
	}
	return nil
}

// start sets the state before the first step.
func (t *trainer[T]) start() error {
	t.state = &state[T]{State: t.initialState(), bestResidual: infinity}
	return nil
}

func (t *trainer[T]) initialState() model.State[T] {
	params := model.InitialParams[T](t.info)
	n := len(params)
	s := model.State[T]{Params: params, First: make([]T, n), Second: make([]T, n)}
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
	for s.step < spec.Steps || s.due {
		err := t.enter()
		if err == nil && !s.due {
			err = t.oneStep()
		}
		if err == nil && s.due {
			err = t.validation()
		}
		canceled := ctx.Err() != nil && errors.Is(err, context.Canceled)
		if err != nil && !canceled {
			return err
		}
		last := s.step == spec.Steps && !s.due
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

// nextBatch selects the samples of the state's step: the data are walked
// through in an order drawn anew each epoch, so the step alone is the position.
func (t *trainer[T]) nextBatch() model.Batch {
	n, size := len(t.initial), t.spec.Training.Batch
	t.batch.Initial, t.batch.Seeds = t.batch.Initial[:0], t.batch.Seeds[:0]
	for i := range size {
		at := t.state.step*size + i
		if epoch := at / n; epoch != t.epoch {
			epochOrder(t.order, t.spec.Seed, epoch)
			t.epoch = epoch
		}
		sample := t.order[at%n]
		t.batch.Initial = append(t.batch.Initial, t.initials[sample])
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
	if s.recoveredAt > 0 {
		rate *= float64(spec.RecoveryFactor)
	}
	stats, norm, err := t.stepper.Step(t.nextBatch(), rate)
	if err != nil {
		return fmt.Errorf("step %d: %w", s.step+1, err)
	}
	finite := finite(&stats, norm)
	if finite {
		s.badInRow = 0
	} else {
		s.badInRow++
		s.badTotal++
		t.options.Logger.Warn("step skipped: loss or gradient not finite", "step", s.step+1, "loss", stats.Loss, "gradient_norm", norm)
	}
	s.step++
	if stats.Skipped > 0 {
		s.badSamples += stats.Skipped
		t.options.Logger.Warn("samples left out: loss or gradient not finite", "step", s.step, "samples", stats.Skipped)
	}
	s.due = s.step%spec.Validate == 0 || s.step == spec.Steps
	if s.step%spec.Log == 0 || s.step == 1 || s.step == spec.Steps || !finite || stats.Skipped > 0 {
		if err := t.write(t.record(stats, norm, rate, finite)); err != nil {
			return err
		}
	}
	if s.badInRow >= spec.MaxBadSteps {
		return t.recover()
	}
	return nil
}

func number(v float64) *data.Float { f := data.Float(v); return &f }

func (t *trainer[T]) record(st model.Stats, norm, rate float64, finite bool) Record {
	r := Record{
		Step: t.state.step, Loss: number(st.Loss), MeanSquares: map[string]data.Float{},
		GradientNorm: number(norm), LearningRate: number(rate), Failed: st.Failed, Fallbacks: st.Fallbacks, Skipped: !finite, SkippedSamples: st.Skipped,
	}
	for i, rows := range t.info.Rows {
		r.MeanSquares[rows.Name] = data.Float(st.MeanSquares[i])
	}
	if t.spec.Method != model.Soft {
		r.BorderJump, r.Iterations = number(math.Sqrt(st.JumpSquare)), number(st.Iterations)
	}
	return r
}

func (t *trainer[T]) write(r Record) error {
	if !t.writes() {
		return nil
	}
	r.Seconds = math.Round(1e3*time.Since(t.begin).Seconds()) / 1e3
	if err := t.log.Write(r); err != nil {
		return err
	}
	if t.options.Progress != nil {
		t.options.Progress(r)
	}
	return nil
}

// validation evaluates the fixed validation samples, and keeps the parameters
// as the best checkpoint if they are, by training.best.
func (t *trainer[T]) validation() error {
	s := t.state
	if err := t.stepper.Sync(); err != nil {
		return err
	}
	var sum, relative, errs, size, expected float64
	squares := make([]float64, len(t.info.Rows))
	root := func(loss float64) float64 {
		if t.spec.Loss.Form == "norm" {
			return loss
		}
		return math.Sqrt(loss)
	}
	t.update.Unlock() // the state does not change here
	err := t.engine.Predict(s.evaluated(), t.validate, func(i int, p *model.Prediction) error {
		sum += p.Loss
		for k, v := range p.MeanSquares {
			squares[k] += v
		}
		relative += root(p.Loss / t.still[i])
		like := t.validate.Initial[i]
		if t.truth != nil {
			like = t.truth[i]
		}
		size += grid.Norm(p.Field) / math.Sqrt(float64(len(p.Field)))
		expected += grid.Norm(like) / math.Sqrt(float64(len(like)))
		if t.truth != nil {
			errs += grid.RelativeL2(p.Field, t.truth[i])
		}
		return nil
	})
	t.update.Lock()
	if err != nil {
		return err
	}
	s.due = false
	n := float64(len(t.validate.Initial))
	residual := root(sum / n)
	r := Record{Step: s.step, ValidationResidual: number(residual), ValidationRelative: number(relative / n), ValidationRMS: map[string]data.Float{}}
	for k, rows := range t.info.Rows {
		r.ValidationRMS[rows.Name] = data.Float(math.Sqrt(squares[k] / n))
	}
	if t.truth != nil {
		r.ValidationError = number(errs / n)
	}
	if size < collapsed*expected {
		r.Collapse = number(size / expected)
	}
	if err := t.write(r); err != nil {
		return err
	}
	chosen := residual
	if t.spec.Training.Best == model.BestRelative {
		chosen = relative / n
	}
	if chosen < s.bestResidual || t.spec.Training.Best == model.BestLast {
		s.bestResidual, s.bestStep = chosen, s.step
		if !t.writes() {
			return nil
		}
		return writeBest(t.dir, t.info.Layout, s, t.meta)
	}
	return nil
}
