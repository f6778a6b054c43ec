package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pihc/data"
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
		Long: `report sets runs of one problem, grid and dataset side by side: a table of errors
with the paper's figures and two plain baselines, training curves, heat maps of
solution, prediction and difference on shared scales with the experts' borders,
box plots of errors, solver iterations, and the specs; with two axes of space also
animations, and spectra where both are periodic. The page is one file that needs
nothing from elsewhere; the figures are written once more as PNG and SVG, the
animations as GIF, into the folder figures beside it.

Runs that were not evaluated on the whole test split are evaluated first. The
baselines are the mean of the test solutions and, where initial conditions are
constants, linear interpolation between the solutions at the two ends of their
distribution, or else the initial condition at all times.`,
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
	if err := checkWorkers(o.workers); err != nil {
		return err
	}
	page, err := a.comparison(ctx, dirs, o.data, o.trust, o.workers)
	if err != nil {
		return err
	}
	if err := report.WritePage(filepath.Dir(o.out), o.out, *page); err != nil {
		return err
	}
	if err := a.printTables(page); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "\nreport: %s\n", o.out)
	return err
}

// printTables writes the comparison, and that of several grids where there are.
func (a *app) printTables(page *report.Page) error {
	_, err := page.Table().WriteTo(a.Out)
	if t := page.GridTable(); t != nil && err == nil {
		if _, err = fmt.Fprintln(a.Out); err == nil {
			_, err = t.WriteTo(a.Out)
		}
	}
	return err
}

// comparison evaluates the runs where needed and fills the page.
func (a *app) comparison(ctx context.Context, dirs []string, dataDir string, trust bool, workers int) (*report.Page, error) {
	var (
		page    report.Page
		problem *pde.Problem
		samples report.Samples
		cases   []int
		set     *data.Dataset
	)
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
			set, problem = this, p
		}
		if this.Manifest().Checksum != set.Manifest().Checksum || model.ProblemHash(p) != model.ProblemHash(problem) {
			return nil, withHint(fmt.Errorf("runs %s and %s differ in problem or dataset", dirs[0], dir), "report runs of one problem and one dataset together")
		}
		text, err := spec.Encode()
		if err != nil {
			return nil, err
		}
		if err := checkRunData(dir, p, this); err != nil {
			return nil, err
		}
		options := asTrained
		options.workers, options.trust = workers, trust
		e, err := openEvaluator(dir, spec, p, options)
		if err != nil {
			return nil, err
		}
		a.warnEdits(dir, e.meta())
		if edited := e.meta().Edited; len(edited) > 0 {
			page.Notes = append(page.Notes, fmt.Sprintf("Run %s: %s.", dir, editsText(edited)))
		}
		var m *metrics
		save := func() error { return data.WriteSealedJSON(filepath.Join(dir, train.MetricsFile), m) }
		err = func() error {
			defer e.close()
			if i == 0 {
				g := e.info().Grid
				if samples, err = loadSamples(set, "test", p, g, 0); err != nil {
					return err
				}
				cases = chooseCases(samples.Initial)
				if err := pageFrame(&page, spec, p, e, samples, cases); err != nil {
					return err
				}
			}
			if !slices.Equal(e.info().Grid.Shape(), []int(pageShape(&page))) {
				return fmt.Errorf("runs %s and %s have different grids", dirs[0], dir)
			}
			stored := false
			if m, stored = a.storedMetrics(dir, spec, e, set); !stored {
				if m, err = a.score(ctx, dir, spec, p, set, e, "test", 0); err != nil {
					return err
				}
				if err := save(); err != nil {
					return err
				}
			}
			return a.addRun(ctx, &page, dir, spec, e, samples, cases)
		}()
		if err != nil {
			return nil, err
		}
		if err := a.evaluateGrids(ctx, m, dir, spec, p, set, options, 0, save); err != nil {
			return nil, err
		}
		page.Methods[i].Evaluation = m.Evaluation
		page.Specs = append(page.Specs, report.Spec{Title: page.Methods[i].Label + " (" + filepath.Base(dir) + ")", Text: string(text)})
	}
	distinctKeys(page.Methods)
	trivialNotes(&page)
	return &page, a.addBaselines(&page, problem, samples)
}

// trivialNotes says what predictions without training score, and which runs are no
// better.
func trivialNotes(page *report.Page) {
	var parts []string
	for _, x := range page.Methods[0].Evaluation.Trivial {
		text := x.Name
		if x.RelativeL2 != nil {
			text += " relative_l2 " + report.Percent(x.RelativeL2.Mean) + ","
		}
		parts = append(parts, text+" loss "+report.Number(x.Loss.Mean))
	}
	if len(parts) > 0 {
		page.Notes = append(page.Notes, "Predictions without training: "+strings.Join(parts, "; ")+".")
	}
	for _, m := range page.Methods {
		if line := m.Evaluation.Unbeaten(); line != "" {
			page.Notes = append(page.Notes, m.Label+": "+line+".")
		}
	}
}

// pageFrame fills what does not depend on a method.
func pageFrame(page *report.Page, spec *model.Spec, p *pde.Problem, e evaluator, s report.Samples, cases []int) error {
	page.Title = p.Title
	page.Subtitle = "Trained on initial conditions and the equation alone"
	if s.Truth != nil {
		page.Subtitle += "; scored against the classical solution"
	}
	page.Summary = []string{
		"A neural operator maps an initial condition to the whole space-time solution. PI-SC penalises the residual of the equation; " +
			"PI-HC imposes the equation by one least-squares solve over the whole domain; PI-HC-MoE by one solve per subdomain (expert).",
	}
	page.Equations = []string{p.Residual.Expr.String() + " = 0"}
	for _, c := range p.Conditions {
		page.Equations = append(page.Equations, c.Name+":  "+c.Expr.String()+" = 0")
	}
	page.Field, page.Published = p.Unknown, published(spec)
	g := e.info().Grid
	for i, axis := range g.Axes {
		page.Axes = append(page.Axes, report.FieldAxis{Name: axis.Name, Unit: p.Axes[i].Unit, Values: coordinates(axis), Periodic: axis.Boundary == grid.Periodic})
	}
	for _, i := range cases {
		c := report.Case{Title: caseTitle(p, s.Initial[i], i)}
		if s.Truth != nil {
			truth, err := s.Truth(i)
			if err != nil {
				return err
			}
			c.Truth = slices.Clone(truth)
		}
		page.Cases = append(page.Cases, c)
	}
	page.Facts = []report.Fact{
		{Name: "Grid", Value: fmt.Sprintf("%s (%s)", strings.ReplaceAll(data.FormatShape(g.Shape()), "x", "×"), strings.Join(p.AxisNames(), " × "))},
		{Name: "Training set", Value: report.Count(spec.Data.Train.Count) + " initial conditions, no solutions"},
		{Name: "Test set", Value: report.Count(len(s.Initial)) + " samples"},
		{Name: "Training", Value: fmt.Sprintf("%s steps of %d samples, seed %d", report.Count(spec.Training.Steps), spec.Training.Batch, spec.Seed)},
		{Name: "Machine", Value: machineText()},
	}
	if s.Truth != nil {
		page.Notes = append(page.Notes, "Relative L² error: the norm of prediction minus reference solution over the norm of the reference solution, per sample; mean ± standard deviation over samples.")
	}
	page.Notes = append(page.Notes,
		"Residual, initial and boundary errors are root mean squares over the whole grid, in the PDE file's weighting.",
		"Checkpoints are chosen by the validation residual, never by an error against solutions. That residual is the root of the whole loss: conditions and border terms, with their weights, included.",
	)
	if s.Truth == nil {
		page.Notes = append(page.Notes, "The PDE file has no reference, so there are no errors against solutions and no baselines.")
	}
	page.Generated = fmt.Sprintf("pihc %s, %s", versionText(), time.Now().Format("2 January 2006"))
	return nil
}

func pageShape(page *report.Page) []int {
	shape := make([]int, len(page.Axes))
	for i, a := range page.Axes {
		shape[i] = len(a.Values)
	}
	return shape
}

// addRun adds one run with its fields.
func (a *app) addRun(ctx context.Context, page *report.Page, dir string, spec *model.Spec, e evaluator, s report.Samples, cases []int) error {
	records, err := readLog(dir)
	if err != nil {
		return err
	}
	method := report.Method{
		Key: spec.Method, Label: model.MethodLabel(spec.Method), Note: methodNote(spec, e) + editedNote(e),
		Curves: curves(records),
	}
	if info := e.info(); info.Experts > 0 {
		method.Borders = info.Borders
	}
	if score, ok := spec.Paper[spec.Method]; ok {
		method.Published = &report.Score{Mean: score.Mean, Std: score.Std}
	}
	if len(e.meta().Edited) > 0 {
		method.Label += " (edited)"
	}
	page.Methods = append(page.Methods, method)
	batch := model.Batch{}
	for _, i := range cases {
		batch.Initial, batch.Seeds = append(batch.Initial, s.Initial[i]), append(batch.Seeds, s.Seeds[i])
	}
	return e.predict(batch, func(i int, x *model.Prediction) error {
		page.Cases[i].Predictions = append(page.Cases[i].Predictions, slices.Clone(x.Field))
		return ctx.Err()
	})
}

// methodNote says in one line what enforces the physics.
func methodNote(spec *model.Spec, e evaluator) string {
	if spec.Method == model.Soft {
		return "penalty in the loss"
	}
	n := e.info().Experts
	points := "all points"
	if spec.Constraint.Points > 0 {
		points = report.Count(spec.Constraint.Points) + " points"
	}
	if n == 1 {
		return "1 expert, " + points
	}
	return fmt.Sprintf("%d experts, %s each", n, points)
}

// editedNote marks a run whose folder was edited.
func editedNote(e evaluator) string {
	if files := e.meta().Edited; len(files) > 0 {
		return ", " + editsText(files)
	}
	return ""
}

// distinctKeys numbers methods that occur more than once.
func distinctKeys(methods []report.Method) {
	seen := map[string]int{}
	for i := range methods {
		m := &methods[i]
		seen[m.Key]++
		if n := seen[m.Key]; n > 1 {
			m.Key = fmt.Sprintf("%s_%d", m.Key, n)
			m.Label = fmt.Sprintf("%s (%s)", m.Label, m.Note)
		}
	}
}

func published(spec *model.Spec) string {
	if len(spec.Paper) == 0 {
		return ""
	}
	return "Chalapathi, Du and Krishnapriyan, ICLR 2024, at the sizes of the paper"
}

// chooseCases picks the samples drawn in full: a low, a middle and a high mean of
// the initial condition, or root mean square where all means are zero.
func chooseCases(initial [][]float64) []int {
	order := make([]int, len(initial))
	means, sizes := make([]float64, len(initial)), make([]float64, len(initial))
	zero := true
	for i, u0 := range initial {
		order[i] = i
		for _, v := range u0 {
			means[i] += v / float64(len(u0))
		}
		sizes[i] = report.RMS(u0)
		zero = zero && math.Abs(means[i]) <= 1e-6*sizes[i]
	}
	if zero {
		means = sizes
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case means[a] < means[b]:
			return -1
		case means[a] > means[b]:
			return 1
		}
		return 0
	})
	var out []int
	for _, q := range []float64{0.05, 0.5, 0.95} {
		i := order[int(math.Round(q*float64(len(order)-1)))]
		if !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	return out
}

func caseTitle(p *pde.Problem, u0 []float64, i int) string {
	for _, v := range u0 {
		if v != u0[0] {
			return fmt.Sprintf("test sample %d, rms of %s₀ %s", i, p.Unknown, report.Number(report.RMS(u0)))
		}
	}
	return fmt.Sprintf("%s₀ = %s (test sample %d)", p.Unknown, report.Number(u0[0]), i)
}

// curves turns a run's log into series.
func curves(records []train.Record) []report.Series {
	loss := report.Series{Name: "Training loss", Raw: true}
	residual := report.Series{Name: "Validation residual"}
	errors := report.Series{Name: "Validation error", Unit: "%"}
	add := func(s *report.Series, step int, v *data.Float, scale float64) {
		if v != nil {
			s.Steps, s.Values = append(s.Steps, float64(step)), append(s.Values, scale*float64(*v))
		}
	}
	for _, r := range records {
		add(&loss, r.Step, r.Loss, 1)
		add(&residual, r.Step, r.ValidationResidual, 1)
		add(&errors, r.Step, r.ValidationError, 100)
	}
	var out []report.Series
	for _, s := range []report.Series{loss, residual, errors} {
		if len(s.Steps) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// addBaselines adds the predictions that need no training.
func (a *app) addBaselines(page *report.Page, p *pde.Problem, s report.Samples) error {
	if s.Truth == nil {
		return nil
	}
	mean, err := report.MeanBaseline(s)
	if err != nil {
		return err
	}
	page.Baselines = append(page.Baselines, report.Baseline{Key: "mean_field", Label: "mean field", Note: "mean of the test solutions", Evaluation: *mean})
	low, high, ok, err := endpoints(p, pageShape(page))
	if err != nil {
		return err
	}
	if ok {
		linear, scored, err := report.InterpolationBaseline(s, low, high)
		if err != nil {
			return err
		}
		if scored {
			name := p.Unknown + "₀"
			page.Baselines = append(page.Baselines, report.Baseline{
				Key: "interpolation", Label: "interpolation in " + name, Evaluation: *linear,
				Note: fmt.Sprintf("between the solutions at %s = %s and %s", name, shortNumber(low.Value), shortNumber(high.Value)),
			})
			return nil
		}
	}
	page.Baselines = append(page.Baselines, report.Baseline{
		Key: "persistence", Label: "persistence", Note: p.InitialName() + " at all times",
		Evaluation: *report.PersistenceBaseline(&page.Methods[0].Evaluation),
	})
	return nil
}

// endpoints solves the problem at the two ends of the distribution of constant
// initial conditions; the result is false for other distributions.
func endpoints(p *pde.Problem, shape []int) (low, high report.Endpoint, ok bool, err error) {
	from, constant := p.Initial.Constant(0)
	to, _ := p.Initial.Constant(1)
	if !constant || p.Reference.Solver == "" || p.Reference.Solver == pde.FileSolver {
		return low, high, false, nil
	}
	points := map[string]int{}
	for i, axis := range p.Axes {
		points[axis.Name] = shape[i]
	}
	g, err := p.Grid(points)
	if err != nil {
		return low, high, false, err
	}
	solver, err := model.ReferenceSolver(p, g)
	if err != nil {
		return low, high, false, err
	}
	at := func(value float64) report.Endpoint {
		u0 := make([]float64, g.Size()/g.Axes[0].Points)
		for i := range u0 {
			u0[i] = value
		}
		end := report.Endpoint{Value: value, Solution: make([]float64, g.Size())}
		if _, e := solver.Solve(end.Solution, u0); e != nil && err == nil {
			err = fmt.Errorf("%s₀ = %g: %w", p.Unknown, value, e)
		}
		return end
	}
	low, high = at(min(from, to)), at(max(from, to))
	return low, high, err == nil, err
}

// shortNumber writes x without trailing zeros.
func shortNumber(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
