package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"pihc/compute"
	"pihc/data"
	"pihc/engine"
	"pihc/internal/disk"
	"pihc/internal/words"
	"pihc/network"
)

// Meta is the JSON beside the tensors of a checkpoint.
type Meta struct {
	Version int `json:"version"`
	Step    int `json:"step"`
	Updates int `json:"updates"`
	counts
	Seed        uint64      `json:"seed"` // with Step: the position in the data and every random stream
	Precision   string      `json:"precision"`
	VectorBits  int         `json:"vector_bits,omitempty"` // of the kernels, 0 for none: sums round differently with each
	SpecHash    string      `json:"spec_hash"`
	ProblemHash string      `json:"problem_hash"`
	DatasetHash string      `json:"dataset_hash"`
	Tensors     string      `json:"tensors"`           // file name of the safetensors
	TensorsHash string      `json:"tensors_hash"`      // its SHA-256
	Borders     [][]float64 `json:"borders,omitempty"` // of experts in boxes, along each axis
	Checksum    string      `json:"checksum"`          // of all of the above
	Edited      []string    `json:"-"`                 // see LoadOptions.TrustEdits
}

// counts are numbers that change from step to step.
type counts struct {
	BadInRow     int        `json:"bad_in_row"` // steps that were skipped
	BadTotal     int        `json:"bad_total"`
	BadSamples   int        `json:"bad_samples,omitempty"`    // left out of steps that were done without them
	RecoveredAt  int        `json:"recovered_at,omitempty"`   // the step after which training went back, with a lower learning rate; 0: it did not
	Due          bool       `json:"validation_due,omitempty"` // the validation of this step is not done yet
	BestStep     int        `json:"best_step"`
	BestResidual data.Float `json:"best_residual"` // of validation; +Inf before the first
}

// sum is the SHA-256 of everything but the checksum.
func (m Meta) sum() (string, error) {
	m.Checksum = ""
	text, err := json.Marshal(m)
	return hash(text), err
}

// writeCheckpoint writes the tensors, then name.json, which names them: a
// checkpoint exists once its JSON does. The tensors of the best checkpoint are named
// by their content, so that new ones do not replace the file that the old JSON names.
func writeCheckpoint[T compute.Float](run, name string, layout network.Layout, s *state[T], m Meta, moments bool) error {
	dir := checkpointDir(run)
	if err := disk.NoLink(dir); err != nil {
		return err
	}
	if _, err := disk.MakeFolder(dir); err != nil {
		return err
	}
	tensors := tensorsOf("params.", layout, s.Params)
	if moments {
		tensors = append(tensors, tensorsOf("adam_first.", layout, s.First)...)
		tensors = append(tensors, tensorsOf("adam_second.", layout, s.Second)...)
		if s.Average != nil {
			tensors = append(tensors, tensorsOf("average.", layout, s.Average)...)
		}
	} else {
		tensors = tensorsOf("params.", layout, s.evaluated())
	}
	m.Version, m.Step, m.Updates, m.counts = folderVersion, s.step, s.Updates, s.counts
	metadata := map[string]string{"format": "pihc checkpoint", "step": fmt.Sprint(s.step)}
	var err error
	m.Tensors, m.TensorsHash, err = data.WriteSafetensors(dir, name, !moments, tensors, metadata)
	if err == nil {
		m.Checksum, err = m.sum()
	}
	if err == nil {
		err = disk.WriteJSON(metaFile(run, name), m)
	}
	if err != nil {
		return fmt.Errorf("checkpoint %s: %w", name, err)
	}
	return nil
}

// better reports whether a best checkpoint of this residual replaces that of the run. One that is there is better where
// training went back before it, and is replaced when training has come as far again.
func (t *trainer[T]) better(residual float64) bool {
	old, err := readMeta(t.dir, bestName)
	if err == nil {
		_, err = os.Stat(filepath.Join(checkpointDir(t.dir), old.Tensors))
	}
	if err != nil {
		return true
	}
	if t.spec.Training.Best == "last" {
		return old.Step <= t.state.step
	}
	return residual <= float64(old.BestResidual)
}

// writeBest replaces the best checkpoint.
func writeBest[T compute.Float](run string, layout network.Layout, s *state[T], m Meta) error {
	old, _ := readMeta(run, bestName)
	if err := writeCheckpoint(run, bestName, layout, s, m, false); err != nil {
		return err
	}
	if now, err := readMeta(run, bestName); err == nil && old.Tensors != "" && old.Tensors != now.Tensors {
		return disk.Remove(filepath.Join(checkpointDir(run), old.Tensors))
	}
	return nil
}

func tensorsOf[T compute.Float](prefix string, layout network.Layout, flat []T) []data.Named {
	var out []data.Named
	for _, t := range layout {
		out = append(out, data.Named{Name: prefix + t.Name, Array: &data.Array{Shape: t.Shape, Data: flat[t.Offset : t.Offset+t.Size()]}})
	}
	return out
}

// readMeta reads the JSON of a checkpoint.
func readMeta(run, name string) (Meta, error) {
	path := metaFile(run, name)
	text, err := disk.ReadFile(path)
	if err != nil {
		return Meta{}, err
	}
	return decodeMeta(path, text)
}

func decodeMeta(path string, text []byte) (Meta, error) {
	var m Meta
	if err := disk.DecodeJSON(text, &m); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	if m.Version != folderVersion {
		return m, fmt.Errorf("checkpoint %s has version %d; this pihc reads version %d", path, m.Version, folderVersion)
	}
	if sum, err := m.sum(); err != nil || sum != m.Checksum {
		return m, &disk.CorruptError{File: path, Reason: "its content does not match its checksum: it was altered"}
	}
	if m.Tensors != filepath.Base(m.Tensors) || !strings.HasSuffix(m.Tensors, tensorsExt) || m.TensorsHash == "" {
		return m, fmt.Errorf("checkpoint %s names no tensors", path)
	}
	return m, nil
}

// readTensors reads the JSON of a checkpoint and the tensors it names. A process
// that trains may replace them in between: then both are read again.
func readTensors(run, name string) ([]data.Named, Meta, error) {
	m, err := readMeta(run, name)
	for {
		if err != nil {
			return nil, m, err
		}
		tensors, _, err := data.ReadSafetensors(filepath.Join(checkpointDir(run), m.Tensors), m.TensorsHash)
		if err == nil {
			return tensors, m, nil
		}
		again, changed := readMeta(run, name)
		if changed != nil || again.Checksum == m.Checksum {
			return nil, m, err
		}
		m = again
	}
}

// readCheckpoint reads a checkpoint whose tensors must match layout.
func readCheckpoint[T compute.Float](run, name string, layout network.Layout, moments bool) (*state[T], Meta, error) {
	tensors, m, err := readTensors(run, name)
	if err != nil {
		return nil, m, err
	}
	path := filepath.Join(checkpointDir(run), m.Tensors)
	s := &state[T]{State: engine.State[T]{Updates: m.Updates}, step: m.Step, counts: m.counts}
	read := func(prefix string, dst *[]T) error {
		*dst = make([]T, layout.Size())
		for _, t := range layout {
			a := data.Find(tensors, prefix+t.Name)
			if a == nil {
				return fmt.Errorf("%s: tensor %s is missing", path, prefix+t.Name)
			}
			v, ok := a.Data.([]T)
			if !ok || words.Shape(a.Shape) != words.Shape(t.Shape) {
				return fmt.Errorf("%s: tensor %s is %s of %s; the spec wants %s of %T", path, prefix+t.Name,
					words.Shape(a.Shape), a.Type(), words.Shape(t.Shape), T(0))
			}
			copy((*dst)[t.Offset:], v)
		}
		return nil
	}
	if err := read("params.", &s.Params); err != nil {
		return nil, m, err
	}
	if moments {
		if err := errors.Join(read("adam_first.", &s.First), read("adam_second.", &s.Second)); err != nil {
			return nil, m, err
		}
		if data.Find(tensors, "average."+layout[0].Name) != nil {
			if err := read("average.", &s.Average); err != nil {
				return nil, m, err
			}
		}
	}
	return s, m, nil
}

// metaFile is the path of the JSON of a checkpoint.
func metaFile(run, name string) string { return filepath.Join(checkpointDir(run), name+metaExt) }

// best returns the name of the best checkpoint of a run, that of the newest where there
// is none yet.
func best(run string) (string, error) {
	if _, err := os.Stat(metaFile(run, bestName)); errors.Is(err, fs.ErrNotExist) {
		return latest(run)
	}
	return bestName, nil
}

// latest returns the name of the newest step checkpoint of a run.
func latest(run string) (string, error) {
	names, err := stepCheckpoints(run)
	if err != nil {
		return "", err
	}
	if len(names) == 0 {
		return "", fmt.Errorf("run %s has no checkpoint to resume from", run)
	}
	return names[len(names)-1], nil
}

func stepCheckpoints(run string) ([]string, error) {
	entries, err := os.ReadDir(checkpointDir(run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if n, ok := strings.CutSuffix(e.Name(), metaExt); ok && strings.HasPrefix(n, stepPrefix) {
			names = append(names, n)
		}
	}
	sort.Strings(names)
	return names, nil
}

// prune removes all step checkpoints but the newest one and that of step keep, or
// the one before where there is none of that step: first the JSON, so that none is
// ever without its tensors.
func prune(run string, keep int) error {
	names, err := stepCheckpoints(run)
	if err != nil {
		return err
	}
	last := len(names) - 1
	at, found := slices.BinarySearch(names, stepName(keep))
	if !found {
		at = last - 1
	}
	for i, n := range names {
		if i == at || i == last {
			continue
		}
		for _, ext := range []string{metaExt, tensorsExt} {
			if err := disk.Remove(filepath.Join(checkpointDir(run), n+ext)); err != nil {
				return err
			}
		}
	}
	return removeIfThere(filepath.Join(checkpointDir(run), beginsFile))
}

// removeIfThere removes a file that is seldom there.
func removeIfThere(path string) error {
	if _, err := os.Lstat(path); err != nil {
		return nil
	}
	return disk.Remove(path)
}
