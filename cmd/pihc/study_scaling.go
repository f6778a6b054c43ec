package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"pihc/constraint"
	"pihc/model"
	"pihc/pde"
	"pihc/report"
	"pihc/train"
)

// scalingStudy is the JSON of reproduce scaling.
type scalingStudy struct {
	Machine string        `json:"machine"`
	Batch   int           `json:"batch"`
	Experts int           `json:"experts"`
	Soft    scalingTimes  `json:"soft"` // network and loss without a constraint
	Rows    []scalingArms `json:"rows"`
}

// scalingArms are the methods at one number of points: hard, moe with as many in all, and
// moe with as many for each expert (nil where a subdomain holds fewer).
type scalingArms struct {
	Points    int           `json:"points"`
	Hard      scalingTimes  `json:"hard"`
	MoE       scalingTimes  `json:"moe"`
	PerExpert *scalingTimes `json:"moe_per_expert,omitempty"`
}

// scalingTimes are those of steps with one batch, of trained parameters.
type scalingTimes struct {
	Points     int            `json:"points,omitempty"` // per expert
	Training   report.Summary `json:"training_s"`
	Inference  report.Summary `json:"inference_s"`
	Iterations float64        `json:"iterations"` // mean per expert, in training
	// Shares of the time that are not those of the same step without a constraint.
	TrainingShare  float64 `json:"training_constraint_share"`
	InferenceShare float64 `json:"inference_constraint_share"`
}

// scalingSteps is the number of steps that are timed, as in the paper, after one that is
// not.
const scalingSteps = 64

func (a *app) studyScaling(ctx context.Context, s *studied) (any, *report.Study, error) {
	spec, p, err := readRun(s.runs[model.MoE], nil)
	if err != nil {
		return nil, nil, err
	}
	g, err := p.Grid(spec.Grid)
	if err != nil {
		return nil, nil, err
	}
	sys, err := p.Discretize(g)
	if err != nil {
		return nil, nil, err
	}
	experts := 1
	for _, n := range spec.Constraint.Experts {
		experts *= n
	}
	batch := spec.Training.Batch
	if len(g.Axes) == 3 {
		batch = 2 // the paper's, for Navier-Stokes
	}
	total := len(sys.Residuals()[0].Points)
	var counts []int
	for _, n := range []int{100, 1000, 10000, 100000, total} {
		if n = min(n, total); !slices.Contains(counts, n) && (len(g.Axes) < 3 || n != 100000) {
			counts = append(counts, n)
		}
	}
	out := &scalingStudy{Machine: machineText(), Batch: batch, Experts: experts}
	bar := a.newMeter("scaling", 3*len(counts)+1)
	defer bar.close()
	done := 0
	measure := func(method string, points int) (*scalingTimes, error) {
		x, err := a.stepTimes(ctx, s, method, points, batch)
		done++
		bar.set(done, "")
		return x, err
	}
	soft, err := measure(model.Soft, 0)
	if err != nil {
		return nil, nil, err
	}
	out.Soft = *soft
	least, err := leastRows(spec, p)
	if err != nil {
		return nil, nil, err
	}
	share := func(x *scalingTimes) *scalingTimes {
		x.TrainingShare, x.InferenceShare = 1-soft.Training.Median/x.Training.Median, 1-soft.Inference.Median/x.Inference.Median
		return x
	}
	for _, n := range counts {
		arms := scalingArms{Points: n}
		hard, err := measure(model.Hard, n)
		if err != nil {
			return nil, nil, err
		}
		moe, err := measure(model.MoE, max(1, min(n/experts, least)))
		if err != nil {
			return nil, nil, err
		}
		arms.Hard, arms.MoE = *share(hard), *share(moe)
		if n <= least {
			each, err := measure(model.MoE, n)
			if err != nil {
				return nil, nil, err
			}
			arms.PerExpert = share(each)
		}
		out.Rows = append(out.Rows, arms)
	}
	return out, scalingPage(out, s.scale, len(g.Axes) == 3), nil
}

// scalingPage shows the times.
func scalingPage(r *scalingStudy, scale string, flow bool) *report.Study {
	t := &report.Table{Title: "Time of a step", Columns: []report.Column{
		{Title: "points", Right: true},
		{Title: "arm"},
		{Title: "training", Right: true},
		{Title: "iterations", Right: true},
		{Title: "constraint", Right: true},
		{Title: "inference", Right: true},
		{Title: "constraint", Right: true},
		{Title: "hard / moe, training", Right: true},
		{Title: "inference", Right: true},
	}}
	milliseconds := func(x report.Summary) string {
		return fmt.Sprintf("%s ± %s ms (median %s)", report.Number(1e3*x.Mean), report.Number(1e3*x.Std), report.Number(1e3*x.Median))
	}
	lines := map[string]*report.ChartLine{}
	order := []string{"PI-HC, training", "PI-HC-MoE, training", "PI-HC, inference", "PI-HC-MoE, inference"}
	for i, name := range order {
		lines[name] = &report.ChartLine{Label: name, Color: 1 + i%2, Dashed: i >= 2, Marks: true}
	}
	point := func(name string, n int, x report.Summary) {
		l := lines[name]
		l.X, l.Y = append(l.X, float64(n)), append(l.Y, x.Mean)
	}
	helped := false
	for _, row := range r.Rows {
		add := func(arm string, x *scalingTimes, of bool) {
			cells := []string{report.Count(row.Points), arm, milliseconds(x.Training), fmt.Sprintf("%.1f", x.Iterations), report.Percent(x.TrainingShare), milliseconds(x.Inference), report.Percent(x.InferenceShare)}
			if of {
				cells = append(cells, fmt.Sprintf("%.3f", row.Hard.Training.Mean/x.Training.Mean), fmt.Sprintf("%.3f", row.Hard.Inference.Mean/x.Inference.Mean))
			}
			t.Add(cells...)
		}
		add("PI-HC", &row.Hard, false)
		add("PI-HC-MoE, as many in all", &row.MoE, true)
		if row.PerExpert != nil {
			add("PI-HC-MoE, as many each", row.PerExpert, true)
		}
		helped = helped || row.Hard.Training.Mean > row.MoE.Training.Mean || row.Hard.Inference.Mean > row.MoE.Inference.Mean
		point(order[0], row.Points, row.Hard.Training)
		point(order[1], row.Points, row.MoE.Training)
		point(order[2], row.Points, row.Hard.Inference)
		point(order[3], row.Points, row.MoE.Inference)
	}
	published := "the paper (as many in all, on GPUs): training 1.613 at 10² points to 3.189 at 10⁵, inference 2.030 to 3.048"
	if flow {
		published = "the paper (as many in all, on GPUs): training 2.117 at 10² points to 12.838 at 10⁴, inference 2.538 to 12.864"
	}
	t.Notes = []string{
		fmt.Sprintf("%d steps each of %d samples with trained parameters, after one that is not counted; %d experts. %s. Other work on the machine disturbs times.", scalingSteps, r.Batch, r.Experts, r.Machine),
		"constraint: the share of the median time that is more than that of the same step of PI-SC, which has the network and the loss alone.",
		published + ". Counts are capped by the grid.",
	}
	verdict := "Here experts are faster at some number of points: a ratio above one."
	if !helped {
		verdict = "Here experts are not faster at any number of points: all ratios are below one."
	}
	s := &report.Study{Title: "Time over the number of constrained points, " + scale + " scale", Summary: []string{verdict}, Tables: []*report.Table{t}}
	chart := report.Chart{Name: "scaling", Caption: "Mean time of a step over the points in all", X: "points", Y: "s", LogX: true, LogY: true}
	for _, name := range order {
		chart.Lines = append(chart.Lines, *lines[name])
	}
	s.Charts = []report.Chart{chart}
	return s
}

// stepTimes times training and inference of a method with so many points per expert.
func (a *app) stepTimes(ctx context.Context, s *studied, method string, points, batch int) (*scalingTimes, error) {
	dir := s.runs[model.MoE]
	overrides := []string{"method=" + method, fmt.Sprintf("constraint.points=%d", points)}
	if d, ok := s.runs[method]; ok {
		dir = d
	}
	spec, p, err := readRun(dir, overrides)
	if err != nil {
		return nil, err
	}
	if spec.Network.Precision == "float64" {
		return nil, fmt.Errorf("scaling: run %s has a network in float64; want float32", dir)
	}
	e, err := model.NewEngine[float32](spec, p, model.EngineOptions{Workers: s.workers})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	info := e.Info()
	params := model.InitialParams[float32](info) // of soft, whose time does not depend on them
	if method != model.Soft {
		if params, _, err = train.LoadParams[float32](dir, spec, p, train.LoadOptions{}); err != nil {
			return nil, err
		}
	}
	samples, err := loadSamples(s.set, "test", p, info.Grid, 0)
	if err != nil {
		return nil, err
	}
	out := &scalingTimes{Points: points}
	grad := make([]float32, len(params))
	next := func(step int) model.Batch {
		b := model.Batch{Progress: 1}
		for i := range batch {
			at := (step*batch + i) % len(samples.Initial)
			b.Initial, b.Seeds = append(b.Initial, samples.Initial[at]), append(b.Seeds, samples.Seeds[at])
		}
		return b
	}
	var training, inference []float64
	for step := range scalingSteps + 1 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clear(grad)
		begin := time.Now()
		st, err := e.LossAndGrad(grad, params, next(step))
		if err != nil {
			return nil, err
		}
		middle := time.Now()
		if err := e.Predict(params, next(step), func(int, *model.Prediction) error { return nil }); err != nil {
			return nil, err
		}
		if step == 0 {
			continue
		}
		training, inference = append(training, middle.Sub(begin).Seconds()), append(inference, time.Since(middle).Seconds())
		if !math.IsNaN(st.Iterations) {
			out.Iterations += st.Iterations / scalingSteps
		}
	}
	out.Training, out.Inference = report.Summarize(training), report.Summarize(inference)
	return out, nil
}

// leastRows is the number of residual rows of the smallest subdomain of moe.
func leastRows(spec *model.Spec, p *pde.Problem) (int, error) {
	g, err := p.Grid(spec.Grid)
	if err != nil {
		return 0, err
	}
	sys, err := p.Discretize(g)
	if err != nil {
		return 0, err
	}
	options, err := spec.Options(p)
	if err != nil {
		return 0, err
	}
	windows, err := constraint.NewRouter(g, options.Experts).Windows(g)
	if err != nil {
		return 0, err
	}
	return model.LeastRows(sys, windows), nil
}
