package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"pihc/data"
	"pihc/internal/kernel"
	"pihc/model"
)

// Meta is the JSON beside the tensors of a checkpoint.
type Meta struct {
	Version      int         `json:"version"`
	Step         int         `json:"step"`
	Updates      int         `json:"updates"`
	BadInRow     int         `json:"bad_in_row"`
	BadTotal     int         `json:"bad_total"`
	BestStep     int         `json:"best_step"`
	BestResidual data.Float  `json:"best_residual"`
	Seed         uint64      `json:"seed"` // with Step: the position in the data and every random stream
	Precision    string      `json:"precision"`
	SpecHash     string      `json:"spec_hash"`
	ProblemHash  string      `json:"problem_hash"`
	DatasetHash  string      `json:"dataset_hash"`
	Tensors      string      `json:"tensors"`      // file name of the safetensors
	TensorsHash  string      `json:"tensors_hash"` // its SHA-256
	Borders      [][]float64 `json:"borders"`      // of the experts along each axis
	Checksum     string      `json:"checksum"`     // of all of the above
}

// sum is the SHA-256 of everything but the checksum.
func (m Meta) sum() (string, error) {
	m.Checksum = ""
	text, err := json.Marshal(m)
	return hash(text), err
}

const keepCheckpoints = 2

func checkpointDir(run string) string { return filepath.Join(run, "checkpoints") }

// writeCheckpoint writes name.safetensors, then name.json: a checkpoint exists
// once its JSON does.
func writeCheckpoint[T kernel.Float](run, name string, layout []kernel.Tensor, s *state[T], m Meta, moments bool) error {
	dir := checkpointDir(run)
	if err := os.MkdirAll(dir, 0o777); err != nil {
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
	m.Version, m.Step, m.Updates = model.SpecVersion, s.step, s.Updates
	m.BadInRow, m.BadTotal = s.badInRow, s.badTotal
	m.BestStep, m.BestResidual = s.bestStep, data.Float(s.bestResidual)
	m.Tensors = name + ".safetensors"
	sum, err := data.WriteSafetensors(filepath.Join(dir, m.Tensors), tensors, map[string]string{"format": "pihc checkpoint", "step": fmt.Sprint(s.step)})
	if err != nil {
		return fmt.Errorf("checkpoint %s: %w", name, err)
	}
	m.TensorsHash = sum
	if m.Checksum, err = m.sum(); err != nil {
		return fmt.Errorf("checkpoint %s: %w", name, err)
	}
	if err := data.WriteJSON(filepath.Join(dir, name+".json"), m); err != nil {
		return fmt.Errorf("checkpoint %s: %w", name, err)
	}
	return nil
}

func tensorsOf[T kernel.Float](prefix string, layout []kernel.Tensor, flat []T) []data.Named {
	var out []data.Named
	for _, t := range layout {
		var a *data.Array
		switch v := any(flat[t.Offset : t.Offset+t.Size()]).(type) {
		case []float32:
			a = data.NewArray(t.Shape, v)
		case []float64:
			a = data.NewArray(t.Shape, v)
		}
		out = append(out, data.Named{Name: prefix + t.Name, Array: a})
	}
	return out
}

// readCheckpoint reads a checkpoint whose tensors must match layout.
func readCheckpoint[T kernel.Float](run, name string, layout []kernel.Tensor, moments bool) (*state[T], Meta, error) {
	dir := checkpointDir(run)
	var m Meta
	if err := data.ReadJSON(filepath.Join(dir, name+".json"), &m); err != nil {
		return nil, m, err
	}
	if m.Version != model.SpecVersion {
		return nil, m, fmt.Errorf("checkpoint %s of run %s has version %d; this pihc reads version %d", name, run, m.Version, model.SpecVersion)
	}
	if sum, err := m.sum(); err != nil || sum != m.Checksum {
		return nil, m, &data.CorruptError{File: filepath.Join(dir, name+".json"), Reason: "its content does not match its checksum: it was altered"}
	}
	if m.Tensors != filepath.Base(m.Tensors) || m.TensorsHash == "" {
		return nil, m, fmt.Errorf("checkpoint %s of run %s: its JSON names no tensors", name, run)
	}
	path := filepath.Join(dir, m.Tensors)
	tensors, _, err := data.ReadSafetensors(path, m.TensorsHash)
	if err != nil {
		return nil, m, err
	}
	size := 0
	for _, t := range layout {
		size += t.Size()
	}
	s := &state[T]{
		State: model.State[T]{Updates: m.Updates}, step: m.Step, badInRow: m.BadInRow, badTotal: m.BadTotal,
		bestStep: m.BestStep, bestResidual: float64(m.BestResidual),
	}
	read := func(prefix string, dst *[]T) error {
		*dst = make([]T, size)
		for _, t := range layout {
			a := data.Find(tensors, prefix+t.Name)
			if a == nil {
				return fmt.Errorf("%s: tensor %s is missing", path, prefix+t.Name)
			}
			v, ok := a.Data.([]T)
			if !ok || data.FormatShape(a.Shape) != data.FormatShape(t.Shape) {
				return fmt.Errorf("%s: tensor %s is %s of %s; the spec wants %s of %s", path, prefix+t.Name,
					data.FormatShape(a.Shape), a.Type(), data.FormatShape(t.Shape), typeName[T]())
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

func typeName[T kernel.Float]() string {
	var z T
	if _, ok := any(z).(float32); ok {
		return "float32"
	}
	return "float64"
}

// stepName is the name of the checkpoint of a step.
func stepName(step int) string { return fmt.Sprintf("step-%08d", step) }

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
		if n, ok := strings.CutSuffix(e.Name(), ".json"); ok && strings.HasPrefix(n, "step-") {
			names = append(names, n)
		}
	}
	sort.Strings(names)
	return names, nil
}

// prune removes all step checkpoints but the newest ones: first the JSON, so
// that none is ever without its tensors.
func prune(run string) error {
	names, err := stepCheckpoints(run)
	if err != nil {
		return err
	}
	for _, n := range names[:max(0, len(names)-keepCheckpoints)] {
		for _, ext := range []string{".json", ".safetensors"} {
			if err := os.Remove(filepath.Join(checkpointDir(run), n+ext)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

var infinity = math.Inf(1)
