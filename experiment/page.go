package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"pihc/constraint"
	"pihc/data"
	"pihc/engine"
	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/internal/machine"
	"pihc/internal/words"
	"pihc/model"
	"pihc/pde"
	"pihc/report"
	"pihc/score"
	"pihc/train"
)

// pageOf is the page of scored runs, without fields.
func pageOf(runs []scored, s score.Samples) *report.Page {
	first := runs[0]
	p, g := first.run.Problem, first.grid
	var page report.Page
	for _, run := range runs {
		page.Methods = append(page.Methods, run.method)
		page.Specs = append(page.Specs, report.Spec{Title: specTitle(run), Text: run.text})
		if len(run.edited) > 0 {
			page.Notes = append(page.Notes, fmt.Sprintf("Run %s: %s.", run.run.Dir, editsText(run.edited)))
		}
		if info, err := readRunInfo(run.run.Dir); err == nil && info.From != "" {
			page.Notes = append(page.Notes, fmt.Sprintf("Run %s began with the parameters of run %s, whose training is not in its time.", run.run.Dir, info.From))
		}
	}
	page.Title = p.Title
	page.Steady = p.Steady
	page.Subtitle = "Trained on " + page.Sampled() + " and the equation alone"
	if s.Truth != nil {
		if p.Reference.Solver == pde.DiscreteSolver {
			page.Reference = "the file's own rows on a finer grid"
		}
		page.Subtitle += "; scored against the " + page.TruthName()
	}
	maps := "an initial condition to the whole space-time solution"
	if p.Steady {
		maps = "the inputs of a problem to its solution"
	}
	page.Summary = []string{
		"A neural operator maps " + maps + ". PI-SC penalises the residual of the equation; " +
			"PI-HC imposes the equation by one least-squares solve over the whole domain; PI-HC-MoE by one solve per subdomain (expert).",
	}
	page.Equations, page.Constants = equations(p)
	page.ErrorCurve = errorCurve
	page.Field = p.Unknowns[0].Name
	if slices.ContainsFunc(runs, func(run scored) bool { return len(run.run.Spec.Paper) > 0 }) {
		page.Published = publishedIn
	}
	page.Axes = fieldAxes(p, g)
	page.Facts = []report.Fact{
		{Name: "Grid", Value: fmt.Sprintf("%s (%s)", strings.ReplaceAll(words.Shape(g.Shape()), "x", "×"), strings.Join(p.AxisNames(), " × "))},
		{Name: "Training set", Value: byRun(runs, func(s *model.Spec) string {
			without := ", no solutions"
			if s.Loss.Data != 0 {
				without = ", with solutions"
			}
			return words.Count(s.Data.Train.Count) + " " + page.Sampled() + without
		})},
		{Name: "Test set", Value: words.Count(len(s.Inputs)) + " samples"},
		{Name: "Training", Value: byRun(runs, func(s *model.Spec) string {
			text := fmt.Sprintf("%s steps of %d samples, seed %d", words.Count(s.Training.Steps), s.Training.Batch, s.Seed)
			if s.Network.Passes > 1 {
				text += fmt.Sprintf(", %d passes", s.Network.Passes)
			}
			return text
		})},
		{Name: "Machine", Value: kernel.Machine()},
		{Name: "Build", Value: fmt.Sprintf("%s, %s %s/%s", machine.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)},
	}
	page.Caveats = caveats(runs, p)
	notePublished(&page)
	for _, run := range runs {
		if weight := run.run.Spec.Loss.Data; weight != 0 {
			page.Subtitle = "With a control that is trained on solutions"
			page.Caveats = append(page.Caveats, fmt.Sprintf("%s is a control: its loss has the distance to solutions of the training conditions, with weight %g (loss.data).", run.method.Label, weight))
		}
	}
	page.Notes = append(page.Notes, "Checkpoints are chosen by the validation residual, not by an error against solutions. That residual is the root of the whole loss: conditions and border terms, with their weights, included.")
	if s.Truth == nil {
		page.Notes = append(page.Notes, "The PDE file has no reference, so there are no errors against solutions and no baselines.")
	}
	page.Generated = fmt.Sprintf("pihc %s, %s", machine.Version(), time.Now().Format("2 January 2006"))
	return &page
}

// publishedIn is where figures under `paper` in specs are from.
const publishedIn = "Chalapathi, Du and Krishnapriyan, ICLR 2024, at the sizes of the paper"

// byRun is what a text says of the spec of every run: once where all are the same, else with the run's label before it.
func byRun(runs []scored, text func(*model.Spec) string) string {
	var all []string
	same := true
	for _, run := range runs {
		t := text(run.run.Spec)
		same = same && t == text(runs[0].run.Spec)
		all = append(all, run.method.Label+": "+t)
	}
	if same {
		return text(runs[0].run.Spec)
	}
	return strings.Join(all, "; ")
}

// fieldAxes are the axes of the fields of a page.
func fieldAxes(p *pde.Problem, g *grid.Grid) (axes []report.FieldAxis) {
	for i, axis := range g.Axes {
		axes = append(axes, report.FieldAxis{Name: axis.Name, Unit: p.Axes[i].Unit, Values: coordinates(axis), Periodic: axis.Boundary == grid.Periodic})
	}
	return axes
}

// publishedCaveat is for pages with published figures.
const publishedCaveat = "The published figures are of the authors' set-up; docs/reference/constraint.md, section 9, says where this one may differ: sizes, rows, loss, boundary condition, initialisation, schedule."

// Publish adds published figures of methods to the page, and where they are from.
func (c *Comparison) Publish(scores map[string]report.Score, source string) {
	for i := range c.Methods {
		if s, ok := scores[c.Methods[i].Key]; ok {
			c.Methods[i].Published = &s
		}
	}
	c.Published = source
	notePublished(&c.Page)
}

// notePublished adds that caveat, once, where a method of the page has a published figure.
func notePublished(page *report.Page) {
	if slices.ContainsFunc(page.Methods, func(m report.Method) bool { return m.Published != nil }) && !slices.Contains(page.Caveats, publishedCaveat) {
		page.Caveats = append(page.Caveats, publishedCaveat)
	}
}

// caveats are what a reader of the table should know.
func caveats(runs []scored, p *pde.Problem) []string {
	out := []string{"One training a method, at one seed: differences between methods vary with it."}
	if slices.ContainsFunc(runs, func(run scored) bool { return run.run.Spec.Seed != runs[0].run.Spec.Seed }) {
		out[0] = "Few trainings: differences between methods vary with the seed."
	}
	if at := slices.IndexFunc(runs, func(run scored) bool { return run.run.Spec.Network.Passes > 1 }); at >= 0 {
		passes := ""
		if repeat := runs[at].repeat; repeat != "" {
			passes = fmt.Sprintf(" (scored with passes %s)", repeat)
		}
		times := fmt.Sprint(runs[at].run.Spec.Network.Passes)
		if slices.ContainsFunc(runs[at:], func(run scored) bool { n := run.run.Spec.Network.Passes; return n > 1 && fmt.Sprint(n) != times }) {
			times = "several"
		}
		out = append(out, fmt.Sprintf("Iterated: the network runs %s times%s, each time correcting the field of the pass before, and PI-HC-MoE has its experts in the last pass alone. The paper's methods run it once.", times, passes))
	}
	out = append(out, "The constraint is least squares over a few functions: it lowers the residual and leaves what the table of the residual shows.")
	if p.Reference.Solver == pde.DiscreteSolver {
		out = append(out, "The solutions are those of the problem's own rows on a finer grid, not of another program.")
	}
	return out
}

// specTitle names a run and its folder.
func specTitle(run scored) string {
	if strings.Contains(run.method.Label, run.run.Dir) {
		return run.method.Label
	}
	return run.method.Label + " (" + run.run.Dir + ")"
}

// withSeams are the borders of experts in all segments of the time, which are those of the first, and the seams between
// segments.
func withSeams(boxes constraint.Boxes, time grid.Axis, segments int) [][]float64 {
	if segments == 1 || len(boxes) == 0 {
		return boxes
	}
	ends, length := []float64{time.Lo}, (time.Hi-time.Lo)/float64(segments)
	for k := range segments {
		begin := time.Lo + float64(k)*length
		for _, b := range boxes[0][1 : len(boxes[0])-1] {
			ends = append(ends, begin+b-time.Lo)
		}
		ends = append(ends, begin+length)
	}
	out := slices.Clone(boxes)
	out[0] = ends
	return out
}

// methodOf describes a run, without its scores and curves.
func methodOf(spec *model.Spec, e Predictor) report.Method {
	m := report.Method{Key: spec.Method, Label: model.MethodLabel(spec.Method), Note: methodNote(spec, e)}
	info := e.Info()
	if info.Experts > 0 {
		boxes, _ := info.Router.(constraint.Boxes)
		m.Borders = withSeams(boxes, info.Grid.Axes[0], spec.Segments())
	}
	if info.Spec.Network.Passes > 1 {
		m.Label += iteratedLabel
	}
	if scored, ok := spec.Paper[spec.Method]; ok {
		m.Published = &report.Score{Mean: scored.Mean, Std: scored.Std}
	}
	if spec.Loss.Data != 0 {
		m.Key += "_supervised"
		m.Label += ", supervised"
	}
	if files := e.Meta().Edited; len(files) > 0 {
		m.Label += " (edited)"
		m.Note += ", " + editsText(files)
	}
	return m
}

// addCases adds the samples that are drawn, with their inputs and solutions, each once for
// every unknown.
func addCases(page *report.Page, p *pde.Problem, g *grid.Grid, s score.Samples, cases []chosen) error {
	for _, x := range cases {
		var truth []float64
		if s.Truth != nil {
			var err error
			if truth, err = s.Truth(x.sample); err != nil {
				return err
			}
		}
		title, inputs := x.title+caseTitle(p, g, s.Inputs[x.sample], x.sample), caseInputs(p, g, s.Inputs[x.sample])
		for i, u := range p.Unknowns {
			c := report.Case{Title: title, Inputs: inputs, Truth: slices.Clone(unknownOf(p, truth, i))}
			if len(p.Unknowns) > 1 {
				c.Title, c.Field = u.Name+", "+title, u.Name
			}
			page.Cases = append(page.Cases, c)
		}
	}
	return nil
}

// unknownOf returns unknown c of a field (C, P), nil of none.
func unknownOf(p *pde.Problem, field []float64, c int) []float64 {
	if field == nil {
		return nil
	}
	n := len(field) / len(p.Unknowns)
	return field[c*n : (c+1)*n]
}

// drawRun adds the fields of a run.
func drawRun(ctx context.Context, page *report.Page, e Predictor, s score.Samples, cases []chosen) error {
	batch := engine.Batch{}
	for _, x := range cases {
		batch.Inputs, batch.Seeds = append(batch.Inputs, s.Inputs[x.sample]), append(batch.Seeds, s.Seeds[x.sample])
	}
	return e.Predict(batch, func(i int, x *engine.Prediction) error {
		p := e.Info().Problem
		for k := range p.Unknowns {
			c := &page.Cases[i*len(p.Unknowns)+k]
			c.Predictions = append(c.Predictions, slices.Clone(unknownOf(p, x.Field, k)))
		}
		return ctx.Err()
	})
}

// methodNote says in one line what enforces the physics.
func methodNote(spec *model.Spec, e Predictor) string {
	if spec.Method == model.Soft {
		return "penalty in the loss"
	}
	pointsOf := func(s *model.Spec) string {
		if s.Constraint.Points == 0 {
			return "all points"
		}
		return words.Count(s.Constraint.Points) + " points"
	}
	experts, points, scored := "1 expert", pointsOf(spec), pointsOf(e.Info().Spec)
	if n := e.Info().Router.Experts(); n > 1 {
		experts, points = fmt.Sprintf("%d experts", n), points+" each"
	}
	if n := spec.Segments(); n > 1 {
		points += fmt.Sprintf(", %d segments of time", n)
	}
	if scored != pointsOf(spec) {
		points += ", scored with " + scored
	}
	return experts + ", " + points
}

// What keys and labels of runs with one pass end with, beside others with several, whose labels
// say so in every picture and table: the paper's methods have one.
const (
	onePassKey    = "_one_pass"
	onePassLabel  = ", one pass"
	iteratedLabel = ", iterated"
)

// nameRuns gives each run of a page a key and a label of its own: those with one pass beside
// others with several are marked, and several of one method are told apart by what enforces their
// physics or else by their folders.
func nameRuns(runs []scored) {
	several := slices.ContainsFunc(runs, func(r scored) bool { return r.run.Spec.Network.Passes > 1 })
	seen, labels := map[string]int{}, map[string]bool{}
	first := map[string]int{}  // run with a label
	byFolder := map[int]bool{} // of these, which others are like
	apart := foldersApart(runs)
	for i := range runs {
		m := &runs[i].method
		if several && runs[i].run.Spec.Network.Passes == 1 {
			m.Key += onePassKey
			m.Label += onePassLabel
		}
		if seen[m.Key]++; seen[m.Key] == 1 {
			first[m.Label] = i
		} else {
			m.Key = fmt.Sprintf("%s_%d", m.Key, seen[m.Key])
			label := fmt.Sprintf("%s (%s)", m.Label, m.Note)
			if like := first[m.Label]; labels[label] || m.Note == runs[like].method.Note {
				label = fmt.Sprintf("%s (%s)", m.Label, apart[i])
				byFolder[like] = true
			}
			m.Label = label
		}
		labels[m.Label] = true
	}
	for i := range byFolder {
		runs[i].method.Label += " (" + apart[i] + ")"
	}
}

// foldersApart are the folders of runs without those that all of them lie in.
func foldersApart(runs []scored) []string {
	parts := make([][]string, len(runs))
	for i, run := range runs {
		parts[i] = strings.Split(filepath.ToSlash(filepath.Clean(run.run.Dir)), "/")
	}
	for !slices.ContainsFunc(parts, func(p []string) bool { return len(p) == 1 || p[0] != parts[0][0] }) {
		for i := range parts {
			parts[i] = parts[i][1:]
		}
	}
	out := make([]string, len(runs))
	for i, p := range parts {
		out[i] = strings.Join(p, "/")
	}
	return out
}

// chosen is a sample that is drawn, and why.
type chosen struct {
	sample int
	title  string
}

// chooseCases picks the median, the worst and the best sample of the last method (moe where it
// is among them) by the error that the page compares methods by, or, where there are no solutions, by its estimate or the residual.
func chooseCases(page *report.Page, initial [][]float64) []chosen {
	m := &page.Methods[len(page.Methods)-1]
	for i := range page.Methods {
		if page.Methods[i].Key == model.MoE {
			m = &page.Methods[i]
		}
	}
	samples := slices.Clone(m.Evaluation.PerSample)
	scored, times := func(s score.Sample) float64 { return s.RelativeL2 }, ""
	switch {
	case m.Evaluation.RelativeL2 == nil && !slices.ContainsFunc(samples, func(s score.Sample) bool { return math.IsNaN(s.ErrorEstimate) }):
		scored, times = func(s score.Sample) float64 { return s.ErrorEstimate }, " by its estimate"
	case m.Evaluation.RelativeL2 == nil:
		scored = func(s score.Sample) float64 { return s.ResidualRMS }
	case page.BeyondTraining():
		scored, times = func(s score.Sample) float64 { return s.Unseen }, " beyond training"
	}
	slices.SortStableFunc(samples, func(a, b score.Sample) int { return cmp.Compare(scored(a), scored(b)) })
	var out []chosen
	last := len(samples) - 1
	for _, x := range []struct {
		at   int
		name string
	}{{(last + 1) / 2, "median"}, {last, "worst"}, {0, "best"}} {
		sample := samples[x.at]
		if slices.ContainsFunc(out, func(c chosen) bool { return c.sample == sample.Index }) || sample.Index >= len(initial) {
			continue
		}
		title := x.name + " of " + m.Label
		switch {
		case m.Evaluation.RelativeL2 == nil && times == "":
			title += " by its residual"
		case len(sample.Unknowns) > 0:
			title += ", " + words.Percent(scored(sample)) + " over all unknowns" + times
		default:
			title += ", " + words.Percent(scored(sample)) + times
		}
		out = append(out, chosen{sample.Index, title + ": "})
	}
	return out
}

// caseTitle names a sample: by its initial condition where that is all it is given, and by
// the inputs that are numbers.
func caseTitle(p *pde.Problem, g *grid.Grid, sample []float64, i int) string {
	title := fmt.Sprintf("test sample %d", i)
	if p.OnlyInitial() {
		if slices.Min(sample) == slices.Max(sample) {
			return fmt.Sprintf("%s₀ = %s (%s)", p.Unknowns[0].Name, words.Number(sample[0]), title)
		}
		return fmt.Sprintf("%s, rms of %s₀ %s", title, p.Unknowns[0].Name, words.Number(grid.Norm(sample)/math.Sqrt(float64(len(sample)))))
	}
	for _, in := range p.PlaceInputs(g)[p.Initials():] {
		if len(in.Space) == 0 {
			title += fmt.Sprintf(", %s = %s", in.Name, words.Number(in.Of(sample)[0]))
		}
	}
	return title
}

// caseInputs are the fields among the inputs of a sample, but for initial conditions, with
// which its solution begins.
func caseInputs(p *pde.Problem, g *grid.Grid, sample []float64) []report.CaseInput {
	var out []report.CaseInput
	for _, in := range p.PlaceInputs(g)[p.Initials():] {
		if len(in.Space) == 0 {
			continue
		}
		values := make([]float64, g.Size())
		for q := range values {
			values[q] = sample[in.At(int32(q), 0, 0)]
		}
		out = append(out, report.CaseInput{Name: in.Name, Values: values})
	}
	return out
}

// errorCurve is the name of the errors on validation.
const errorCurve = "Validation error"

// curves turns a run's log into series.
func curves(records []train.Record) []report.Series {
	loss := report.Series{Name: "Training loss", Raw: true}
	residual := report.Series{Name: "Validation residual"}
	errors := report.Series{Name: errorCurve, Unit: "%"}
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

// trivialNotes says what predictions without training score.
func trivialNotes(page *report.Page) {
	var parts []string
	for _, x := range page.Methods[0].Evaluation.Trivial {
		text := x.Name
		if x.RelativeL2 != nil {
			text += ": error " + words.Percent(x.RelativeL2.Mean)
		}
		parts = append(parts, text)
	}
	if len(parts) > 0 {
		page.Notes = append(page.Notes, "Predictions without training: "+strings.Join(parts, "; ")+".")
	}
	if note := page.Methods[0].Evaluation.TrivialNote(); note != "" {
		page.Notes = append(page.Notes, strings.ToUpper(note[:1])+note[1:]+".")
	}
}
