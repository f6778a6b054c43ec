package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"pihc/data"
	"pihc/dataset"
	"pihc/grid"
	"pihc/model"
	"pihc/pde"
	"pihc/report"
	"pihc/train"
)

type reportOptions struct {
	out, data string
	trust     bool
	workers   int
}

func newReport(a *app) *cobra.Command {
	o := &reportOptions{}
	c := &cobra.Command{
		Use:   "report RUN... --out FILE.html",
		Short: "Compare trained runs on one self-contained page",
		Long: `report sets runs of one problem, grid and dataset side by side: what the figures
show and what to keep in mind, a table of errors with the paper's figures and
plain baselines, the equation in symbols, what is left of it, box plots, errors over
time, maps of the best, the median and the worst sample of moe with the experts'
borders and a choice of scales for differences, times against the classical solver,
training curves, solver iterations, and the specs; with two axes of space also
animations, and spectra where both are periodic. Dashed lines in figures are what the
discretisation alone costs (pihc check), the residual of the solution itself, and
persistence.

The page is one file that needs nothing from elsewhere. Into the folder FILE-figures
beside it go its figures as PNG and SVG, animations as GIF, and the numbers of all
figures, to which the page links: tables as CSV, fields as NPZ.

The classical solver is run on grids of 1/64, ..., 1/2 and all of the points in
space, and on finer ones up to its own, until it is as accurate as the best method
or a grid would take over ten seconds; its time and the network's are measured then.

Runs that were not evaluated on the whole test split are evaluated first. The
baselines are zero, the mean of the other test solutions and, where initial conditions are
constants, linear interpolation between the solutions at the two ends of their
distribution, or else the initial condition at all times. A line under the table
names each run that is no better than zero, that mean or the initial condition.`,
		Example: `  pihc report runs/soft runs/hard runs/moe --out report.html
  pihc report runs/moe --out runs/moe/report.html`,
		Args: positional("RUN", 1, -1),
		RunE: func(c *cobra.Command, args []string) error { return a.report(c.Context(), args, o) },
	}
	c.Flags().StringVarP(&o.out, "out", "o", "", "HTML file to write (required)")
	c.Flags().StringVarP(&o.data, "data", "d", "", "folder of the dataset (default the one of training)")
	trustFlag(c, &o.trust)
	workersFlag(c, &o.workers)
	return c
}

func (a *app) report(ctx context.Context, dirs []string, o *reportOptions) error {
	if o.out == "" {
		return usagef("--out FILE.html missing")
	}
	page, err := a.comparison(ctx, dirs, o.data, o.trust, o.workers)
	if err != nil {
		return err
	}
	if err := report.WritePage(o.out, *page); err != nil {
		return err
	}
	if err := a.printTables(page); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "\nreport: %s\n", o.out)
	return err
}

// printTables writes the comparison, what is left of the equation, and times; and errors on
// several grids where there are.
func (a *app) printTables(page *report.Page) error {
	_, err := page.Table().WriteTo(a.Out)
	for _, t := range []*report.Table{page.RemainderTable(), page.GridTable(), page.Cost.Table()} {
		if t == nil || err != nil {
			continue
		}
		if _, err = fmt.Fprintln(a.Out); err == nil {
			_, err = t.WriteTo(a.Out)
		}
	}
	return err
}

// scored is a run with its scores: what a page says of it but its fields.
type scored struct {
	dir, text string // folder, and its spec as written
	spec      *model.Spec
	problem   *pde.Problem
	grid      *grid.Grid // of the evaluation
	repeat    string     // passes where not as trained
	edited    []string   // files of the folder that are not those of its training
	method    report.Method
}

// comparison evaluates the runs where needed and makes their page. Runs are opened twice: what
// is drawn depends on the scores of all.
func (a *app) comparison(ctx context.Context, dirs []string, dataDir string, trust bool, workers int) (*report.Page, error) {
	options := asTrained
	options.workers, options.trust = workers, trust
	var runs []scored
	var set *data.Dataset
	for i, dir := range dirs {
		spec, p, err := readRun(dir, nil)
		if err != nil {
			return nil, err
		}
		this, _, err := openRunData(dir, dataDir)
		if err != nil {
			return nil, err
		}
		if set == nil {
			set = this
		}
		if this.Manifest().Checksum != set.Manifest().Checksum || i > 0 && dataset.ProblemHash(p) != dataset.ProblemHash(runs[0].problem) {
			return nil, withHint(fmt.Errorf("runs %s and %s differ in problem or dataset", dirs[0], dir), "report runs of one problem and one dataset together")
		}
		if err := checkRunData(dir, p, this); err != nil {
			return nil, err
		}
		if g, err := p.Grid(spec.Grid); err != nil {
			return nil, err
		} else if i > 0 && !slices.Equal(g.Shape(), runs[0].grid.Shape()) {
			return nil, fmt.Errorf("run %s has another grid than those before it", dir)
		}
		run, err := a.scoreRun(ctx, dir, spec, p, set, options.orSpec(spec))
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	nameRuns(runs)
	first := runs[0]
	samples, err := loadSamples(set, "test", first.problem, first.grid, 0)
	if err != nil {
		return nil, err
	}
	page := pageOf(runs, samples)
	cases := chooseCases(page, samples.Initial)
	if err := addCases(page, first.problem, first.grid, samples, cases); err != nil {
		return nil, err
	}
	timing := newTiming(first.problem, first.grid, samples, workers)
	for _, run := range runs {
		e, err := openEvaluator(run.dir, run.spec, run.problem, options.orSpec(run.spec))
		if err != nil {
			return nil, err
		}
		err = drawRun(ctx, page, e, samples, cases)
		if err == nil && timing != nil {
			err = timing.method(ctx, &run.method, e)
		}
		e.close()
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
	if err := addLevels(ctx, page, first.spec, first.problem, first.grid); err != nil {
		return nil, err
	}
	return page, addBaselines(page, first.problem, first.grid, samples)
}

// scoreRun scores a run where its folder has no scores.
func (a *app) scoreRun(ctx context.Context, dir string, spec *model.Spec, p *pde.Problem, set *data.Dataset, options evaluatorOptions) (scored, error) {
	text, err := spec.Encode()
	if err != nil {
		return scored{}, err
	}
	records, err := readLog(dir)
	if err != nil {
		return scored{}, err
	}
	e, err := openEvaluator(dir, spec, p, options)
	if err != nil {
		return scored{}, err
	}
	run := scored{dir: dir, text: string(text), spec: spec, problem: p, grid: e.info().Grid, repeat: e.repeat(), edited: e.meta().Edited, method: methodOf(spec, e)}
	a.warnEdits(dir, run.edited)
	m, stored := a.storedMetrics(dir, e, set)
	if !stored {
		m, err = a.score(ctx, dir, p, set, e, "test", 0)
	}
	e.close() // one engine at a time
	if err != nil {
		return scored{}, err
	}
	save := func() error { return data.WriteSealedJSON(filepath.Join(dir, train.MetricsFile), m) }
	if !stored {
		if err := save(); err != nil {
			return scored{}, err
		}
	}
	if err := a.evaluateGrids(ctx, m, dir, spec, p, set, options, 0, save); err != nil {
		return scored{}, err
	}
	m.TrainSeconds = trainSeconds(records) // it may have gone on since
	run.method.Curves, run.method.Evaluation = curves(records), m.Evaluation
	return run, nil
}
