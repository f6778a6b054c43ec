package train

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"pihc/internal/kernel"
	"pihc/model"
	"pihc/pde"
)

// ReadRun reads the spec and the problem of a run folder.
func ReadRun(dir string) (*model.Spec, *pde.Problem, error) {
	spec, err := model.ReadSpec(filepath.Join(dir, SpecFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, notARun(dir)
	}
	if err != nil {
		return nil, nil, err
	}
	path := filepath.Join(dir, ProblemFile)
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	p, err := pde.Load(path, src)
	return spec, p, err
}

// LoadParams reads parameters of a run: those of the best checkpoint, or, where
// there is none yet or last is true, those of the newest. It also returns the
// checkpoint's description, with the borders of the experts.
func LoadParams[T kernel.Float](dir string, spec *model.Spec, p *pde.Problem, last bool) ([]T, Meta, error) {
	net, err := model.NewNetwork(spec, p)
	if err != nil {
		return nil, Meta{}, err
	}
	name := bestName
	if _, err := os.Stat(filepath.Join(checkpointDir(dir), bestName+metaExt)); last || errors.Is(err, fs.ErrNotExist) {
		if name, err = latest(dir); err != nil {
			return nil, Meta{}, err
		}
	}
	s, m, err := readCheckpoint[T](dir, name, net.Layout(), name != bestName)
	if err != nil {
		return nil, m, err
	}
	return s.evaluated(), m, nil
}

// recordStep returns the step of a log line, or a step past all others if it
// has none.
func recordStep(line []byte) int {
	var r struct {
		Step *int `json:"step"`
	}
	if json.Unmarshal(line, &r) != nil || r.Step == nil {
		return int(^uint(0) >> 1)
	}
	return *r.Step
}
