package train

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// A training that ends with nothing to use is an error with a hint, however it came to that.
func TestUseless(t *testing.T) {
	soft := "method=soft"
	for _, test := range []struct {
		name      string
		overrides []string
		want      string
	}{
		{"a step too large", []string{"training.learning_rate.initial=1e9", "training.steps=5"}, "training ended at step 5 with nothing to use: the validation residual was never finite"},
		{"the last is the best", []string{soft, "training.learning_rate.initial=1e9", "training.steps=5", "training.best=last"}, "never finite"},
		{"large and finite", []string{soft, "training.learning_rate.initial=1e3", "training.steps=16"}, "it diverged, with a validation residual of "},
		{"inputs without a scale", []string{"network.initial_scale=1e-300", "training.steps=5"}, "never finite"},
		{"a weight that overflows", []string{soft, "loss.weights={residual: 1e300}", "training.steps=5"}, "none of its steps was finite"},
		{"no loss", []string{soft, "loss.weights={residual: 0, initial: 0, left: 0, right: 0}"}, "there is nothing to train on"},
		{"no residual to choose by", []string{"loss.weights={residual: 0, initial: 0, left: 0, right: 0}", "loss.border_jump=1"}, "there is no residual to choose the best parameters by"},
		{"no tensor to train", []string{"training.frozen=[lift, layers, projection, output]"}, "it names all tensors of the network"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newExperiment(t, test.overrides...)
			dir := filepath.Join(t.TempDir(), "run")
			_, err := e.run(context.Background(), dir, Options{})
			oneLine(t, test.name, err, test.want)
			if strings.HasPrefix(test.name, "no ") {
				if Folder(dir).IsRun() {
					t.Error("a run folder is left")
				}
				return
			}
			var advised interface{ Hint() string }
			if !errors.As(err, &advised) || !strings.Contains(advised.Hint(), "a lower training.learning_rate.initial") {
				t.Errorf("no hint with %v", err)
			}
			// Asked again it says so again.
			if _, again := e.run(context.Background(), dir, Options{Resume: true}); again == nil || !strings.Contains(again.Error(), "nothing to use") {
				t.Errorf("again: %v", again)
			}
		})
	}
}

// The residual of the parameters that a training began with is that of a validation of them.
func TestStart(t *testing.T) {
	e := newExperiment(t, "training.learning_rate.initial=1e-30", "training.learning_rate.final=1e-31", "training.average=0", "network.precision=float64")
	_, s := e.train(t, Options{})
	if d := s.BestResidual/s.Start - 1; !(d < 1e-9 && d > -1e-9) {
		t.Errorf("%g at the start, %g at best, of parameters that do not move", s.Start, s.BestResidual)
	}
	e = newExperiment(t, "training.steps=24")
	dir, s := e.train(t, Options{})
	if !(s.BestResidual < s.Start) {
		t.Errorf("%g at best, %g at the start", s.BestResidual, s.Start)
	}
	if again, err := e.run(context.Background(), dir, Options{Resume: true}); err != nil || !again.Complete || again.Start == again.Start {
		t.Errorf("%+v, %v", again, err)
	}
}
