package train

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pihc/data"
	"pihc/model"
	"pihc/pde"
)

// The files of a run folder. A new one gets the PDE file, then those of
// Options.Files, the checkpoint of step 0 if it starts from another run, then the
// spec: it is a run once the spec is there. Anything less was left by a process that was killed, and is cleared by the next one.
const (
	SpecFile    = "spec.yaml"    // the resolved spec
	ProblemFile = "problem.yaml" // the PDE file
	InfoFile    = "run.json"     // where the dataset is; by cmd/pihc
	LogFile     = "log.jsonl"
	MetricsFile = "metrics.json" // by cmd/pihc

	checkpointFolder = "checkpoints"
	bestName         = "best"
	stepPrefix       = "step-"
)

const (
	metaExt    = ".json"
	tensorsExt = ".safetensors"
)

func checkpointDir(run string) string { return filepath.Join(run, checkpointFolder) }

// stepName is the name of the checkpoint of a step.
func stepName(step int) string { return fmt.Sprintf("%s%08d", stepPrefix, step) }

// IsRun reports whether dir holds a run: whether its folder was made to the end.
func IsRun(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, SpecFile))
	return err == nil
}

// foreign returns the name of a file in dir that no process left there which was
// stopped while it made a run folder with the further files; "" if there is none.
// Files named like those of a run are somebody's own unless a lock is beside them.
func foreign(dir string, further map[string][]byte) (string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	_, err = os.Stat(data.LockPath(dir))
	begun := err == nil
	for _, e := range entries {
		name := e.Name()
		_, ours := further[name]
		ours = ours || name == ProblemFile || name == InfoFile || data.IsPartial(name) || name == filepath.Base(data.LockPath(dir))
		ours = ours || name == checkpointFolder && untrained(dir)
		if !ours || !begun {
			return name, nil
		}
	}
	return "", nil
}

// untrained reports whether a run has no checkpoint after that of step 0.
func untrained(dir string) bool {
	entries, err := os.ReadDir(checkpointDir(dir))
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !data.IsPartial(e.Name()) && e.Name() != stepName(0)+metaExt && e.Name() != stepName(0)+tensorsExt
	})
}

// unmade removes what a process left that was stopped while it made a run folder.
func unmade(dir string, further map[string][]byte) {
	data.RemovePartials(dir)
	for _, name := range append(slices.Collect(maps.Keys(further)), ProblemFile, InfoFile) {
		_ = data.Remove(filepath.Join(dir, name))
	}
	data.RemovePartials(checkpointDir(dir))
	for _, ext := range []string{metaExt, tensorsExt} {
		_ = data.Remove(filepath.Join(checkpointDir(dir), stepName(0)+ext))
	}
	os.Remove(checkpointDir(dir))
}

// ClearUnmade removes from dir what a process left that was stopped while it made
// a run folder there, and reports whether there was anything.
func ClearUnmade(dir string) (bool, error) {
	if _, err := os.Stat(data.LockPath(dir)); IsRun(dir) || err != nil {
		return false, nil
	}
	if name, err := foreign(dir, nil); name != "" || err != nil {
		return false, err
	}
	lock, err := data.LockFolder(dir)
	if err != nil {
		return false, err
	}
	if IsRun(dir) {
		lock.Release()
		return false, nil
	}
	unmade(dir, nil)
	lock.Release()
	return true, os.Remove(dir)
}

// makeRun makes a run folder and locks it; begin adds what has to be there before it
// is a run. It leaves nothing behind on an error.
func makeRun(dir string, spec *model.Spec, p *pde.Problem, further map[string][]byte, begin func() error) (lock *data.Lock, err error) {
	src, err := spec.Encode()
	if err != nil {
		return nil, err
	}
	vacant := func() error {
		name, err := foreign(dir, further)
		if err == nil && name != "" {
			err = fmt.Errorf("run folder %s exists already; choose another, or resume it with --resume", dir)
			if !IsRun(dir) {
				err = fmt.Errorf("folder %s exists already and is no run: it holds %s; choose another", dir, name)
			}
		}
		return err
	}
	made, err := data.MakeFolder(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil && made {
			os.Remove(dir)
		}
	}()
	if err := vacant(); err != nil {
		return nil, err
	}
	if lock, err = data.LockFolder(dir); err != nil {
		return nil, err
	}
	if err := vacant(); err != nil { // another process may have been quicker
		lock.Release()
		return nil, err
	}
	unmade(dir, further)
	write := func(name string, content []byte) {
		if err == nil {
			err = data.WriteFile(filepath.Join(dir, name), content)
		}
	}
	write(ProblemFile, p.Source)
	for _, name := range slices.Sorted(maps.Keys(further)) {
		write(name, further[name])
	}
	if err == nil {
		err = begin()
	}
	write(SpecFile, src)
	if err != nil {
		unmade(dir, further)
		lock.Release()
		return nil, err
	}
	return lock, nil
}

// claim locks the folder of a run that exists, and removes what killed processes
// left in it: unfinished files, and tensors that no checkpoint names.
func claim(dir string) (*data.Lock, error) {
	if !IsRun(dir) {
		return nil, notARun(dir)
	}
	lock, err := data.LockFolder(dir)
	if err != nil {
		return nil, err
	}
	data.RemovePartials(dir)
	data.RemovePartials(checkpointDir(dir))
	entries, err := os.ReadDir(checkpointDir(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		lock.Release()
		return nil, err
	}
	best, _ := readMeta(dir, bestName)
	for _, e := range entries {
		name, tensors := strings.CutSuffix(e.Name(), tensorsExt)
		if !tensors {
			continue
		}
		orphan := strings.HasPrefix(name, bestName) && best.Tensors != "" && best.Tensors != e.Name()
		if strings.HasPrefix(name, stepPrefix) {
			_, err := os.Stat(metaFile(dir, name))
			orphan = errors.Is(err, fs.ErrNotExist)
		}
		if orphan {
			_ = data.Remove(filepath.Join(checkpointDir(dir), e.Name()))
		}
	}
	return lock, nil
}

func notARun(dir string) error {
	return fmt.Errorf("%s is not a run folder: it has no %s", dir, SpecFile)
}
