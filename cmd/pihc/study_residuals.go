package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"pihc/data"
	"pihc/model"
	"pihc/report"
)

// residualStudy is the JSON of reproduce residuals.
type residualStudy struct {
	Curves []residualCurve `json:"curves"` // of training
	Solves []residualSolve `json:"solves"` // of the trained runs
}

// residualCurve is a set of rows of the validation samples, over the whole grid, while a
// method is trained.
type residualCurve struct {
	Method string       `json:"method"`
	Rows   string       `json:"rows"`
	Steps  []int        `json:"steps"`
	RMS    []data.Float `json:"rms"`
}

// residualSolve is a trained run whose solves have other points, tolerance or iterations.
type residualSolve struct {
	Method           string          `json:"method"`
	Varied           string          `json:"varied"`
	Points           int             `json:"points"` // per expert, 0 for all
	Tolerance        float64         `json:"tolerance"`
	MaxIterations    int             `json:"max_iterations"`
	RelativeL2       *report.Summary `json:"relative_l2"`
	RelativeResidual *report.Summary `json:"relative_residual"`
	ConstraintRMS    [][]data.Float  `json:"constraint_rms"` // per sample and expert
}

func (a *app) studyResiduals(ctx context.Context, s *studied) (any, *report.Study, error) {
	out := &residualStudy{}
	var rows []string
	for _, method := range model.Methods {
		records, err := readLog(s.runs[method])
		if err != nil {
			return nil, nil, err
		}
		at := map[string]int{}
		for _, r := range records {
			for _, name := range slices.Sorted(maps.Keys(r.ValidationRMS)) {
				i, ok := at[name]
				if !ok {
					i = len(out.Curves)
					at[name], out.Curves = i, append(out.Curves, residualCurve{Method: method, Rows: name})
				}
				if !slices.Contains(rows, name) {
					rows = append(rows, name)
				}
				c := &out.Curves[i]
				c.Steps, c.RMS = append(c.Steps, r.Step), append(c.RMS, r.ValidationRMS[name])
			}
		}
	}
	if i := slices.Index(rows, "residual"); i > 0 { // the equation first
		rows = slices.Insert(slices.Delete(rows, i, i+1), 0, "residual")
	}
	page := &report.Study{
		Title: "Residuals, " + s.of,
		Summary: []string{
			"The table: trained models on test samples with other points, tolerance and iterations than in training: what a solve reaches at its own rows (constraint_rms, one per sample and expert), " +
				"and what that is worth on the whole grid (relative residual: without weights, over the rate of the solution).",
			"The charts: rows of the validation samples during training, root mean squares over the whole grid in the PDE file's weighting, each set of rows apart.",
		},
	}
	for _, name := range rows {
		chart := report.Chart{Name: "rows_" + name, Caption: "Rows \"" + name + "\" on validation", X: "step", Y: "rms of rows " + name, LogY: true}
		for _, c := range out.Curves {
			if c.Rows != name {
				continue
			}
			l := report.ChartLine{Label: model.MethodLabel(c.Method), Color: slices.Index(model.Methods, c.Method)}
			for i, step := range c.Steps {
				l.X, l.Y = append(l.X, float64(step)), append(l.Y, float64(c.RMS[i]))
			}
			chart.Lines = append(chart.Lines, l)
		}
		page.Charts = append(page.Charts, chart)
	}
	table := &report.Table{Title: "Solves of the trained runs", Columns: []report.Column{
		{Title: "method"},
		{Title: "varied"},
		{Title: "points", Right: true},
		{Title: "tolerance", Right: true},
		{Title: "iterations", Right: true},
		{Title: "constraint_rms", Right: true},
		{Title: "largest", Right: true},
		{Title: "relative residual", Right: true},
		{Title: "relative L²", Right: true},
	}}
	for _, method := range []string{model.Hard, model.MoE} {
		solves, err := a.residualSolves(ctx, s, method)
		if err != nil {
			return nil, nil, err
		}
		for _, x := range solves {
			var all []float64
			for _, sample := range x.ConstraintRMS {
				for _, v := range sample {
					all = append(all, float64(v))
				}
			}
			points := "all"
			if x.Points > 0 {
				points = report.Count(x.Points)
			}
			rms := report.Summarize(all)
			table.Add(model.MethodLabel(method), x.Varied, points, report.Number(x.Tolerance), report.Count(x.MaxIterations),
				report.Number(rms.Mean), report.Number(rms.Max), report.Percent(x.RelativeResidual.Mean), report.Percent(x.RelativeL2.Mean))
		}
		out.Solves = append(out.Solves, solves...)
	}
	page.Tables = []*report.Table{table}
	return out, page, nil
}

// residualSolves evaluates a run with one thing after another changed.
func (a *app) residualSolves(ctx context.Context, s *studied, method string) ([]residualSolve, error) {
	dir := s.runs[method]
	trained, _, err := readRun(dir, nil)
	if err != nil {
		return nil, err
	}
	type variation struct {
		name    string
		set     []string
		options evaluatorOptions
	}
	list := []variation{{name: "as trained", options: evaluatorOptions{points: -1}}}
	for _, part := range []int{16, 4} {
		if n := trained.Constraint.Points / part; n > 0 {
			list = append(list, variation{"points", nil, evaluatorOptions{points: n}})
		}
	}
	list = append(list, variation{"points", nil, evaluatorOptions{points: 0}})
	for _, tolerance := range []float64{1e-1, 1e-2, 1e-8} {
		list = append(list, variation{"tolerance", []string{"constraint.cost_tolerance=0"}, evaluatorOptions{points: -1, tolerance: tolerance}})
	}
	for _, n := range []int{1, 2, 4, 8} {
		list = append(list, variation{"iterations", []string{fmt.Sprintf("constraint.max_iterations=%d", n)}, evaluatorOptions{points: -1}})
	}
	var out []residualSolve
	for _, v := range list {
		spec, p, err := readRun(dir, v.set)
		if err != nil {
			return nil, err
		}
		v.options.workers = s.workers
		e, err := openEvaluator(dir, spec, p, v.options)
		if err != nil {
			return nil, err
		}
		solve := e.info().Spec.Constraint
		x := residualSolve{Method: method, Varied: v.name, Points: solve.Points, Tolerance: solve.Tolerance, MaxIterations: solve.MaxIterations}
		err = func() error {
			defer e.close()
			samples, err := loadSamples(s.set, "test", p, e.info().Grid, s.samples)
			if err != nil {
				return err
			}
			bar := a.newMeter("residuals of "+model.MethodLabel(method), len(samples.Initial))
			defer bar.close()
			result, err := e.evaluate(samples, whileRunning(ctx, bar, func(_ int, prediction *model.Prediction) error {
				var rms []data.Float
				for _, o := range prediction.Experts {
					rms = append(rms, data.Float(o.ConstraintRMS))
				}
				x.ConstraintRMS = append(x.ConstraintRMS, rms)
				return nil
			}))
			if err != nil {
				return err
			}
			x.RelativeL2, x.RelativeResidual = result.RelativeL2, result.RelativeResidual
			return nil
		}()
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}
