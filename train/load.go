package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"

	"pihc/compute"
	"pihc/internal/dataset"
	"pihc/internal/disk"
	"pihc/model"
	"pihc/pde"
)

// ReadRun reads the spec and the problem of a run folder.
func ReadRun(dir string) (*model.Spec, *pde.Problem, error) {
	spec, err := model.ReadStoredSpec(filepath.Join(dir, SpecFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, notARun(dir)
	}
	if err != nil {
		return nil, nil, err
	}
	path := filepath.Join(dir, problemFile)
	src, err := disk.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	p, err := pde.Load(path, src)
	return spec, p, err
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
// an *EditedError names the files that do not. Problem, constants and network, but for its
// passes, must be the run's, or the error is an *OtherRunError: how the network is used may
// differ from how it was trained.
func LoadParams[T compute.Float](dir string, spec *model.Spec, p *pde.Problem, o LoadOptions) ([]T, Meta, error) {
	net, err := spec.NewNetwork(p)
	if err != nil {
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
		return nil, m, &EditedError{Run: dir, Checkpoint: name, Files: edited}
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

// An OtherRunError reports that parameters were asked for by a spec or a problem that are not the run's.
type OtherRunError struct {
	Run  string
	What []string // problem, set of constants, network
}

func (e *OtherRunError) Error() string {
	return fmt.Sprintf("run %s was trained with another %s than the one given", e.Run, strings.Join(e.What, " and "))
}

// compareRun returns an error for a spec or a problem other than the run folder's.
func compareRun(dir string, spec *model.Spec, p *pde.Problem) error {
	stored, problem, err := ReadRun(dir)
	if err != nil {
		return err
	}
	var networks [2][]byte
	for i, s := range []*model.Spec{stored, spec} {
		alone := model.Spec{Network: s.Network}
		alone.Network.Passes = 1
		if networks[i], err = alone.Encode(); err != nil {
			return err
		}
	}
	e := &OtherRunError{Run: dir}
	for _, c := range []struct {
		what string
		same bool
	}{
		{"problem", dataset.ProblemHash(problem) == dataset.ProblemHash(p)}, {"set of constants", maps.Equal(stored.Constants, spec.Constants)}, {"network", bytes.Equal(networks[0], networks[1])},
	} {
		if !c.same {
			e.What = append(e.What, c.what)
		}
	}
	if len(e.What) > 0 {
		return e
	}
	return nil
}

// An EditedError reports files of a run folder that differ from the ones that a checkpoint
// was trained with: they were changed, or the checkpoint belongs to another run.
type EditedError struct {
	Run, Checkpoint string
	Files           []string
}

func (e *EditedError) Error() string {
	return fmt.Sprintf("run %s: its checkpoint %s was trained with another %s", e.Run, e.Checkpoint, strings.Join(e.Files, " and "))
}

// Hint says what to do.
func (e *EditedError) Hint() string {
	return "restore what was changed, or use it as it is with --trust-edits, which the output then says"
}

// A DamagedError reports that the newest checkpoint of a run cannot be read while
// an older one can.
type DamagedError struct {
	Run, Checkpoint, Older string
	Err                    error
}

func (e *DamagedError) Error() string { return e.Err.Error() }
func (e *DamagedError) Unwrap() error { return e.Err }

// Hint says what to do.
func (e *DamagedError) Hint() string {
	return fmt.Sprintf("restore it, or continue from %s, which is whole: remove %s", e.Older, filepath.Join(e.Run, checkpointFolder, e.Checkpoint+".*"))
}

// editedFiles names the files of a run folder whose SHA-256 is not the one that a
// checkpoint recorded.
func editedFiles(dir string, m Meta) ([]string, error) {
	var edited []string
	for _, f := range []struct{ name, want string }{{SpecFile, m.SpecHash}, {problemFile, m.ProblemHash}} {
		src, err := disk.ReadFile(filepath.Join(dir, f.name))
		if err != nil {
			return nil, err
		}
		if hash(src) != f.want {
			edited = append(edited, f.name)
		}
	}
	src, err := disk.ReadFile(filepath.Join(dir, InfoFile))
	if errors.Is(err, fs.ErrNotExist) {
		return edited, nil // made by another program than pihc
	}
	var info struct {
		DatasetHash string `json:"dataset_hash"`
	}
	if err == nil && (json.Unmarshal(src, &info) != nil || info.DatasetHash != m.DatasetHash) {
		edited = append(edited, InfoFile)
	}
	return edited, err
}
