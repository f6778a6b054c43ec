package paper

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"pihc/constraint"
	"pihc/engine"
	"pihc/experiment"
	"pihc/internal/kernel"
	"pihc/internal/machine"
	"pihc/internal/words"
	"pihc/model"
	"pihc/report"
	"pihc/score"
	"pihc/train"
)

// scalingStudy is the JSON of reproduce scaling.
type scalingStudy struct {
	origin
	Batch   int           `json:"batch"`
	Experts int           `json:"experts"`
	Passes  int           `json:"passes,omitempty"` // where there are several
	Soft    *scalingTimes `json:"soft"`             // network and loss without a constraint
	Rows    []scalingArms `json:"rows"`
}

// scalingArms are the methods at one number of points: hard, moe with as many in all, and
// moe with as many for each expert (nil where a subdomain holds fewer).
type scalingArms struct {
	Points    int           `json:"points"`
	Hard      *scalingTimes `json:"hard"`
	MoE       *scalingTimes `json:"moe"`
	PerExpert *scalingTimes `json:"moe_per_expert,omitempty"`
}

// scalingTimes are those of steps with one batch, of trained parameters.
type scalingTimes struct {
	Points     int           `json:"points,omitempty"` // per expert
	Training   score.Summary `json:"training_s"`
	Inference  score.Summary `json:"inference_s"`
	Iterations float64       `json:"iterations"` // mean per expert, in training
	// Shares of the time that are not those of the same step without a constraint.
	TrainingShare  float64 `json:"training_constraint_share"`
	InferenceShare float64 `json:"inference_constraint_share"`
	// Of moe: how many times as long hard takes.
	TrainingRatio  *timeRatio `json:"training_hard_over_this,omitempty"`
	InferenceRatio *timeRatio `json:"inference_hard_over_this,omitempty"`

	method              string
	training, inference []float64 // s, of all steps; of several passes the mean of a step of each
	used, wall          float64   // s, of processors and in all
}

// timeRatio is the mean over rounds of the ratio of two medians of a round, and its
// standard error.
type timeRatio struct {
	Mean  float64 `json:"mean"`
	Error float64 `json:"standard_error"`
}

// above says that the ratio is more than one by more than its error allows.
func (r timeRatio) above() bool { return r.Mean-2*r.Error > 1 }

func (r timeRatio) String() string { return fmt.Sprintf("%.2f ± %.2f", r.Mean, r.Error) }

// ratioOf compares the times of two arms, which were taken in the same rounds.
func ratioOf(a, b []float64) *timeRatio {
	var ratios []float64
	each := len(a) / scalingRounds
	for from := 0; from < len(a); from += each {
		ratios = append(ratios, score.Summarize(a[from:from+each]).Median/score.Summarize(b[from:from+each]).Median)
	}
	x := score.Summarize(ratios)
	return &timeRatio{x.Mean, x.Std / math.Sqrt(float64(len(ratios)-1))}
}

// As many steps are timed as in the paper; where training visits several passes in turn, each as
// often, and at least as many in all. All arms take their turns in rounds, so that
// what else the machine does meets them alike; each is made anew for every round, since
// together they might not fit into memory.
const (
	scalingSteps  = 64
	scalingRounds = 8
	roundSteps    = scalingSteps / scalingRounds
)

// cyclesOf is how often a round visits each pass.
func cyclesOf(passes int) int { return (roundSteps + passes - 1) / passes }

func studyScaling(ctx context.Context, s *Work) (result, *report.Study, error) {
	run, err := experiment.OpenRun(s.Runs[model.MoE])
	if err != nil {
		return nil, nil, err
	}
	spec, p := run.Spec, run.Problem
	sys, _, router, err := discretized(run)
	if err != nil {
		return nil, nil, err
	}
	g := sys.Grid
	experts := spec.Constraint.ExpertCount()
	batch := cmp.Or(Studies[s.Name].Batch[p.Name], spec.Training.Batch)
	total := len(sys.Residuals()[0].Points)
	var counts []int
	for _, n := range []int{100, 1000, 10000, 100000, total} {
		if n = min(n, total); !slices.Contains(counts, n) && (len(g.Axes) < 3 || n != 100000) {
			counts = append(counts, n)
		}
	}
	passes := spec.Network.Passes
	if passes == 1 {
		passes = 0
	}
	out := &scalingStudy{Batch: batch, Experts: experts, Passes: passes, Soft: &scalingTimes{method: model.Soft}}
	least, err := constraint.LeastRows(sys, router) // of the smallest subdomain
	if err != nil {
		return nil, nil, err
	}
	arms := []*scalingTimes{out.Soft}
	for _, n := range counts {
		row := scalingArms{
			Points: n,
			Hard:   &scalingTimes{method: model.Hard, Points: n},
			MoE:    &scalingTimes{method: model.MoE, Points: max(1, min(n/experts, least))},
		}
		arms = append(arms, row.Hard, row.MoE)
		if n <= least {
			row.PerExpert = &scalingTimes{method: model.MoE, Points: n}
			arms = append(arms, row.PerExpert)
		}
		out.Rows = append(out.Rows, row)
	}
	bar := s.Stage("scaling", scalingRounds*len(arms))
	defer bar.End()
	for round := range scalingRounds {
		for i, x := range arms {
			if err := x.time(ctx, s, round, batch); err != nil {
				return nil, nil, err
			}
			bar.Set(round*len(arms)+i+1, "")
		}
	}
	var used, wall float64
	for _, x := range arms {
		used, wall = used+x.used, wall+x.wall
		x.Training, x.Inference = score.Summarize(x.training), score.Summarize(x.inference)
		if x != out.Soft {
			x.TrainingShare, x.InferenceShare = 1-out.Soft.Training.Median/x.Training.Median, 1-out.Soft.Inference.Median/x.Inference.Median
		}
	}
	if busy := machine.Busy(used / (wall * float64(cmp.Or(s.Workers, runtime.GOMAXPROCS(0))))); busy != "" && s.Progress != nil {
		s.Progress(experiment.Progress{Warning: busy})
	}
	for _, row := range out.Rows {
		for _, x := range []*scalingTimes{row.MoE, row.PerExpert} {
			if x != nil {
				x.TrainingRatio, x.InferenceRatio = ratioOf(row.Hard.training, x.training), ratioOf(row.Hard.inference, x.inference)
			}
		}
	}
	return out, scalingPage(out, s.Of, Studies[s.Name].Times[p.Name]), nil
}

// scalingPage shows the times.
func scalingPage(r *scalingStudy, of, published string) *report.Study {
	t := &report.Table{Title: "Time of a step", Columns: append([]report.Column{{Title: "points", Right: true}, {Title: "arm"}}, numbers("training", "iterations", "constraint", "inference", "constraint", "hard / moe, training", "inference")...)}
	milliseconds := func(x score.Summary) string {
		return fmt.Sprintf("%s ± %s ms (median %s)", words.Number(1e3*x.Mean), words.Number(1e3*x.Std), words.Number(1e3*x.Median))
	}
	lines := map[string]*report.ChartLine{}
	order := []string{"PI-HC, training", "PI-HC-MoE, training", "PI-HC, inference", "PI-HC-MoE, inference"}
	for i, name := range order {
		lines[name] = &report.ChartLine{Label: name, Color: 1 + i%2, Dashed: i >= 2, Marks: true}
	}
	point := func(name string, n int, x score.Summary) {
		l := lines[name]
		l.X, l.Y = append(l.X, float64(n)), append(l.Y, x.Median)
	}
	var helped []string
	for _, row := range r.Rows {
		add := func(arm string, x *scalingTimes) {
			cells := []string{words.Count(row.Points), arm, milliseconds(x.Training), fmt.Sprintf("%.1f", x.Iterations), words.Percent(x.TrainingShare), milliseconds(x.Inference), words.Percent(x.InferenceShare)}
			if x != row.Hard {
				cells = append(cells, x.TrainingRatio.String(), x.InferenceRatio.String())
			}
			t.Add(cells...)
		}
		add("PI-HC", row.Hard)
		add("PI-HC-MoE, as many in all", row.MoE)
		if row.PerExpert != nil {
			add("PI-HC-MoE, as many each", row.PerExpert)
		}
		if row.MoE.TrainingRatio.above() {
			helped = append(helped, words.Count(row.Points))
		}
		point(order[0], row.Points, row.Hard.Training)
		point(order[1], row.Points, row.MoE.Training)
		point(order[2], row.Points, row.Hard.Inference)
		point(order[3], row.Points, row.MoE.Inference)
	}
	t.Notes = []string{
		fmt.Sprintf("%d steps each of %d samples with trained parameters, in %d rounds of all arms, each after a step that is not counted; %d experts. %s. Other work on the machine disturbs times.", scalingRounds*cyclesOf(max(1, r.Passes))*max(1, r.Passes), r.Batch, scalingRounds, r.Experts, kernel.Machine()),
		"Ratios are means over the rounds of the ratio of a round's medians, with their standard errors.",
		"constraint: the share of the median time that is more than that of the same step of PI-SC, which has the network and the loss alone.",
		"Counts are capped by the grid.",
	}
	if published != "" {
		t.Notes = append(t.Notes, "The paper (as many in all, on GPUs): "+published+".")
	}
	verdict := "Here experts with as many points in all are not faster to train at any number of points: no ratio is above one by two standard errors."
	if len(helped) > 0 {
		verdict = fmt.Sprintf("Here experts with as many points in all are faster to train at %s points: ratios above one by two standard errors.", strings.Join(helped, ", "))
	}
	if r.Passes > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("A training step is the mean over the %d passes, which training visits in turn; a prediction has all of them.", r.Passes))
		verdict += fmt.Sprintf(" Of the %d passes only the last has experts: the one solve of each other has as many rows as an expert, so fewer than PI-HC's where experts have as many in all.", r.Passes)
	}
	s := &report.Study{Title: "Time over the number of constrained points, " + of, Summary: []string{verdict}, Tables: []*report.Table{t}}
	chart := report.Chart{Name: "scaling", Caption: "Median time of a step over the points in all", X: "points", Y: "s", LogX: true, LogY: true}
	for _, name := range order {
		chart.Lines = append(chart.Lines, *lines[name])
	}
	s.Charts = []report.Chart{chart}
	return s
}

// time adds the times of a round's steps of training and inference.
func (x *scalingTimes) time(ctx context.Context, s *Work, round, batch int) error {
	dir := s.Runs[model.MoE]
	overrides := []string{"method=" + x.method}
	if x.method != model.Soft {
		overrides = append(overrides, fmt.Sprintf("constraint.points=%d", x.Points))
	}
	if d, ok := s.Runs[x.method]; ok {
		dir = d
	}
	run, err := experiment.OpenRun(dir, overrides...)
	if err != nil {
		return err
	}
	spec, p := run.Spec, run.Problem
	if spec.Network.Precision == "float64" {
		return fmt.Errorf("scaling: run %s has a network in float64; want float32", dir)
	}
	e, err := engine.New[float32](spec, p, engine.Options{Workers: s.Workers})
	if err != nil {
		return err
	}
	defer e.Close()
	info := e.Info()
	params := engine.InitialParams[float32](info) // of soft, whose time does not depend on them
	if x.method != model.Soft {
		if params, _, err = train.LoadParams[float32](dir, spec, p, train.LoadOptions{}); err != nil {
			return err
		}
	}
	samples, err := experiment.LoadSamples(s.Set, "test", p, info.Grid, 0)
	if err != nil {
		return err
	}
	grad := make([]float32, len(params))
	passes := spec.Network.Passes
	cycles := cyclesOf(passes)
	step := round * cycles * passes
	next := func(pass int) engine.Batch {
		b := engine.Batch{Pass: pass, Training: engine.Training{Progress: 1}}
		for i := range batch {
			at := (step*batch + i) % len(samples.Inputs)
			b.Inputs, b.Seeds = append(b.Inputs, samples.Inputs[at]), append(b.Seeds, samples.Seeds[at])
		}
		return b
	}
	first := passes // before what is counted: one step
	for cycle := range cycles + 1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		clear(grad)
		iterations := 0.0
		begin, before := time.Now(), machine.CPUSeconds()
		for pass := first; pass <= passes; pass++ {
			st, err := e.LossAndGrad(grad, params, next(pass))
			if err != nil {
				return err
			}
			iterations += st.Iterations / float64(passes)
			step++
		}
		middle := time.Now()
		if err := e.Predict(params, next(0), func(int, *engine.Prediction) error { return nil }); err != nil {
			return err
		}
		first = 1
		if cycle == 0 {
			continue
		}
		x.training, x.inference = append(x.training, middle.Sub(begin).Seconds()/float64(passes)), append(x.inference, time.Since(middle).Seconds())
		x.used, x.wall = x.used+machine.CPUSeconds()-before, x.wall+time.Since(begin).Seconds()
		if !math.IsNaN(iterations) {
			x.Iterations += iterations / float64(scalingRounds*cycles)
		}
	}
	return nil
}
