package train

import (
	"math"
	"time"

	"pihc/data"
	"pihc/engine"
	"pihc/model"
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
	Seconds        float64 `json:"seconds"` // of training until then, by all processes that took part; in older logs by the last one

	ValidationResidual *data.Float `json:"validation_residual,omitempty"`
	// ValidationRelative is the mean, over samples, of the root of the loss over that of
	// the field that keeps its initial values.
	ValidationRelative *data.Float `json:"validation_relative,omitempty"`
	// ValidationRMS is the root mean square of the rows of each set, over the whole grid
	// and all samples.
	ValidationRMS   map[string]data.Float `json:"validation_rms,omitempty"`
	ValidationError *data.Float           `json:"validation_relative_l2,omitempty"` // shown, never used to choose
	// Baselines are the predictions that need no training, by name, in the first validation of
	// a run.
	Baselines map[string]Baseline `json:"validation_baselines,omitempty"`
	// Collapse is the root mean square of the predictions over that of the solutions,
	// or of the initial conditions where there are none, if it is below a tenth.
	Collapse *data.Float `json:"collapse,omitempty"`
	// RecoveredFrom is the checkpoint that training went back to after this step.
	RecoveredFrom *int `json:"recovered_from,omitempty"`
}

// A Baseline has the scores of a trivial prediction (engine.Trivial) on the validation
// samples, named as in Record.
type Baseline struct {
	Residual      data.Float  `json:"validation_residual"` // without border terms
	Error         *data.Float `json:"validation_relative_l2,omitempty"`
	OutsideAnsatz bool        `json:"outside_ansatz,omitempty"` // the loss is without the initial condition
}

func number(v float64) *data.Float { f := data.Float(v); return &f }

func (t *trainer[T]) record(st engine.Stats, norm, rate float64, finite bool) Record {
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
