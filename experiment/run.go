package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"unicode/utf8"

	"pihc/data"
	"pihc/internal/dataset"
	"pihc/internal/disk"
	"pihc/internal/machine"
	"pihc/internal/words"
	"pihc/model"
	"pihc/pde"
	"pihc/train"
)

// infoVersion is the version of run.json. It changes when an old one can no longer be read.
const infoVersion = 1

// runInfo is run.json: where the dataset of a run is.
type runInfo struct {
	Version     int    `json:"version"`
	Data        string `json:"data"`          // absolute
	DataFromRun string `json:"data_from_run"` // relative to the run folder, for folders that move together
	// The same two where JSON cannot hold them, because they are not UTF-8.
	DataBytes        []byte `json:"data_bytes,omitempty"`
	DataFromRunBytes []byte `json:"data_from_run_bytes,omitempty"`

	DatasetHash string `json:"dataset_hash"`
	Pihc        string `json:"pihc"`           // version that began the run
	From        string `json:"from,omitempty"` // absolute; the run whose parameters it began with
}

// newRunInfo returns the content of run.json for a run in dir, which begins with the parameters of the run from, if any.
func newRunInfo(dir, dataDir, from string, set *data.Dataset) ([]byte, error) {
	info := runInfo{Version: infoVersion, DatasetHash: set.Checksum, Pihc: machine.Version()}
	var err error
	if from != "" {
		if info.From, err = filepath.Abs(from); err != nil {
			return nil, err
		}
	}
	if info.Data, err = filepath.Abs(dataDir); err != nil {
		return nil, err
	}
	run, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if rel, err := filepath.Rel(run, info.Data); err == nil {
		info.DataFromRun = filepath.ToSlash(rel)
	}
	if !utf8.ValidString(info.Data) || !utf8.ValidString(info.DataFromRun) {
		info.DataBytes, info.DataFromRunBytes = []byte(info.Data), []byte(info.DataFromRun)
	}
	text, err := json.MarshalIndent(info, "", "  ")
	return append(text, '\n'), err
}

// readRunInfo reads the run.json of a run folder.
func readRunInfo(run string) (info runInfo, err error) {
	path := train.Folder(run).InfoFile()
	if err = disk.ReadJSON(path, &info); err == nil && info.Version != infoVersion {
		err = &disk.VersionError{File: path, Got: info.Version, Want: infoVersion}
	}
	return info, err
}

// A Run is a run folder: what was trained, and how.
type Run struct {
	Dir     string
	Spec    *model.Spec // resolved, with overrides
	Problem *pde.Problem
	// Summary and Warnings are of the training that returned the run; an opened run has none.
	Summary  train.Summary
	Warnings []string

	overrides []string
	systems   systems
}

// OpenRun reads the spec and the problem of a run folder. Overrides change values of the spec for this use of the run alone;
// problem, constants, seed, grid, rollout and network stay those of its training. One that no use of a run reads is an error.
func OpenRun(dir string, overrides ...string) (*Run, error) {
	spec, p, err := train.Folder(dir).Read()
	if err != nil {
		return nil, err
	}
	r := &Run{Dir: dir, Spec: spec, Problem: p, overrides: lasting(overrides)}
	if len(overrides) == 0 {
		return r, nil
	}
	for _, override := range overrides {
		if err := model.CheckBlock(override); err != nil {
			return nil, &UsageError{err}
		}
	}
	changed, err := model.ReadStoredSpec(train.Folder(dir).SpecFile(), overrides...)
	switch {
	case err != nil:
	case !maps.Equal(changed.Constants, spec.Constants):
		err = usagef("--set constants: a run keeps the constants it was trained with")
	case changed.Problem != spec.Problem || changed.Seed != spec.Seed:
		err = usagef("--set problem, --set seed: a run keeps those it was trained with")
	case changed.Segments() != spec.Segments():
		err = usagef("--set rollout: a run keeps the segments it was trained with")
	case spec.Network.Passes == 1 && changed.Network.Passes > 1:
		err = words.WithHint(usagef("--set network.passes=%d: run %s was trained with one pass, and its network corrects no field", changed.Network.Passes, dir), "network.passes and network.features of the spec make one that does")
	case !maps.Equal(changed.Grid, spec.Grid):
		err = words.WithHint(usagef("--set grid: a run keeps the grid it was trained on, where the borders of experts are"), "--grid puts it on other points")
	}
	if r.Spec = changed; err == nil {
		err = r.checkOverrides()
	}
	return r, err
}

// Dataset opens the dataset of a run: that of the folder given, or, with "", the one it was trained with.
func (r *Run) Dataset(given string) (*data.Dataset, error) {
	set, _, err := r.openData(given)
	return set, err
}

// checkData reports a dataset of another problem than the run's.
func (r *Run) checkData(set *data.Dataset) error {
	if set.ProblemHash != dataset.ProblemHash(r.Problem) {
		return words.WithHint(fmt.Errorf("run %s: the dataset was generated for problem %s with another PDE file", r.Dir, set.Problem), "generate one from the run's spec: `pihc generate %s/spec.yaml --out DIR`", r.Dir)
	}
	return nil
}

// Origin is what run.json says of a run: the hash of its dataset, and the version of the program that began it.
func (r *Run) Origin() (dataset, program string, err error) {
	info, err := readRunInfo(r.Dir)
	return info.DatasetHash, info.Pihc, err
}

// openData opens the dataset of a run, and returns its folder: the one given, or that which run.json names.
func (r *Run) openData(given string) (*data.Dataset, string, error) {
	if given != "" {
		set, err := data.Open(given)
		return set, given, withDataHint(err, train.Folder(r.Dir).SpecFile(), given)
	}
	run := r.Dir
	info, err := readRunInfo(run)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", words.WithHint(fmt.Errorf("run %s does not say where its dataset is: it has no %s", run, filepath.Base(train.Folder(run).InfoFile())), "name the dataset with --data DIR")
	}
	if err != nil {
		return nil, "", err
	}
	if info.DataBytes != nil {
		info.Data, info.DataFromRun = string(info.DataBytes), string(info.DataFromRunBytes)
	}
	// The recorded place, then the same place seen from a run folder that moved.
	for _, dir := range []string{info.Data, filepath.Join(run, filepath.FromSlash(info.DataFromRun))} {
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		set, err := data.Open(dir)
		if err != nil {
			return nil, "", err
		}
		if set.Checksum == info.DatasetHash {
			return set, dir, nil
		}
	}
	return nil, "", words.WithHint(fmt.Errorf("run %s: its dataset is not in %s any more", run, info.Data), "name the dataset with --data DIR")
}

// trainSeconds is the time spent in training according to the log, over all
// processes that took part.
func trainSeconds(records []train.Record) float64 {
	var total, last float64
	for _, r := range records {
		if r.Seconds < last { // an older log, in which a later process began its own clock
			total += last
		}
		last = r.Seconds
	}
	return total + last
}

// TrainSeconds is the time that the training has taken, over all processes that took part; 0 where the run has no log.
func (r *Run) TrainSeconds() (float64, error) {
	records, err := r.Log()
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return trainSeconds(records), err
}

// Log reads the log of a run.
func (r *Run) Log() ([]train.Record, error) {
	return disk.ReadLogAs[train.Record](train.Folder(r.Dir).LogFile())
}
