package train

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"pihc/internal/disk"
	"pihc/model"
)

// open makes the run folder, or reads the newest checkpoint of the one to
// resume.
func (t *trainer[T]) open() error {
	path := Folder(t.dir).LogFile()
	var err error
	if !t.options.Resume {
		t.state = t.drawn()
		if t.lock, err = makeRun(t.dir, t.spec, t.problem, t.options.Info, t.takeOver); err != nil {
			return err
		}
		t.log, err = disk.CreateLog(path)
		return err
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
	if err := lost(t.dir, names); err != nil {
		return err
	}
	if err := tidy(t.dir); err != nil {
		return err
	}
	if len(names) == 0 {
		// Stopped before the first checkpoint.
		t.state = t.drawn()
		return t.openLog(t.meta)
	}
	name := names[len(names)-1]
	s, m, err := readCheckpoint[T](t.dir, name, t.info.Layout, true)
	if err != nil {
		for _, older := range slices.Backward(names[:len(names)-1]) {
			if _, _, e := readCheckpoint[T](t.dir, older, t.info.Layout, true); e == nil {
				return &hinted{err, fmt.Sprintf("restore it, or continue from %s, which is whole: remove %s", older, filepath.Join(checkpointDir(t.dir), name+".*"))}
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
	if err := t.openLog(m); err != nil {
		return err
	}
	t.options.Logger.Info("resumed", "run", t.dir, "step", s.step)
	return prune(t.dir, t.lastGood()) // if the last process was stopped before it
}

// openLog continues the log after a checkpoint, and its clock.
func (t *trainer[T]) openLog(m Meta) error {
	log, c, err := openLog(t.dir, m, &t.spec.Training)
	if err != nil {
		return err
	}
	t.log, t.begin = log, t.begin.Add(-time.Duration(c.seconds*float64(time.Second)))
	switch {
	case c.ahead > m.Step:
		t.options.Logger.Warn("the log goes on after the newest checkpoint: these steps are done again", "run", t.dir, "checkpoint", m.Step, "log", c.ahead)
	case m.Step > 0 && c.size == 0:
		t.options.Logger.Warn("the log is gone: a new one begins", "run", t.dir, "checkpoint", m.Step)
	}
	return nil
}

// sameRun compares the spec and the PDE file given with the ones in the run folder.
// Checkpoints record the hash of the stored text, which stays when a later version of the
// program writes the same spec in another way.
func (t *trainer[T]) sameRun() error {
	path := Folder(t.dir).SpecFile()
	src, err := disk.ReadFile(path)
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
	if src, err = disk.ReadFile(filepath.Join(t.dir, problemFile)); err != nil {
		return err
	}
	if hash(src) != t.meta.ProblemHash {
		return fmt.Errorf("run %s was begun with another PDE file than the one given; resume needs the same one", t.dir)
	}
	return nil
}
