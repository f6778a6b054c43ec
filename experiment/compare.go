package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pihc/data"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/disk"
	"pihc/internal/words"
	"pihc/report"
	"pihc/train"
)

// scored is a run with its scores: what a page says of it but its fields.
type scored struct {
	run    *Run
	text   string     // its spec as written
	grid   *grid.Grid // of the evaluation
	repeat string     // passes where not as trained
	edited []string   // files of the folder that are not those of its training
	method report.Method
}

// CompareOptions say how runs are compared.
type CompareOptions struct {
	Options
	Data       string // folder of the dataset; "": the one of training
	TrustEdits bool   // run folders that were edited
}

// A Comparison is a page that sets runs side by side, with what to be warned of.
type Comparison struct {
	report.Page
	Warnings []string
}

// Compare sets a run and others of the same problem, grid and dataset side by side. Runs without scores of the
// whole test split are scored first, and keep their scores in metrics.json.
func (r *Run) Compare(ctx context.Context, others []*Run, o CompareOptions) (*Comparison, error) {
	e := Evaluation{Options: o.Options, TrustEdits: o.TrustEdits}
	var runs []scored
	var set *data.Dataset
	var warnings []string
	for _, run := range append([]*Run{r}, others...) {
		this, err := comparable(run, runs, set, &o)
		if err != nil {
			return nil, err
		}
		set = this
		x, err := run.scoreAll(ctx, set, e, &warnings)
		if err != nil {
			return nil, err
		}
		runs = append(runs, x)
	}
	nameRuns(runs)
	// Runs are opened twice: what is drawn depends on the scores of all.
	first := runs[0]
	p := first.run.Problem
	samples, err := LoadSamples(set, "test", p, first.grid, 0)
	if err != nil {
		return nil, err
	}
	page := pageOf(runs, samples)
	cases := chooseCases(page, samples.Inputs)
	if err := addCases(page, p, first.grid, samples, cases); err != nil {
		return nil, err
	}
	timing := newTiming(p, first.grid, samples, o.Workers)
	for _, x := range runs {
		made, err := x.run.Open(e)
		if err != nil {
			return nil, err
		}
		err = drawRun(ctx, page, made, samples, cases)
		if err == nil && timing != nil {
			err = timing.method(ctx, &x.method, made)
		}
		made.Close()
		if err != nil {
			return nil, err
		}
	}
	if timing != nil {
		if page.Cost, err = timing.cost(ctx); err != nil {
			return nil, err
		}
	}
	trivialNotes(page)
	if err := addLevels(ctx, page, first.run, first.grid); err != nil {
		return nil, err
	}
	if err := addBaselines(page, p, first.grid, samples); err != nil {
		return nil, err
	}
	return &Comparison{*page, warnings}, nil
}

// comparable opens the dataset of a run, which must be that of the runs before it.
func comparable(run *Run, before []scored, set *data.Dataset, o *CompareOptions) (*data.Dataset, error) {
	if len(run.overrides) > 0 {
		return nil, usagef("run %s, opened with %s: a page compares runs as they are", run.Dir, strings.Join(run.overrides, ", "))
	}
	this, err := run.Dataset(o.Data)
	if err != nil {
		return nil, err
	}
	if set != nil && (this.Checksum != set.Checksum || dataset.ProblemHash(run.Problem) != dataset.ProblemHash(before[0].run.Problem)) {
		return nil, words.WithHint(fmt.Errorf("runs %s and %s differ in problem or dataset", before[0].run.Dir, run.Dir), "report runs of one problem and one dataset together")
	}
	if err := run.checkData(this); err != nil {
		return nil, err
	}
	g, err := run.Problem.Grid(run.Spec.Grid)
	if err == nil && set != nil && !slices.Equal(g.Shape(), before[0].grid.Shape()) {
		err = fmt.Errorf("run %s has another grid than those before it", run.Dir)
	}
	return this, err
}

// scoreAll scores a run on all its grids where its folder has no scores.
func (r *Run) scoreAll(ctx context.Context, set *data.Dataset, o Evaluation, warnings *[]string) (scored, error) {
	text, err := r.Spec.Encode()
	if err != nil {
		return scored{}, err
	}
	records, err := r.Log()
	if err != nil {
		return scored{}, err
	}
	e, err := r.Open(o)
	if err != nil {
		return scored{}, err
	}
	run := scored{run: r, text: string(text), grid: e.Info().Grid, repeat: e.Repeat(), edited: e.Meta().Edited, method: methodOf(r.Spec, e)}
	warn := func(format string, args ...any) { o.warn(warnings, format, args...) }
	o.warnEdits(warnings, r.Dir, run.edited)
	m, stored := r.storedMetrics(e, set, warn)
	all := ScoreOptions{Evaluation: o, Split: "test"}
	if !stored {
		metrics := disk.Output{Path: train.Folder(r.Dir).MetricsFile(), Force: true, Belongs: func(_, name string) bool { return true }}
		if err := metrics.Check(); err != nil {
			e.Close()
			return scored{}, err
		}
		m, err = r.score(ctx, set, e, &all)
	}
	e.Close() // one engine at a time
	if err != nil {
		return scored{}, err
	}
	save := func() error { return disk.WriteSealedJSON(train.Folder(r.Dir).MetricsFile(), m) }
	if !stored {
		if err := save(); err != nil {
			return scored{}, err
		}
	}
	if err := r.scoreGrids(ctx, m, set, all, save); err != nil {
		return scored{}, err
	}
	m.TrainSeconds = trainSeconds(records) // it may have gone on since
	run.method.Curves, run.method.Evaluation = curves(records), m.Evaluation
	return run, nil
}
