package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pihc/compute"
	"pihc/dist"
	"pihc/engine"
	"pihc/model"
	"pihc/pde"
)

// Samples that are not finite, or make the gradient so, are left out: the others
// contribute the bits that they would without them, and nothing of them is left for
// the next batch.
func TestPoisonedSample(t *testing.T) {
	for _, method := range model.Methods {
		for _, micro := range []int{1, 3} {
			e := newExperiment(t, "method="+method, "training.batch=4", fmt.Sprintf("training.micro_batch=%d", micro), "network.precision=float64")
			tr := e.trainer(t)
			a := tr.now.stepper.(*adam[float64])
			good := tr.nextBatch()
			good.Inputs, good.Seeds = slices.Clone(good.Inputs), slices.Clone(good.Seeds)
			gradient := func(samples ...int) []float64 {
				t.Helper()
				part := good
				part.Inputs, part.Seeds, part.Total = nil, nil, 4
				for _, i := range samples {
					part.Inputs, part.Seeds = append(part.Inputs, good.Inputs[i]), append(part.Seeds, good.Seeds[i])
				}
				grad := make([]float64, len(a.grad))
				if _, err := tr.engine.LossAndGrad(grad, tr.state.Params, part); err != nil {
					t.Fatal(err)
				}
				return grad
			}
			want, all := gradient(0, 3), gradient(0, 1, 2, 3)
			for _, poison := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300} {
				batch := good
				batch.Inputs = slices.Clone(good.Inputs)
				for _, i := range []int{1, 2} {
					batch.Inputs[i] = slices.Clone(good.Inputs[i])
					batch.Inputs[i][5] = poison
				}
				a.mu.Lock()
				stats, _, err := batch.AddFinite(a.add, func() { clear(a.grad) })
				a.mu.Unlock()
				if err != nil || stats.Skipped != 2 || !stats.Finite() {
					t.Errorf("%s, micro-batches of %d, %g: %+v, %v", method, micro, poison, stats, err)
				}
				equalBits(t, fmt.Sprintf("%s, micro-batches of %d, %g: the others' gradient", method, micro, poison), a.grad, want)
				clear(a.grad)
				equalBits(t, fmt.Sprintf("%s, micro-batches of %d, %g: the next gradient", method, micro, poison), gradient(0, 1, 2, 3), all)
			}
		}
	}
}

func equalBits(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i, v := range got {
		if math.Float64bits(v) != math.Float64bits(want[i]) {
			t.Errorf("%s: element %d is %g, want %g", what, i, v, want[i])
			return
		}
	}
}

// A run whose data hold a poisoned sample trains on the others, counts and logs each
// time it is left out, and continues to the same bits after an interrupt; a run with
// nothing else goes back once and ends.
func TestPoisonedData(t *testing.T) {
	poisoned := func(count int) experiment {
		e := newExperiment(t, "training.batch=3", "training.micro_batch=2", "training.max_bad_steps=3")
		poisonedSamples = map[uint64]bool{}
		for i := range count {
			poisonedSamples[uint64(i)] = true
		}
		return e
	}
	e := poisoned(1)
	want, s := e.train(t, Options{Engine: "poisoned"})
	left := 0
	for _, r := range records(t, want) {
		left += r.SkippedSamples
		if r.Skipped || r.Loss != nil && math.IsNaN(float64(*r.Loss)) {
			t.Errorf("%+v", r)
		}
	}
	if s.Samples < 4 || s.Samples != left || s.Skipped != 0 || s.RecoveredAt != 0 {
		t.Errorf("%+v, %d in the log", s, left)
	}
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := e.run(context.Background(), dir, Options{Engine: "poisoned", stopAt: 6}); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	if _, err := e.run(context.Background(), dir, Options{Engine: "poisoned", Resume: true, Workers: 2}); err != nil {
		t.Fatal(err)
	}
	sameRun(t, "resumed", dir, want)
	dir = filepath.Join(t.TempDir(), "ranks")
	for r, err := range together(context.Background(), dir, same(e, 2), Options{Engine: "poisoned"}) {
		if err != nil {
			t.Fatalf("rank %d: %v", r, err)
		}
	}
	sameRun(t, "two ranks", dir, want)

	e = poisoned(7)
	dir = filepath.Join(t.TempDir(), "run")
	s, err := e.run(context.Background(), dir, Options{Engine: "poisoned"})
	oneLine(t, "nothing but poison", err, "stopped at step 6", "3 steps in a row", "went back at step 3")
	if !errors.Is(err, ErrNotFinite) || s.Skipped != 6 || s.Samples != 0 || s.RecoveredAt != 3 {
		t.Errorf("%+v, %v", s, err)
	}
}

// poisonedSamples are those whose initial condition the engine "poisoned" finds NaN.
var poisonedSamples map[uint64]bool

type poisonedEngine[T compute.Float] struct{ engine.Engine[T] }

func newPoisoned[T compute.Float](s *model.Spec, p *pde.Problem, o engine.Options) (engine.Engine[T], error) {
	o.Name = ""
	e, err := engine.New[T](s, p, o)
	return poisonedEngine[T]{e}, err
}

func init() {
	engine.Register("poisoned", engine.Constructors{Float32: newPoisoned[float32], Float64: newPoisoned[float64]})
}

func (e poisonedEngine[T]) LossAndGrad(grad, params []T, batch engine.Batch) (engine.Stats, error) {
	batch.Inputs = slices.Clone(batch.Inputs)
	for i, seed := range batch.Seeds {
		if poisonedSamples[seed.Sample] {
			batch.Inputs[i] = slices.Repeat([]float64{math.NaN()}, len(batch.Inputs[i]))
		}
	}
	return e.Engine.LossAndGrad(grad, params, batch)
}

// A learning rate that grows until training diverges: it goes back to the newest
// checkpoint that a finite step followed, goes on with a lower rate, and says so in
// the log. Interrupted at any step, and on two ranks, it ends with the same bits.
func TestRecovery(t *testing.T) {
	e := newExperiment(t, "training.steps=14", "training.checkpoint=2", "training.max_bad_steps=3", "training.clip=0",
		"training.learning_rate.initial=1e-3", "training.learning_rate.final=1e30", "training.recovery_factor=1e-33")
	want, s := e.train(t, Options{})
	var from *int
	for _, r := range records(t, want) {
		if r.RecoveredFrom != nil {
			if from != nil || r.Step != s.RecoveredAt {
				t.Errorf("%+v", r)
			}
			from = r.RecoveredFrom
		}
		if r.LearningRate != nil && s.RecoveredAt > 0 && r.Step > s.RecoveredAt && float64(*r.LearningRate) > 1e-3 {
			t.Errorf("step %d has learning rate %g", r.Step, float64(*r.LearningRate))
		}
	}
	if from == nil || *from < 2 || *from%2 != 0 || *from > s.RecoveredAt-5 || s.Steps != 14 || s.Skipped != 3 {
		t.Fatalf("from %v, %+v", from, s)
	}
	for stop := 1; stop < 14; stop += 2 {
		dir := filepath.Join(t.TempDir(), "run")
		for _, at := range []int{stop, stop + 1} {
			if _, err := e.run(context.Background(), dir, Options{stopAt: at, Resume: at > stop}); at < 14 && !errors.Is(err, ErrInterrupted) {
				t.Fatal(err)
			}
		}
		if _, err := e.run(context.Background(), dir, Options{Resume: true}); err != nil {
			t.Fatal(err)
		}
		sameRun(t, fmt.Sprintf("interrupted at steps %d and %d", stop, stop+1), dir, want)
	}
	dir := filepath.Join(t.TempDir(), "ranks")
	for r, err := range together(context.Background(), dir, same(e, 2), Options{}) {
		if err != nil {
			t.Fatalf("rank %d: %v", r, err)
		}
	}
	sameRun(t, "two ranks", dir, want)

	e = e.with(t, "training.recovery_factor=0")
	_, err := e.run(context.Background(), filepath.Join(t.TempDir(), "run"), Options{})
	if !errors.Is(err, ErrNotFinite) || strings.Contains(fmt.Sprint(err), "went back") {
		t.Errorf("without recovery: %v", err)
	}
}

// An interrupt ends a step or a validation within one sample's work, and the run
// continues to the same bits: the step is done again, or the validation that is due.
func TestInterruptedWithin(t *testing.T) {
	e := newExperiment(t, "training.log=1")
	want, _ := e.train(t, Options{})
	for _, validated := range []bool{false, true} {
		for _, step := range []int{4, 12} {
			if validated && step == 12 {
				continue // the end
			}
			dir := filepath.Join(t.TempDir(), "run")
			ctx, cancel := context.WithCancel(context.Background())
			s, err := e.run(ctx, dir, Options{Progress: func(r Record) {
				if r.Step == step && validated == (r.ValidationResidual != nil) {
					cancel()
				}
			}})
			if !errors.Is(err, ErrInterrupted) || s.Steps != step {
				t.Fatalf("%+v, %v", s, err)
			}
			all := records(t, dir)
			if last := all[len(all)-1]; last.Step != step || validated != (last.ValidationResidual != nil) {
				t.Errorf("the log ends with %+v", last)
			}
			if _, err := e.run(context.Background(), dir, Options{Resume: true}); err != nil {
				t.Fatal(err)
			}
			sameRun(t, fmt.Sprintf("step %d, validated %v", step, validated), dir, want)
		}
	}
}

// blocked is an engine whose predictions wait until released is closed.
type blocked[T compute.Float] struct{ engine.Engine[T] }

var released chan struct{}

func newBlocked[T compute.Float](s *model.Spec, p *pde.Problem, o engine.Options) (engine.Engine[T], error) {
	o.Name = ""
	e, err := engine.New[T](s, p, o)
	return blocked[T]{e}, err
}

func init() {
	engine.Register("blocked", engine.Constructors{Float32: newBlocked[float32], Float64: newBlocked[float64]})
}

func (b blocked[T]) Predict(params []T, batch engine.Batch, each func(int, *engine.Prediction) error) error {
	<-released
	return b.Engine.Predict(params, batch, each)
}

// Rank 0, interrupted, does not wait for a validation that another rank never ends.
func TestRanksInterruptedInValidation(t *testing.T) {
	e := newExperiment(t)
	want, _ := e.train(t, Options{})
	dir := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(context.Background())
	released = make(chan struct{})
	comms := dist.Local(2)
	other := make(chan error)
	go func() {
		_, err := e.run(context.Background(), dir, Options{Comm: comms[1], Engine: "blocked"})
		other <- err
	}()
	s, err := e.run(ctx, dir, Options{Comm: comms[0], Progress: func(r Record) {
		if r.Step == 4 {
			cancel()
		}
	}})
	if !errors.Is(err, ErrInterrupted) || s.Steps != 4 {
		t.Errorf("%+v, %v", s, err)
	}
	comms[0].Abort(1)
	close(released)
	if err := <-other; err == nil {
		t.Error("the other rank ended well")
	}
	if _, err := e.run(context.Background(), dir, Options{Resume: true}); err != nil {
		t.Fatal(err)
	}
	sameRun(t, "interrupted in validation", dir, want)
}
