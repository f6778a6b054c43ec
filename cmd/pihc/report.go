package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"pihc/experiment"
	"pihc/report"
)

type reportOptions struct {
	out, data string
	trust     bool
	force     bool
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
training curves, solver iterations, and the specs; spectra where both of two axes of
space are periodic. Dashed lines in figures are what the discretisation alone costs
(pihc check), the residual of the solution itself, and persistence.

The page is one file that needs nothing from elsewhere. Into the folder FILE-figures
beside it go its figures as PNG and SVG, and the numbers of all figures, to which the
page links: tables as CSV, fields at all times as NPZ.

The classical solver is run on grids of 1/64, ..., 1/2 and all of the points in
space, and on finer ones up to its own, until it is as accurate as the best method
or a grid would take over ten seconds; its time and the network's are measured then.

Runs that were not evaluated on the whole test split are evaluated first. The
baselines are zero, the mean of the other test solutions and, where initial conditions are
constants, linear interpolation between the solutions at the two ends of their
distribution, or else the initial condition at all times. The first lines, here and on
the page, name each run that diverged, collapsed, has a mean error above 10 % or one
above 30 %, or is no better than zero, that mean or the initial condition.`,
		Example: `  pihc report runs/soft runs/hard runs/moe --out report.html
  pihc report runs/moe --out runs/moe/report.html`,
		Args: positional("RUN", 1, -1),
		RunE: func(c *cobra.Command, args []string) error { return a.report(c.Context(), args, o) },
	}
	c.Flags().StringVarP(&o.out, "out", "o", "", "HTML file to write (required)")
	c.Flags().StringVarP(&o.data, "data", "d", "", "folder of the dataset (default the one of training)")
	forceFlag(c, &o.force)
	trustFlag(c, &o.trust)
	workersFlag(c, &o.workers)
	return c
}

func (a *app) report(ctx context.Context, dirs []string, o *reportOptions) error {
	if o.out == "" {
		return usagef("--out FILE.html missing")
	}
	if err := report.CheckFile(o.out, o.force); err != nil { // before all that takes long
		return err
	}
	page, err := a.compare(ctx, dirs, experiment.CompareOptions{Options: a.options(o.workers), Data: o.data, TrustEdits: o.trust})
	if err != nil {
		return err
	}
	page.Overwrite = o.force
	if err := page.Write(o.out); err != nil {
		return err
	}
	if err := a.printTables(&page.Page); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "\nreport: %s\n", o.out)
	return err
}

// compare is the page of the runs in some folders.
func (a *app) compare(ctx context.Context, dirs []string, o experiment.CompareOptions) (*experiment.Comparison, error) {
	runs := make([]*experiment.Run, len(dirs))
	for i, dir := range dirs {
		var err error
		if runs[i], err = experiment.OpenRun(dir); err != nil {
			return nil, err
		}
	}
	return runs[0].Compare(ctx, runs[1:], o)
}

// printTables writes the comparison, what is left of the equation, and times; and errors on
// several grids where there are.
func (a *app) printTables(page *report.Page) error {
	for i := range page.Methods {
		if err := printVerdict(a.Out, page.Methods[i].Label+": ", &page.Methods[i].Evaluation); err != nil {
			return err
		}
	}
	_, err := page.Table().WriteTo(a.Out)
	for _, t := range []*report.Table{page.RemainderTable(), page.GridTable(), page.Cost.Table(), page.Cost.UsesTable()} {
		if t == nil || err != nil {
			continue
		}
		if _, err = fmt.Fprintln(a.Out); err == nil {
			_, err = t.WriteTo(a.Out)
		}
	}
	return err
}
