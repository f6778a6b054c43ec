// Package paper has the studies of the paper: which trainings each needs, and what it measures on their runs.
package paper

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"pihc/constraint"
	"pihc/data"
	"pihc/experiment"
	"pihc/internal/disk"
	"pihc/internal/kernel"
	"pihc/internal/machine"
	"pihc/model"
	"pihc/pde"
	"pihc/report"
	"pihc/train"
)

// A Study is an experiment of the paper on the runs of another, or on its spec with
// changes.
type Study struct {
	Problems []string `json:"problems"` // names of built-in experiments: the first, or what --problem names; specs of one's own too where there are several
	Changes  []string `json:"changes"`  // of its spec; a study with changes has runs of its own
	// Demo are further changes at demo size, by problem, which keep it within five minutes.
	Demo    map[string][]string `json:"demo"`
	Methods []string            `json:"methods"` // that are trained; none: all
	Arms    bool                `json:"arms"`    // trains those of expertArms instead
	// Published are figures of the paper for times beyond training, by method.
	Published map[string]report.Score `json:"published"`
	Source    string                  `json:"source"`
	// Of steps that are timed, by problem: samples in the paper, where it has other than the spec,
	// and how many times as long its single constraint takes as its experts.
	Batch map[string]int    `json:"batch"`
	Times map[string]string `json:"times"`
}

// measures evaluate the runs of a study; one that has none ends with the comparison of
// all runs.
var measures = map[string]func(ctx context.Context, s *Work) (result, *report.Study, error){
	"experts":       studyExperts,
	"interpolation": studyInterpolation,
	"residuals":     studyResiduals,
	"scaling":       studyScaling,
}

// Measures reports whether a study measures runs itself, in the place of the comparison of all.
func Measures(name string) bool { return measures[name] != nil }

// result is the JSON of a study: its figures, and what they come from.
type result interface{ from() *origin }

// origin says which program measured the figures of a study, where, and on which runs.
type origin struct {
	Pihc    string      `json:"pihc"` // version
	Machine string      `json:"machine"`
	Runs    []originRun `json:"runs"`
}

func (o *origin) from() *origin { return o }

type originRun struct {
	Name        string `json:"name"`
	Seed        uint64 `json:"seed"`
	SpecHash    string `json:"spec_hash"` // SHA-256 of its spec.yaml
	DatasetHash string `json:"dataset_hash"`
	Pihc        string `json:"pihc"` // version that began its training
}

// newOrigin describes the runs of a study, by name.
func newOrigin(s *Work) (origin, error) {
	o := origin{Pihc: machine.Version(), Machine: kernel.Machine()}
	for _, name := range slices.Sorted(maps.Keys(s.Runs)) {
		run, err := experiment.OpenRun(s.Runs[name])
		if err != nil {
			return o, err
		}
		text, err := disk.ReadFile(train.Folder(run.Dir).SpecFile())
		if err != nil {
			return o, err
		}
		dataset, program, err := run.Origin()
		if err != nil {
			return o, err
		}
		o.Runs = append(o.Runs, originRun{name, run.Spec.Seed, fmt.Sprintf("%x", sha256.Sum256(text)), dataset, program})
	}
	return o, nil
}

//go:embed studies.json
var studiesFile []byte

// Studies are the experiments of the paper, by name.
var Studies = func() (all map[string]Study) {
	if err := json.Unmarshal(studiesFile, &all); err != nil {
		panic(err)
	}
	for name, s := range all {
		if s.Methods == nil {
			s.Methods = model.Methods
			all[name] = s
		}
	}
	return all
}()

// Work is what a study works on.
type Work struct {
	experiment.Options
	Name, Dir string            // of the study, and the folder that gets its results
	Of        string            // the problem, and its scale unless it is one's own
	Runs      map[string]string // folders, by method or arm
	Set       *data.Dataset
	Samples   int  // of the test split; 0: all
	Overwrite bool // also files that no study wrote
}

// CheckFiles returns an error unless the results of a study may be written to a folder. Nothing is changed.
func CheckFiles(dir, name string, overwrite bool) error {
	numbers := disk.Output{Path: filepath.Join(dir, name+".json"), Kind: "file of a study of pihc", Force: overwrite, Makes: true, Ours: func(path string) bool {
		var o origin
		text, err := disk.ReadFile(path)
		return err == nil && json.Unmarshal(text, &o) == nil && o.Pihc != "" && o.Machine != "" && len(o.Runs) > 0 && len(o.Runs[0].SpecHash) == 2*sha256.Size
	}}
	return cmp.Or(numbers.Check(), report.CheckFile(filepath.Join(dir, name+".html"), overwrite))
}

// asTrained evaluates runs as they were trained.
func (s *Work) asTrained() experiment.Evaluation {
	return experiment.Evaluation{Options: experiment.Options{Workers: s.Workers}, AsTrained: true}
}

// Measure runs a study on trained runs, writes Dir/Name.json and Dir/Name.html, and returns the JSON's content, the page and
// its path.
func (s *Work) Measure(ctx context.Context) (out any, page *report.Study, path string, err error) {
	r, page, err := measures[s.Name](ctx, s)
	if err != nil {
		return nil, nil, "", err
	}
	if *r.from(), err = newOrigin(s); err != nil {
		return nil, nil, "", err
	}
	if err := CheckFiles(s.Dir, s.Name, s.Overwrite); err != nil {
		return nil, nil, "", err
	}
	page.Overwrite = s.Overwrite
	if err := disk.WriteJSON(filepath.Join(s.Dir, s.Name+".json"), r); err != nil {
		return nil, nil, "", err
	}
	page.Data = s.Name + ".json"
	page.Generated = fmt.Sprintf("pihc %s, %s", machine.Version(), time.Now().Format("2 January 2006"))
	for _, method := range slices.Sorted(maps.Keys(s.Runs)) {
		run, err := experiment.OpenRun(s.Runs[method])
		if err != nil {
			return nil, nil, "", err
		}
		text, err := run.Spec.Encode()
		if err != nil {
			return nil, nil, "", err
		}
		page.Specs = append(page.Specs, report.Spec{Title: model.MethodLabel(method), Text: string(text)})
	}
	path, err = page.Write(s.Dir, s.Name)
	return r, page, path, err
}

// numbers are columns of numbers.
func numbers(titles ...string) []report.Column {
	out := make([]report.Column, len(titles))
	for i, title := range titles {
		out[i] = report.Column{Title: title, Right: true}
	}
	return out
}

// discretized is a run's problem on its grid, with the options of its constraint and its experts.
func discretized(r *experiment.Run) (sys *pde.System, options constraint.Options, router constraint.Router, err error) {
	g, err := r.Problem.Grid(r.Spec.Grid)
	if err == nil {
		sys, err = r.Problem.Discretize(g)
	}
	if err == nil {
		options, err = r.Spec.Options(r.Problem)
	}
	if err == nil {
		router, err = options.NewRouter(g)
	}
	return sys, options, router, err
}
