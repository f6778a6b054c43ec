package paper

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"pihc/data"
	"pihc/engine"
	"pihc/experiment"
	"pihc/internal/words"
	"pihc/model"
	"pihc/report"
	"pihc/score"
)

// residualStudy is the JSON of reproduce residuals.
type residualStudy struct {
	origin
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
	Method           string         `json:"method"`
	Varied           string         `json:"varied"`
	Points           int            `json:"points"` // per expert, 0 for all
	Tolerance        float64        `json:"tolerance"`
	MaxIterations    int            `json:"max_iterations"`
	Samples          int            `json:"samples"` // the first of the test split, over which the next two are summed up
	RelativeL2       *score.Summary `json:"relative_l2"`
	RelativeResidual *score.Summary `json:"relative_residual"`
	ConstraintRMS    [][]data.Float `json:"constraint_rms"` // per sample and expert

	rows int // of the equation, in each solve
}

// What is varied.
const (
	variedNothing    = "as trained"
	variedPoints     = "points"
	variedTolerance  = "tolerance"
	variedIterations = "iterations"
)

func studyResiduals(ctx context.Context, s *Work) (result, *report.Study, error) {
	out := &residualStudy{}
	var rows []string
	for _, method := range model.Methods {
		run := experiment.Run{Dir: s.Runs[method]}
		records, err := run.Log()
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
		Title: "Residuals, " + s.Of,
		Summary: []string{
			"The table: trained models on test samples with other points, tolerance and iterations than in training: what a solve reaches at its own rows (constraint_rms, one per sample and expert), " +
				"and what that is worth on the whole grid (relative residual: without weights, over the rate of the solution).",
			"The charts: rows of the validation samples during training, root mean squares over the whole grid in the PDE file's weighting, each set of rows apart; then constraint_rms over what is varied.",
		},
	}
	iterated, err := iteratedText(s.Runs[model.MoE])
	if err != nil {
		return nil, nil, err
	}
	page.Summary = append(page.Summary, iterated...)
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
	table := &report.Table{Columns: append([]report.Column{{Title: "method"}, {Title: "varied"}}, numbers("points", "tolerance", "iterations", "constraint_rms", "largest", "relative residual", "relative L²")...)}
	for _, method := range []string{model.Hard, model.MoE} {
		solves, err := residualSolves(ctx, s, method)
		if err != nil {
			return nil, nil, err
		}
		for _, x := range solves {
			points := "all"
			if x.Points > 0 {
				points = words.Count(x.Points)
			}
			rms := score.Summarize(x.all())
			table.Add(model.MethodLabel(method), x.Varied, points, words.Number(x.Tolerance), words.Count(x.MaxIterations),
				words.Number(rms.Mean), words.Number(rms.Max), words.Percent(x.RelativeResidual.Mean), words.Percent(x.RelativeL2.Mean))
		}
		out.Solves = append(out.Solves, solves...)
	}
	table.Title = fmt.Sprintf("Solves of the trained runs, over %d test samples", out.Solves[0].Samples)
	page.Tables, page.Charts = []*report.Table{table}, append(page.Charts, solveCharts(out.Solves)...)
	return out, page, nil
}

// solveCharts draw what solves leave in their own rows over what is varied: a mark for each
// sample and expert, and a line through their means (the paper's figures of the residual of
// each condition and expert).
func solveCharts(solves []residualSolve) []report.Chart {
	var charts []report.Chart
	for _, varied := range []struct {
		name, of string
		x        func(*residualSolve) float64
		first    string // what else belongs to it
	}{
		{variedPoints, "rows of each solve", func(s *residualSolve) float64 { return float64(s.rows) }, variedNothing},
		{variedTolerance, "gradient tolerance", func(s *residualSolve) float64 { return s.Tolerance }, ""},
		{variedIterations, "iterations at most", func(s *residualSolve) float64 { return float64(s.MaxIterations) }, ""},
	} {
		chart := report.Chart{
			Name: "constraint_rms_" + varied.name, X: varied.of, Y: "constraint_rms", LogX: true, LogY: true,
			Caption: "What solves leave in their rows over the " + varied.of + ": each sample and expert, and the means",
		}
		for _, method := range []string{model.Hard, model.MoE} {
			color := slices.Index(model.Methods, method)
			each := report.ChartLine{Label: "each of " + model.MethodLabel(method), Color: color, Bare: true}
			mean := report.ChartLine{Label: model.MethodLabel(method), Color: color}
			var own []*residualSolve
			for i := range solves {
				if s := &solves[i]; s.Method == method && (s.Varied == varied.name || s.Varied == varied.first) {
					own = append(own, s)
				}
			}
			slices.SortStableFunc(own, func(a, b *residualSolve) int { return cmp.Compare(varied.x(a), varied.x(b)) })
			for _, s := range own {
				for _, v := range s.all() {
					each.X, each.Y = append(each.X, varied.x(s)), append(each.Y, v)
				}
				mean.X, mean.Y = append(mean.X, varied.x(s)), append(mean.Y, score.Summarize(s.all()).Mean)
			}
			chart.Lines = append(chart.Lines, each, mean)
		}
		charts = append(charts, chart)
	}
	return charts
}

// all are the constraint_rms of all samples and experts.
func (s *residualSolve) all() (all []float64) {
	for _, sample := range s.ConstraintRMS {
		for _, v := range sample {
			all = append(all, float64(v))
		}
	}
	return all
}

// iteratedText says that a run has several passes; nothing for one.
func iteratedText(dir string) ([]string, error) {
	run, err := experiment.OpenRun(dir)
	if err != nil || run.Spec.Network.Passes == 1 {
		return nil, err
	}
	return []string{fmt.Sprintf("Iterated: all is after the %d passes of training, each of which corrects the field of the pass before. The paper's methods have one.", run.Spec.Network.Passes)}, nil
}

// residualSolves evaluates a run with one thing after another changed.
func residualSolves(ctx context.Context, s *Work, method string) ([]residualSolve, error) {
	dir := s.Runs[method]
	trained, err := experiment.OpenRun(dir)
	if err != nil {
		return nil, err
	}
	type variation struct {
		name   string
		set    []string
		change func(e *experiment.Evaluation)
	}
	none := func(*experiment.Evaluation) {}
	points := func(n int) func(*experiment.Evaluation) { return func(e *experiment.Evaluation) { e.Points = &n } }
	list := []variation{{variedNothing, nil, none}}
	for _, part := range []int{16, 4} {
		if n := trained.Spec.Constraint.Points / part; n > 0 {
			list = append(list, variation{variedPoints, nil, points(n)})
		}
	}
	list = append(list, variation{variedPoints, nil, points(0)})
	for _, tolerance := range []float64{1e-1, 1e-2, 1e-8} {
		list = append(list, variation{variedTolerance, []string{"constraint.cost_tolerance=0"}, func(e *experiment.Evaluation) { e.Tolerance = tolerance }})
	}
	for _, n := range []int{1, 2, 4, 8} {
		list = append(list, variation{variedIterations, []string{fmt.Sprintf("constraint.max_iterations=%d", n)}, none})
	}
	var out []residualSolve
	for _, v := range list {
		run, err := experiment.OpenRun(dir, v.set...)
		if err != nil {
			return nil, err
		}
		evaluation := s.asTrained()
		v.change(&evaluation)
		e, err := run.Open(evaluation)
		if err != nil {
			return nil, err
		}
		solve := e.Info().Spec.Constraint
		x := residualSolve{Method: method, Varied: v.name, Points: solve.Points, Tolerance: solve.Tolerance, MaxIterations: solve.MaxIterations}
		x.rows, _ = solveRows(e.Info())
		err = func() error {
			defer e.Close()
			samples, err := experiment.LoadSamples(s.Set, "test", run.Problem, e.Info().Grid, s.Samples)
			if err != nil {
				return err
			}
			bar := s.Stage("residuals of "+model.MethodLabel(method), len(samples.Inputs))
			defer bar.End()
			result, err := e.Evaluate(samples, bar.While(ctx, func(_ int, prediction *engine.Prediction) error {
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
			x.Samples, x.RelativeL2, x.RelativeResidual = result.Samples, result.RelativeL2, result.RelativeResidual
			return nil
		}()
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}
