package train

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pihc/internal/disk"
	"pihc/model"
	"pihc/pde"
)

// A Folder is the path of a run folder.
type Folder string

// The files of a run folder. They are written in this order: the PDE file, Options.Info,
// the checkpoint of step 0 if the run starts from another, then the spec. A folder is a run
// once it has the spec; anything less was left by a process that was killed, and the next
// one removes it.
const (
	specFile    = "spec.yaml"
	problemFile = "problem.yaml"
	infoFile    = "run.json"
	logFile     = "log.jsonl"

	checkpointFolder = "checkpoints"
	bestName         = "best"
	stepPrefix       = "step-"
	// beginsFile is in the place of the checkpoint of step 0 where the seed draws the parameters, until there is another.
	// A run without either that has trained had checkpoints once.
	beginsFile = "begins"
)

// folderVersion is the version of checkpoints. It changes when old ones can no longer be read.
const folderVersion = 1

const (
	metaExt    = ".json"
	tensorsExt = ".safetensors"
)

// SpecFile is the path of the resolved spec.
func (f Folder) SpecFile() string { return filepath.Join(string(f), specFile) }

// ProblemFile is the path of a run's problem.
func (f Folder) ProblemFile() string { return filepath.Join(string(f), problemFile) }

// InfoFile is the path of what says where the dataset is (Options.Info).
func (f Folder) InfoFile() string { return filepath.Join(string(f), infoFile) }

// LogFile is the path of the log, of lines of Record.
func (f Folder) LogFile() string { return filepath.Join(string(f), logFile) }

// MetricsFile is the path of the scores; training does not write it.
func (f Folder) MetricsFile() string { return filepath.Join(string(f), "metrics.json") }

// inside returns an error for files of the run that are links which lead out of its folder, and for a link in the place of
// its checkpoints.
func (f Folder) inside() error {
	names := []string{specFile, problemFile, infoFile, logFile, filepath.Base(f.MetricsFile()), checkpointFolder}
	entries, _ := os.ReadDir(checkpointDir(string(f)))
	for _, e := range entries {
		names = append(names, checkpointFolder+"/"+e.Name())
	}
	if err := disk.Inside(string(f), names...); err != nil {
		return err
	}
	return disk.NoLink(checkpointDir(string(f)))
}

func checkpointDir(run string) string { return filepath.Join(run, checkpointFolder) }

// stepName is the name of the checkpoint of a step.
func stepName(step int) string { return fmt.Sprintf("%s%08d", stepPrefix, step) }

// IsRun reports whether the folder holds a run: whether it was made to the end.
func (f Folder) IsRun() bool {
	_, err := os.Stat(f.SpecFile())
	return err == nil
}

// foreign returns the name of a file in dir that is no part of an unfinished run folder;
// "" if there is none. Without a lock beside them no files are.
func foreign(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	_, err = os.Stat(disk.LockPath(dir))
	begun := err == nil
	for _, e := range entries {
		name := e.Name()
		ours := name == problemFile || name == infoFile || disk.IsPartial(name) || name == filepath.Base(disk.LockPath(dir))
		ours = ours || name == checkpointFolder && untrained(dir)
		if !ours || !begun || e.Type()&fs.ModeSymlink != 0 {
			return name, nil
		}
	}
	return "", nil
}

// firstFiles are what a run has among its checkpoints before it trains.
var firstFiles = []string{stepName(0) + metaExt, stepName(0) + tensorsExt, beginsFile}

// untrained reports whether a run has no checkpoint after that of step 0.
func untrained(dir string) bool {
	entries, err := os.ReadDir(checkpointDir(dir))
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !disk.IsPartial(e.Name()) && !slices.Contains(firstFiles, e.Name())
	})
}

// unmade removes the files of an unfinished run folder.
func unmade(dir string) {
	disk.RemovePartials(dir)
	for _, name := range []string{problemFile, infoFile} {
		_ = disk.Remove(filepath.Join(dir, name))
	}
	disk.RemovePartials(checkpointDir(dir))
	for _, name := range firstFiles {
		_ = disk.Remove(filepath.Join(checkpointDir(dir), name))
	}
	os.Remove(checkpointDir(dir))
}

// ClearUnmade removes an unfinished run folder, and reports whether this was one.
func (f Folder) ClearUnmade() (bool, error) {
	dir := string(f)
	if _, err := os.Stat(disk.LockPath(dir)); f.IsRun() || err != nil {
		return false, nil
	}
	if name, err := foreign(dir); name != "" || err != nil {
		return false, err
	}
	lock, err := disk.LockFolder(dir)
	if err != nil {
		return false, err
	}
	if f.IsRun() {
		lock.Release()
		return false, nil
	}
	unmade(dir)
	lock.Release()
	return true, os.Remove(dir)
}

// vacant returns an error for a folder with anything but what is left of an unfinished run folder.
func vacant(dir string) error {
	name, err := foreign(dir)
	if err == nil && name != "" {
		err = fmt.Errorf("run folder %s exists already; choose another, or resume it with --resume", dir)
		if !Folder(dir).IsRun() {
			err = fmt.Errorf("folder %s exists already and is no run: it holds %s; choose another", dir, name)
		}
	}
	return err
}

// Check returns an error for a folder in which a run can neither be begun nor resumed, as far as its files tell.
func (f Folder) Check() error {
	dir := string(f)
	if !f.IsRun() {
		return cmp.Or(vacant(dir), disk.Outside(dir, nil))
	}
	if err := f.inside(); err != nil {
		return err
	}
	names, err := stepCheckpoints(dir)
	if err != nil {
		return err
	}
	return lost(dir, names)
}

// makeRun makes a run folder, with info where there is any, and locks it; begin adds files before the spec makes it a
// run. It leaves nothing behind on an error.
func makeRun(dir string, spec *model.Spec, p *pde.Problem, info []byte, begin func() error) (lock *disk.Lock, err error) {
	src, err := spec.Encode()
	if err != nil {
		return nil, err
	}
	if _, err := model.LoadSpec(specFile, src); err != nil {
		return nil, fmt.Errorf("run folder %s: its spec, with all that is fitted to the problem, could not be read again: %w", dir, err)
	}
	if err := disk.Outside(dir, nil); err != nil {
		return nil, err
	}
	made, err := disk.MakeFolder(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil && made {
			os.Remove(dir)
		}
	}()
	if err := vacant(dir); err != nil {
		return nil, err
	}
	if lock, err = disk.LockFolder(dir); err != nil {
		return nil, err
	}
	if err := vacant(dir); err != nil { // another process may have been quicker
		lock.Release()
		return nil, err
	}
	unmade(dir)
	write := func(name string, content []byte) {
		if err == nil {
			err = disk.WriteFile(filepath.Join(dir, name), content)
		}
	}
	write(problemFile, p.Source)
	if info != nil {
		write(infoFile, info)
	}
	if err == nil {
		err = begin()
	}
	write(specFile, src)
	if err != nil {
		unmade(dir)
		lock.Release()
		return nil, err
	}
	return lock, nil
}

// claim locks the folder of a run that exists.
func claim(dir string) (*disk.Lock, error) {
	if !Folder(dir).IsRun() {
		return nil, notARun(dir)
	}
	if err := Folder(dir).inside(); err != nil {
		return nil, err
	}
	return disk.LockFolder(dir)
}

// lost returns an error for a run that has trained and whose step checkpoints are gone: to begin again would
// replace its log and its best parameters.
func lost(dir string, names []string) error {
	if len(names) > 0 {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(checkpointDir(dir), beginsFile)); err == nil {
		return nil
	}
	left, hint := "", "restore them"
	if info, err := os.Stat(Folder(dir).LogFile()); err == nil && info.Size() > 0 {
		left = "its log is there"
	}
	entries, err := os.ReadDir(checkpointDir(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), bestName) {
			left = "its best checkpoint is there"
		}
	}
	if left == "" {
		return nil
	}
	if _, err := readMeta(dir, bestName); err == nil {
		hint += fmt.Sprintf(", or begin a new run with its best parameters: `pihc train SPEC --data DIR --out NEW --from %s`", dir)
	} else {
		hint += ", or begin a new run in another folder"
	}
	return &hinted{fmt.Errorf("run %s: its checkpoints of steps are gone, and %s: training would begin at step 0 and replace it", dir, left), hint}
}

// tidy removes files that killed processes left in a run: unfinished ones, and tensors that no checkpoint names.
func tidy(dir string) error {
	disk.RemovePartials(dir)
	disk.RemovePartials(checkpointDir(dir))
	entries, err := os.ReadDir(checkpointDir(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
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
			_ = disk.Remove(filepath.Join(checkpointDir(dir), e.Name()))
		}
	}
	return nil
}

func notARun(dir string) error {
	return fmt.Errorf("%s is not a run folder: it has no %s", dir, specFile)
}
