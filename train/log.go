package train

import (
	"encoding/json"
	"fmt"
	"os"

	"pihc/data"
	"pihc/internal/disk"
	"pihc/model"
)

// openLog opens the log of a run to continue it after a checkpoint: later lines are
// dropped, complete or not. An earlier line that is missing, damaged or out of order is
// an error, and the log stays as it is. A log that is gone starts again.
func openLog(run string, m Meta, spec *model.TrainingSpec) (*disk.Log, *continued, error) {
	c := &continued{path: Folder(run).LogFile(), meta: m, spec: spec}
	if info, err := os.Stat(c.path); err == nil && info.Size() > 0 {
		if err := disk.ScanLog(c.path, c.line); err != nil && m.Step > 0 { // no line is kept before the first step
			return nil, nil, err
		}
		if m.Step > 0 && !c.done() {
			return nil, nil, &hinted{
				fmt.Errorf("%s ends at step %d, before the checkpoint of step %d: lines are missing", c.path, c.last, m.Step),
				"restore it, or take it away: a new one begins then, without what was before",
			}
		}
	}
	log, err := disk.AppendLog(c.path, c.size)
	return log, c, err
}

// continued finds out which lines of a log are kept.
type continued struct {
	path string
	meta Meta // of the checkpoint
	spec *model.TrainingSpec

	size               int64   // of the lines kept
	seconds            float64 // of the last of them
	first, last        int     // steps of these
	ahead              int     // the last step of the others
	trained, validated int     // step of the last record of either kind
	skipped, samples   int     // steps, and samples of others
	recovered          bool
	dropped            error // of the first line that is not kept, returned if one to keep comes after it
}

// line takes one line of the log.
func (c *continued) line(l disk.Line) error {
	var r struct {
		Step       *int        `json:"step"`
		Seconds    float64     `json:"seconds"`
		Skipped    bool        `json:"skipped"`
		Samples    int         `json:"skipped_samples"`
		Recovered  *int        `json:"recovered_from"`
		Loss       *data.Float `json:"loss"`
		Validation *data.Float `json:"validation_residual"`
	}
	err := l.Err
	if err == nil && (json.Unmarshal(l.Record, &r) != nil || r.Step == nil) {
		err = c.fault(l, "it has no step")
	}
	switch {
	case err != nil:
	case *r.Step > c.meta.Step:
		c.ahead = max(c.ahead, *r.Step)
		err = c.fault(l, fmt.Sprintf("step %d, but lines up to the checkpoint of step %d come after it", *r.Step, c.meta.Step))
		if c.dropped == nil {
			c.dropped = err
		}
		return nil
	case c.dropped != nil:
		return c.dropped
	case *r.Step < max(c.last, 1):
		err = c.fault(l, fmt.Sprintf("step %d after step %d", *r.Step, c.last))
	default:
		c.last = *r.Step
		if c.first == 0 {
			c.first = c.last
		}
		if r.Loss != nil {
			c.trained = c.last
		}
		if r.Validation != nil {
			c.validated = c.last
		}
		if r.Skipped {
			c.skipped++
		}
		c.samples += r.Samples
		c.recovered = c.recovered || r.Recovered != nil
		c.size, c.seconds = l.End, r.Seconds
		return nil
	}
	if !c.done() {
		return err
	}
	if c.dropped == nil {
		c.dropped = err
	}
	return nil
}

func (c *continued) fault(l disk.Line, reason string) error {
	return fmt.Errorf("%s: %w", c.path, &disk.FormatError{Format: "log", Line: l.Number, Reason: reason})
}

// done reports whether all lines up to the checkpoint have been kept. A log that
// does not begin with the first step was lost before and started again.
func (c *continued) done() bool {
	if c.first != 1 {
		return c.first > 1
	}
	before := func(every int) int {
		if c.meta.Step == c.spec.Steps {
			return c.meta.Step
		}
		return c.meta.Step - c.meta.Step%every
	}
	validated := before(c.spec.Validate)
	if c.meta.Due {
		validated = (c.meta.Step - 1) - (c.meta.Step-1)%c.spec.Validate
	}
	// Too many bad steps in a row ended training without the validation that is due,
	// before checkpoints said so.
	ended := c.meta.BadTotal >= c.spec.MaxBadSteps
	return c.trained >= before(c.spec.Log) && (ended || c.validated >= validated) && c.skipped == c.meta.BadTotal &&
		c.samples == c.meta.BadSamples && c.recovered == (c.meta.RecoveredAt > 0)
}
