package train

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"pihc/internal/disk"
	"pihc/model"
)

// takeOver replaces the parameters drawn by the best of Options.From and
// writes them as the checkpoint of step 0: a run that is interrupted before the next
// checkpoint no longer needs the other run. Without it a file says that training begins
// with what the seed draws.
func (t *trainer[T]) takeOver() error {
	from := t.options.From
	if from == "" {
		if _, err := disk.MakeFolder(checkpointDir(t.dir)); err != nil {
			return err
		}
		return disk.WriteFile(filepath.Join(checkpointDir(t.dir), beginsFile), []byte("No checkpoint is written yet: --resume begins at the first step.\n"))
	}
	if err := Folder(from).inside(); err != nil {
		return err
	}
	spec, p, err := Folder(from).Read()
	if err == nil {
		err = t.spec.SameForm(t.problem, spec, p)
	}
	if err != nil {
		return fmt.Errorf("start from run %s: %w", from, err)
	}
	name, err := best(from)
	if err != nil {
		return err
	}
	s, _, err := readCheckpoint[T](from, name, t.info.Layout, false)
	if err != nil {
		return fmt.Errorf("start from run %s: its network is not this spec's: %w", from, err)
	}
	copy(t.state.Params, s.evaluated())
	if t.state.Average != nil {
		copy(t.state.Average, t.state.Params)
	}
	return writeCheckpoint(t.dir, stepName(0), t.info.Layout, t.state, t.meta, true)
}

// Extend gives a finished run more steps, with a schedule that begins anew at its
// end: its spec gets the new number and the step of the restart (training.restarts),
// and its checkpoints the hash of that spec. Resume then continues it. A run that was
// extended so and is not at its end stays as it is. A run that is not finished is an
// error, as is a number that is no larger.
func (f Folder) Extend(steps int) (err error) {
	dir, path := string(f), f.SpecFile()
	lock, err := claim(dir)
	if err != nil {
		return err
	}
	defer lock.Release()
	src, err := disk.ReadFile(path)
	if err != nil {
		return err
	}
	spec, err := model.LoadSpec(path, src)
	if err != nil {
		return err
	}
	names, err := stepCheckpoints(dir)
	if err == nil {
		err = lost(dir, names)
	}
	if err == nil {
		err = tidy(dir)
	}
	if err != nil {
		return err
	}
	name, err := latest(dir)
	if err != nil {
		return err
	}
	newest, err := readMeta(dir, name)
	if err != nil {
		return err
	}
	training := &spec.Training
	if n := len(training.Restarts); n > 0 && training.Restarts[n-1] <= newest.Step && newest.Step < steps && training.Steps == steps {
		return nil
	}
	switch {
	case newest.Step < training.Steps:
		return fmt.Errorf("run %s is at step %d of %d: it is extended when it is finished", dir, newest.Step, training.Steps)
	case steps <= training.Steps:
		return fmt.Errorf("run %s has %d steps: want more than that, got %d", dir, training.Steps, steps)
	}
	training.Restarts, training.Steps = append(training.Restarts, training.Steps), steps
	longer, err := spec.Encode()
	if err != nil {
		return err
	}
	// If this is stopped in between, the same call does the rest.
	for _, name := range append(names, bestName) {
		m, err := readMeta(dir, name)
		if name == bestName && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if m.SpecHash != hash(src) && m.SpecHash != hash(longer) {
			return trainedWithOther(dir, name, []string{specFile})
		}
		m.SpecHash = hash(longer)
		if m.Checksum, err = m.sum(); err != nil {
			return err
		}
		if err := disk.WriteJSON(metaFile(dir, name), m); err != nil {
			return err
		}
	}
	return disk.WriteFile(path, longer)
}
