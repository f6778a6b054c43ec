package experiment

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"pihc/data"
	"pihc/internal/disk"
	"pihc/internal/words"
	"pihc/train"
)

// events writes what a training logs for TensorBoard too. An event file that cannot be written is a warning, and ends the writing.
type events struct {
	run   *Run
	o     Options
	file  *data.Events
	ended bool
	last  train.Record // of training
	begin time.Time    // when its seconds were 0
}

// newEvents returns nil where none are asked for. A folder that event files are not written to is an error. The file is made with the first
// record, so that a training that does not begin leaves none.
func (r *Run) newEvents(o Options) (*events, error) {
	if o.Events == "" || !o.writes() {
		return nil, nil
	}
	if err := (disk.Output{Path: filepath.Join(o.Events, "events"), Kind: "event file", Makes: true}).Check(); err != nil {
		return nil, words.WithHint(fmt.Errorf("--tensorboard %s: %w", o.Events, err), "name a folder outside of runs and datasets, which is made, or one that can be written to")
	}
	return &events{run: r, o: o}, nil
}

// write adds a record. Before the first one come all others of the run's log, so that the file has the whole training.
func (e *events) write(now train.Record) {
	if e == nil || e.ended {
		return
	}
	err := error(nil)
	if e.file != nil {
		err = e.add(now)
	} else if e.file, err = data.CreateEvents(e.o.Events); err == nil {
		var before []train.Record
		before, err = e.run.Log()
		e.begin = time.Now().Add(-time.Duration(now.Seconds * float64(time.Second)))
		for _, r := range before { // the last one is now
			if err == nil {
				err = e.add(r)
			}
		}
	}
	if err != nil {
		e.close()
		e.ended = true
		e.o.tell(Progress{Warning: fmt.Sprintf("TensorBoard: %v; training goes on, and nothing more is written there", err)})
	}
}

// add writes the numbers of a record under their names in log.jsonl. seconds_per_step is over the steps since the record of training before,
// validations between them included.
func (e *events) add(r train.Record) error {
	var scalars []data.Scalar
	add := func(name string, value *data.Float) {
		if value != nil {
			scalars = append(scalars, data.Scalar{Name: name, Value: float64(*value)})
		}
	}
	each := func(name string, values map[string]data.Float) {
		for _, key := range slices.Sorted(maps.Keys(values)) {
			scalars = append(scalars, data.Scalar{Name: name + "/" + key, Value: float64(values[key])})
		}
	}
	add("loss", r.Loss)
	each("mean_squares", r.MeanSquares)
	add("border_jump", r.BorderJump)
	add("gradient_norm", r.GradientNorm)
	add("learning_rate", r.LearningRate)
	add("solver_iterations", r.Iterations)
	add("validation_residual", r.ValidationResidual)
	add("validation_relative_l2", r.ValidationError)
	add("validation_relative", r.ValidationRelative)
	each("validation_rms", r.ValidationRMS)
	if r.Loss != nil {
		if steps := r.Step - e.last.Step; e.last.Loss != nil && steps > 0 && r.Seconds >= e.last.Seconds {
			scalars = append(scalars, data.Scalar{Name: "seconds_per_step", Value: (r.Seconds - e.last.Seconds) / float64(steps)})
		}
		e.last = r
	}
	if len(scalars) == 0 {
		return nil
	}
	return e.file.Write(e.begin.Add(time.Duration(r.Seconds*float64(time.Second))), r.Step, scalars)
}

func (e *events) close() {
	if e != nil && e.file != nil {
		_ = e.file.Close() // every record was written
		e.file = nil
	}
}
