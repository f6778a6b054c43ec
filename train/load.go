package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"pihc/compute"
	"pihc/internal/dataset"
	"pihc/internal/disk"
	"pihc/internal/words"
	"pihc/model"
	"pihc/pde"
)

// Read reads the spec and the problem of a run.
func (f Folder) Read() (*model.Spec, *pde.Problem, error) {
	if err := f.inside(); err != nil {
		return nil, nil, err
	}
	spec, err := model.ReadStoredSpec(f.SpecFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, notARun(string(f))
	}
	if err != nil {
		return nil, nil, err
	}
	if f.neverBegun() {
		return nil, nil, words.WithHint(fmt.Errorf("%s is not a run folder: its %s was not trained", f, specFile),
			"`pihc generate %[1]s/%[2]s --out DATA`, then `pihc train %[1]s/%[2]s --data DATA --out RUN`", f, specFile)
	}
	path := filepath.Join(string(f), problemFile)
	src, err := disk.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	p, err := pde.Load(path, src)
	return spec, p, err
}

// Begun reports whether the folder has the spec and the problem of a training.
func (f Folder) Begun() bool {
	_, err := os.Stat(f.ProblemFile())
	return err == nil && f.IsRun() && !f.neverBegun()
}

// neverBegun reports whether nothing but the spec is of a training, as in what `pihc init` makes.
func (f Folder) neverBegun() bool {
	for _, path := range []string{f.InfoFile(), f.LogFile(), checkpointDir(string(f))} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// LoadOptions say which parameters of a run LoadParams reads.
type LoadOptions struct {
	Last bool // of the newest checkpoint, not of the best
	// TrustEdits uses a run folder whose spec or PDE file is not the one its
	// checkpoint was trained with; Meta.Edited then names the files.
	TrustEdits bool
}

// LoadParams reads parameters of a run, from its best checkpoint or, where there is none
// yet, from the newest. It also returns the checkpoint's description, with the borders of
// the experts. The files of the folder must have the SHA-256 that the checkpoint recorded:
// an error with a hint names the files that do not. Problem, constants and network, but for its
// passes, must be the run's, or it is an error: how the network is used may
// differ from how it was trained.
func LoadParams[T compute.Float](dir string, spec *model.Spec, p *pde.Problem, o LoadOptions) ([]T, Meta, error) {
	net, err := spec.NewNetwork(p)
	if err != nil {
		return nil, Meta{}, err
	}
	if err := Folder(dir).inside(); err != nil {
		return nil, Meta{}, err
	}
	choose := best
	if o.Last {
		choose = latest
	}
	name, err := choose(dir)
	if err != nil {
		return nil, Meta{}, err
	}
	m, err := readMeta(dir, name)
	if err != nil {
		return nil, m, err
	}
	edited, err := editedFiles(dir, m)
	if err != nil {
		return nil, m, err
	}
	if len(edited) > 0 && !o.TrustEdits {
		return nil, m, trainedWithOther(dir, name, edited)
	}
	if err := compareRun(dir, spec, p); err != nil {
		return nil, m, err
	}
	s, m, err := readCheckpoint[T](dir, name, net.Layout(), name != bestName)
	if err != nil {
		return nil, m, err
	}
	m.Edited = edited
	return s.evaluated(), m, nil
}

// compareRun returns an error for a spec or a problem other than the run folder's.
func compareRun(dir string, spec *model.Spec, p *pde.Problem) error {
	stored, problem, err := Folder(dir).Read()
	if err != nil {
		return err
	}
	var networks [2][]byte
	for i, s := range []*model.Spec{stored, spec} {
		alone := model.Spec{Network: s.Network}
		alone.Network.Passes, alone.Network.Matmul = 1, ""
		if networks[i], err = alone.Encode(); err != nil {
			return err
		}
	}
	var what []string
	if dataset.ProblemHash(problem) != dataset.ProblemHash(p) {
		what = append(what, "problem")
	}
	if !maps.Equal(stored.Constants, spec.Constants) {
		what = append(what, "set of constants")
	}
	if !bytes.Equal(networks[0], networks[1]) {
		what = append(what, "network")
	}
	if what != nil {
		return fmt.Errorf("run %s was trained with another %s than the one given", dir, strings.Join(what, " and "))
	}
	return nil
}

// hinted is an error that says what to do.
type hinted struct {
	error
	hint string
}

func (e *hinted) Unwrap() error { return e.error }
func (e *hinted) Hint() string  { return e.hint }

// trainedWithOther is the error for files of a run folder that differ from the ones that a checkpoint
// was trained with: they were changed, or the checkpoint belongs to another run.
func trainedWithOther(run, checkpoint string, files []string) error {
	return &hinted{
		fmt.Errorf("run %s: its checkpoint %s was trained with another %s", run, checkpoint, strings.Join(files, " and ")),
		"restore what was changed, or use it as it is with --trust-edits, which the output then says",
	}
}

// editedFiles names the files of a run folder whose SHA-256 is not the one that a
// checkpoint recorded.
func editedFiles(dir string, m Meta) ([]string, error) {
	var edited []string
	for _, f := range []struct{ name, want string }{{specFile, m.SpecHash}, {problemFile, m.ProblemHash}} {
		src, err := disk.ReadFile(filepath.Join(dir, f.name))
		if err != nil {
			return nil, err
		}
		if hash(src) != f.want {
			edited = append(edited, f.name)
		}
	}
	src, err := disk.ReadFile(Folder(dir).InfoFile())
	if errors.Is(err, fs.ErrNotExist) {
		return edited, nil // made by another program than pihc
	}
	var info struct {
		DatasetHash string `json:"dataset_hash"`
	}
	if err == nil && (json.Unmarshal(src, &info) != nil || info.DatasetHash != m.DatasetHash) {
		edited = append(edited, infoFile)
	}
	return edited, err
}
