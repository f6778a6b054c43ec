package train

import (
	"context"
	"errors"
	"fmt"
	"math"

	"pihc/engine"
	"pihc/model"
)

// divergedBy is how many times the residual of the start, and that of fields that keep their initial values, the
// best one may be before nothing of a training is of use. No case shaped it.
const divergedBy = 10

// checkLoss reports a loss that is zero whatever the network gives.
func (t *trainer[T]) checkLoss() error {
	for _, rows := range t.info.Rows {
		if w, given := t.spec.Loss.Weights[rows.Name]; w != 0 || !given {
			return nil
		}
	}
	if l := &t.spec.Loss; l.Data == 0 && l.BorderJump == 0 && l.BorderSlope == 0 {
		return errors.New("loss.weights are 0 for all rows, and so is loss.data: there is nothing to train on")
	}
	if t.spec.Training.Best != "last" {
		return &hinted{errors.New("loss.weights are 0 for all rows: there is no residual to choose the best parameters by"), "training.best: last takes those of the last step"}
	}
	if t.spec.Evaluation.Passes == model.AutoPasses {
		return &hinted{errors.New("loss.weights are 0 for all rows: passes that end with the residual (evaluation.passes auto) have none"), "evaluation.passes: a number"}
	}
	return nil
}

// A uselessError says that a training ended with nothing to be used.
type uselessError struct {
	error
	rate float64
}

func (e uselessError) Unwrap() error { return e.error }

func (e uselessError) Hint() string {
	return fmt.Sprintf("a lower training.learning_rate.initial than %g, or a look at the scales of the spec and the weights of its rows (`pihc check`)", e.rate)
}

// outcome looks at a training that had all its steps. Without a best residual that is finite, or with none near the start's or
// persistence's, it has nothing to be used, which is an error. start is the residual of the parameters first that it
// began with. A run that was resumed has none (nil), and NaN: it is judged by the parameters that its spec begins with.
func (t *trainer[T]) outcome(ctx context.Context, first []T) (start float64, err error) {
	s, start := t.state, math.NaN()
	useless := func(format string, args ...any) error {
		return uselessError{fmt.Errorf("training ended at step %d with nothing to use: "+format, append([]any{s.step}, args...)...), float64(t.spec.Training.LearningRate.Initial)}
	}
	best, count, still := float64(s.BestResidual), float64(len(t.valid.still)), 0.0
	if math.IsInf(best, 0) || math.IsNaN(best) {
		return start, useless("the validation residual was never finite")
	}
	if s.BadTotal >= s.step {
		return start, useless("the loss or gradient of none of its steps was finite")
	}
	for _, x := range t.valid.still {
		still += x
	}
	still, _ = t.spec.Training.Better(t.root(still/count), 1, 0)
	if first != nil {
		if start, err = t.residualOf(ctx, first); err != nil {
			return start, err
		}
	}
	if best <= divergedBy*start || best <= divergedBy*still {
		return start, nil
	}
	if first == nil {
		if began, err := t.residualOf(ctx, engine.InitialParams[T](t.info)); err != nil || best <= divergedBy*began {
			return start, err
		}
	}
	return start, useless("it diverged, with a validation residual of %.3g at best (step %d), where fields that keep their initial values have %.3g", best, s.BestStep, still)
}

// residualOf is the validation residual of parameters, NaN if it was interrupted.
func (t *trainer[T]) residualOf(ctx context.Context, params []T) (float64, error) {
	loss, relative, count := 0.0, 0.0, float64(len(t.valid.still))
	batch := t.valid.batch
	if t.options.Comm.Size() == 1 {
		batch.Done = ctx.Done()
	}
	err := t.engine.Predict(params, batch, func(i int, p *engine.Prediction) error {
		loss += p.Loss
		relative += t.root(p.Loss / t.valid.still[i])
		return nil
	})
	if err != nil {
		if errors.Is(err, context.Canceled) { // all steps are done
			err = nil
		}
		return math.NaN(), err
	}
	residual, _ := t.spec.Training.Better(t.root(loss/count), relative/count, 0)
	return residual, nil
}
