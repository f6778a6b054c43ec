package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pihc/data"
	"pihc/model"
	"pihc/report"
)

// A study is an experiment of the paper on the runs of another, or on its spec with
// changes.
type study struct {
	base     string   // name of a built-in experiment, where --problem names none
	changes  []string // of its spec; a study with changes has runs of its own
	problems []string // that --problem may name
	methods  []string // that are trained
	// published are figures of the paper for times beyond training.
	published map[string]report.Score
	source    string
	run       func(a *app, ctx context.Context, s *studied) (any, *report.Study, error) // nil: the comparison of all runs
}

var studies = map[string]study{
	"temporal": {
		base: "diffusion-sorption", changes: []string{"training.window={t: [0, 400]}", "paper={}"}, problems: []string{"diffusion-sorption"}, methods: model.Methods,
		published: map[string]report.Score{model.Soft: {Mean: 8.0558, Std: 0.1906}, model.Hard: {Mean: 0.48047, Std: 0.0123}, model.MoE: {Mean: 0.1479, Std: 0.03}},
		source:    "Chalapathi, Du and Krishnapriyan, ICLR 2024, appendix on temporal generalization: error for t > 400 s alone, at the sizes of the paper",
	},
	"interpolation": {base: "diffusion-sorption", problems: []string{"diffusion-sorption"}, methods: []string{model.MoE}, run: (*app).studyInterpolation},
	"residuals":     {base: "diffusion-sorption", problems: []string{"diffusion-sorption", "navier-stokes"}, methods: model.Methods, run: (*app).studyResiduals},
	"scaling":       {base: "diffusion-sorption", problems: []string{"diffusion-sorption", "navier-stokes"}, methods: []string{model.Hard, model.MoE}, run: (*app).studyScaling},
}

// studied is what a study works on.
type studied struct {
	name, scale, dir string
	runs             map[string]string // by method
	set              *data.Dataset
	workers          int
	samples          int // test samples
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
	if o.fair || len(o.methods) > 0 {
		return s, "", usagef("%s has its own methods: --fair and --methods do not go with it", name)
	}
	if o.problem != "" {
		if !slices.Contains(s.problems, o.problem) {
			return s, "", usagef("--problem %s: %s is for %s", o.problem, name, strings.Join(s.problems, " and "))
		}
		s.base = o.problem
	}
	if len(s.changes) > 0 && o.out == "" {
		o.out = filepath.Join("runs", name+"-"+o.scale)
	}
	o.methods, o.set = s.methods, append(slices.Clone(s.changes), o.set...)
	return s, s.base, nil
}

// finish runs a study on trained runs, writes DIR/NAME.json and DIR/NAME.html, and
// prints its tables.
func (a *app) finish(ctx context.Context, run func(*app, context.Context, *studied) (any, *report.Study, error), s *studied, asJSON bool, begin time.Time) error {
	result, page, err := run(a, ctx, s)
	if err != nil {
		return err
	}
	if err := data.WriteJSON(filepath.Join(s.dir, s.name+".json"), result); err != nil {
		return err
	}
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
	_, err = fmt.Fprintf(a.Out, "report: %s\ntotal: %s\n", path, report.Duration(time.Since(begin).Seconds()))
	return err
}
