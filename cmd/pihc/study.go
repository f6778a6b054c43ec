package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pihc/data"
	"pihc/model"
	"pihc/pde"
	"pihc/report"
	"pihc/score"
	"pihc/train"
)

// A study is an experiment of the paper on the runs of another, or on its spec with
// changes.
type study struct {
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

// studyRuns evaluate the runs of a study; one that has none ends with the comparison of
// all runs.
var studyRuns = map[string]func(a *app, ctx context.Context, s *studied) (studyResult, *report.Study, error){
	"experts":       (*app).studyExperts,
	"interpolation": (*app).studyInterpolation,
	"residuals":     (*app).studyResiduals,
	"scaling":       (*app).studyScaling,
}

// studyResult is the JSON of a study: its figures, and what they come from.
type studyResult interface{ origin() *studyOrigin }

// studyOrigin says which program measured the figures of a study, where, and on which runs.
type studyOrigin struct {
	Pihc    string         `json:"pihc"` // version
	Machine string         `json:"machine"`
	Runs    []studyRunInfo `json:"runs"`
}

func (o *studyOrigin) origin() *studyOrigin { return o }

type studyRunInfo struct {
	Name        string `json:"name"`
	Seed        uint64 `json:"seed"`
	SpecHash    string `json:"spec_hash"` // SHA-256 of its spec.yaml
	DatasetHash string `json:"dataset_hash"`
	Pihc        string `json:"pihc"` // version that began its training
}

// newStudyOrigin describes the runs of a study, by name.
func newStudyOrigin(s *studied) (studyOrigin, error) {
	o := studyOrigin{Pihc: versionText(), Machine: machineText()}
	for _, name := range slices.Sorted(maps.Keys(s.runs)) {
		dir := s.runs[name]
		spec, _, err := readRun(dir, nil)
		if err != nil {
			return o, err
		}
		text, err := os.ReadFile(filepath.Join(dir, train.SpecFile))
		if err != nil {
			return o, err
		}
		info, err := readRunInfo(dir)
		if err != nil {
			return o, err
		}
		o.Runs = append(o.Runs, studyRunInfo{name, spec.Seed, fmt.Sprintf("%x", sha256.Sum256(text)), info.DatasetHash, info.Pihc})
	}
	return o, nil
}

//go:embed studies.json
var studiesFile []byte

var studies = func() (all map[string]study) {
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

// studied is what a study works on.
type studied struct {
	name, dir string
	of        string            // the problem, and its scale unless it is one's own
	runs      map[string]string // by method
	set       *data.Dataset
	workers   int
	samples   int // test samples
}

// study fills the options of reproduce for a study, and returns the experiment that it
// is on.
func (o *reproduceOptions) study(name string) (study, string, error) {
	s, ok := studies[name]
	if !ok {
		if o.problem != "" {
			return s, "", usagef("--problem %s: for %s", o.problem, strings.Join(slices.Sorted(maps.Keys(studies)), ", "))
		}
		return s, name, nil
	}
	if o.fair || o.onePass || len(o.methods) > 0 {
		return s, "", usagef("%s has its own methods: --fair, --one-pass and --methods do not go with it", name)
	}
	base := cmp.Or(o.problem, s.Problems[0])
	own := pde.IsPath(base)
	switch {
	case own && len(s.Problems) < 2, !own && !slices.Contains(s.Problems, base):
		known := strings.Join(s.Problems, ", ")
		if len(s.Problems) > 1 {
			known += " and spec files (SPEC.yaml)"
		}
		return s, "", usagef("--problem %s: %s is for %s", base, name, known)
	case (len(s.Changes) > 0 || s.Arms) && o.out == "" && !own:
		o.out = filepath.Join("runs", name+"-"+o.scale)
		if base != s.Problems[0] {
			o.out = filepath.Join("runs", name+"-"+base+"-"+o.scale)
		}
	}
	changes := slices.Clone(s.Changes)
	if o.scale == "demo" {
		changes = append(changes, s.Demo[base]...)
	}
	o.methods, o.set = s.Methods, append(changes, o.set...)
	return s, base, nil
}

// finish runs a study on trained runs, writes DIR/NAME.json and DIR/NAME.html, and
// prints its tables.
func (a *app) finish(ctx context.Context, run func(*app, context.Context, *studied) (studyResult, *report.Study, error), s *studied, asJSON bool, begin time.Time) error {
	result, page, err := run(a, ctx, s)
	if err != nil {
		return err
	}
	if *result.origin(), err = newStudyOrigin(s); err != nil {
		return err
	}
	if err := data.WriteJSON(filepath.Join(s.dir, s.name+".json"), result); err != nil {
		return err
	}
	page.Data = s.name + ".json"
	page.Generated = fmt.Sprintf("pihc %s, %s", versionText(), time.Now().Format("2 January 2006"))
	for _, method := range slices.Sorted(maps.Keys(s.runs)) {
		spec, _, err := readRun(s.runs[method], nil)
		if err != nil {
			return err
		}
		text, err := spec.Encode()
		if err != nil {
			return err
		}
		page.Specs = append(page.Specs, report.Spec{Title: model.MethodLabel(method), Text: string(text)})
	}
	path, err := report.WriteStudy(s.dir, s.name, *page)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(result)
	}
	for _, t := range page.Tables {
		if _, err := t.WriteTo(a.Out); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(a.Out); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(a.Out, "report: %s\ntotal: %s\n", path, score.Duration(time.Since(begin).Seconds()))
	return err
}
