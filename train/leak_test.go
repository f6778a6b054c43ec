package train

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"pihc/data"
)

// Training that ends, is interrupted, or fails, and a generation that is cancelled,
// leave no goroutine behind.
func TestNoGoroutineLeft(t *testing.T) {
	e := newExperiment(t, "training.max_bad_steps=2")
	wild := e.with(t, "training.learning_rate.initial=1e30", "training.learning_rate.final=1e30", "training.clip=0")
	before := runtime.NumGoroutine()
	for what, run := range map[string]func() error{
		"ended": func() error {
			_, err := e.run(context.Background(), filepath.Join(t.TempDir(), "run"), Options{Workers: 3})
			return err
		},
		"interrupted": func() error {
			ctx, cancel := context.WithCancel(context.Background())
			_, err := e.run(ctx, filepath.Join(t.TempDir(), "run"), Options{Workers: 3, Progress: func(Record) { cancel() }})
			if !errors.Is(err, ErrInterrupted) {
				return errors.New("it was not interrupted")
			}
			return nil
		},
		"failed": func() error {
			_, err := wild.run(context.Background(), filepath.Join(t.TempDir(), "run"), Options{Workers: 3})
			if !errors.Is(err, ErrNotFinite) {
				return errors.New("it did not fail")
			}
			return nil
		},
		"generation cancelled": func() error {
			plan, err := e.spec.DatasetPlan(e.problem, 3)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithCancel(context.Background())
			err = data.Generate(ctx, filepath.Join(t.TempDir(), "data"), plan, func(int, int) { cancel() })
			if !errors.Is(err, context.Canceled) {
				return errors.New("it was not cancelled")
			}
			return nil
		},
	} {
		if err := run(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		now := 0
		for range 200 { // workers that were told to end need a moment
			if now = runtime.NumGoroutine(); now <= before {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if now > before {
			t.Errorf("%s: %d goroutines, %d before", what, now, before)
		}
	}
}
