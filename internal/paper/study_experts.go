package paper

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"pihc/engine"
	"pihc/experiment"
	"pihc/internal/words"
	"pihc/model"
	"pihc/pde"
	"pihc/report"
	"pihc/score"
)

// expertStudy is the JSON of reproduce experts.
type expertStudy struct {
	origin
	Experts int                 `json:"experts"` // K
	Rows    int                 `json:"rows"`    // residual rows sampled in all, in every arm
	Overlap model.Ramp          `json:"overlap"` // constraint.overlap of the arm of experts
	Arms    []expertArm         `json:"arms"`
	Swaps   []expertArm         `json:"swaps"` // parameters of one method with the solves of the other
	Paired  []report.Difference `json:"paired"`
}

// expertArm is one training, or one with other solves.
type expertArm struct {
	Name       string        `json:"name"`
	Family     string        `json:"family"`
	Method     string        `json:"method"`
	Basis      int           `json:"basis"` // functions of the network
	Experts    int           `json:"experts"`
	Points     int           `json:"points"` // of each, of all residuals
	RelativeL2 score.Summary `json:"relative_l2"`
	Iterations float64       `json:"iterations"`   // mean per solve
	SolveFLOP  float64       `json:"solve_flop"`   // of all solves of a prediction, see solveFLOP
	Prediction score.Summary `json:"prediction_s"` // of one sample
	Training   float64       `json:"train_seconds,omitempty"`
}

// Families of arms, in the order of the figure. All sample as many rows.
const (
	familyHard   = "hard"        // one solve over the whole domain
	familyMoE    = "moe"         // K experts with the rows of their subdomains
	familyRandom = "moe-random"  // rows from anywhere: experts that are not local
	familyCouple = "moe-coupled" // a quarter of the rows beyond the borders
)

var families = []string{familyHard, familyMoE, familyRandom, familyCouple}

var familyLabels = map[string]string{
	familyHard: "one solve", familyMoE: "experts", familyRandom: "experts, rows from anywhere", familyCouple: "experts, a quarter of the rows beyond their borders",
}

// expertArms are the trainings for a spec: one solve and K experts with N basis functions,
// a quarter of the spec's and all of them, and with as many as K experts of such have
// coefficients, up to mostFunctions; and with the spec's N experts whose rows are shared
// out otherwise.
func expertArms(spec *model.Spec) []Arm {
	k := spec.Constraint.ExpertCount()
	points, rows := spec.Constraint.Points, k*spec.Constraint.Points
	var all []Arm
	var network []string
	if spec.Network.Passes > 1 {
		network = onePass // of several only the last has experts
	}
	add := func(family string, basis int, set ...string) {
		name := fmt.Sprintf("%s-%d", family, basis)
		for _, x := range all {
			if x.Name == name {
				return
			}
		}
		title := fmt.Sprintf("%s, N = %d", familyLabels[family], basis)
		all = append(all, Arm{name, title, slices.Concat(set, network, []string{fmt.Sprintf("network.basis=%d", basis), "paper={}"})})
	}
	overlap := func(f float64) string { return fmt.Sprintf("constraint.overlap={start: %g, end: %g}", f, f) }
	moe := func(family string, n int, set ...string) {
		add(family, n, append(set, "method="+model.MoE, fmt.Sprintf("constraint.points=%d", points))...)
	}
	own := spec.Network.Basis
	few := max(1, own/4)
	for _, n := range []int{few, few * k, own, own * k} {
		if n <= max(mostFunctions, own) {
			add(familyHard, n, "method="+model.Hard, fmt.Sprintf("constraint.points=%d", rows))
			moe(familyMoE, n)
		}
	}
	moe(familyRandom, own, overlap(float64(k-1)/float64(k)))
	moe(familyCouple, own, overlap(0.25))
	return all
}

// mostFunctions is the largest N of the paper; with more, one solve takes longer than the
// rest of a step.
const mostFunctions = 64

// familyOf is the family of an arm by its name.
func familyOf(name string) string { return name[:strings.LastIndex(name, "-")] }

func studyExperts(ctx context.Context, s *Work) (result, *report.Study, error) {
	out := &expertStudy{}
	var names []string
	basis, sampled := map[string]int{}, 0 // rows of one of moe's experts, 0 where it has all
	for name, dir := range s.Runs {
		run, err := experiment.OpenRun(dir)
		if err != nil {
			return nil, nil, err
		}
		spec := run.Spec
		names, basis[name] = append(names, name), spec.Network.Basis
		out.Experts = spec.Constraint.ExpertCount()
		if familyOf(name) == familyMoE {
			sampled, out.Overlap = spec.Constraint.Points, spec.Constraint.Overlap
		}
	}
	slices.SortFunc(names, func(x, y string) int {
		return cmp.Or(cmp.Compare(slices.Index(families, familyOf(x)), slices.Index(families, familyOf(y))), basis[x]-basis[y])
	})
	var page report.Page
	measure := func(name, family string, set ...string) (expertArm, error) {
		arm, e, err := measureArm(ctx, s, name, family, set)
		if err == nil && len(set) == 0 {
			page.Methods = append(page.Methods, report.Method{Key: name, Label: name, Evaluation: *e})
		}
		return arm, err
	}
	for _, name := range names {
		arm, err := measure(name, familyOf(name))
		if err != nil {
			return nil, nil, err
		}
		if out.Rows == 0 {
			out.Rows = arm.Points * arm.Experts
		}
		out.Arms = append(out.Arms, arm)
	}
	for _, name := range names {
		family := familyOf(name)
		var set []string
		switch family {
		case familyHard:
			set = []string{"method=" + model.MoE, fmt.Sprintf("constraint.points=%d", sampled)}
		case familyMoE:
			set = []string{"method=" + model.Hard, fmt.Sprintf("constraint.points=%d", sampled*out.Experts)}
		default:
			continue
		}
		arm, err := measure(name, family, set...)
		if err != nil {
			return nil, nil, err
		}
		out.Swaps = append(out.Swaps, arm)
	}
	// moe against one solve with as many functions, and with as many coefficients.
	for _, d := range page.Differences() {
		if one, two := familyOf(d.Method), familyOf(d.Than); one == familyMoE && two == familyHard || one == familyHard && two == familyMoE || one != familyHard && two != familyHard && d.Method[len(one):] == d.Than[len(two):] {
			out.Paired = append(out.Paired, d)
		}
	}
	return out, expertPage(out, s.Of), nil
}

// measureArm evaluates a run, with values of its spec changed.
func measureArm(ctx context.Context, s *Work, name, family string, set []string) (expertArm, *score.Evaluation, error) {
	arm := expertArm{Name: name, Family: family}
	run, err := experiment.OpenRun(s.Runs[name], set...)
	if err != nil {
		return arm, nil, err
	}
	spec, p := run.Spec, run.Problem
	e, err := run.Open(s.asTrained())
	if err != nil {
		return arm, nil, err
	}
	defer e.Close()
	info := e.Info()
	arm.Method, arm.Basis, arm.Experts = spec.Method, spec.Network.Basis, info.Experts
	samples, err := experiment.LoadSamples(s.Set, "test", p, info.Grid, s.Samples)
	if err != nil {
		return arm, nil, err
	}
	bar := s.Stage("score "+name, len(samples.Inputs))
	defer bar.End()
	result, err := e.Evaluate(samples, bar.While(ctx, nil))
	if err != nil {
		return arm, nil, err
	}
	arm.RelativeL2 = *result.RelativeL2
	for _, x := range result.Experts {
		arm.Iterations += x.Iterations.Mean / float64(len(result.Experts))
	}
	points, conditions := solveRows(info)
	arm.Points = points
	weights := arm.Basis
	if !spec.Constraint.Tied() {
		weights *= len(p.Unknowns)
	}
	arm.SolveFLOP = float64(arm.Experts) * solveFLOP(arm.Points+conditions, weights, arm.Iterations)
	var seconds []float64
	for i := range min(17, len(samples.Inputs)+1) {
		at := i % len(samples.Inputs)
		begin := time.Now()
		if err := e.Predict(engine.Batch{Inputs: samples.Inputs[at : at+1], Seeds: samples.Seeds[at : at+1]}, func(int, *engine.Prediction) error { return nil }); err != nil {
			return arm, nil, err
		}
		if i > 0 { // the first one is not counted
			seconds = append(seconds, time.Since(begin).Seconds())
		}
	}
	arm.Prediction = score.Summarize(seconds)
	if len(set) > 0 {
		return arm, result, nil
	}
	arm.Training, err = run.TrainSeconds()
	return arm, result, err
}

// solveRows is how many residual rows and rows of conditions each solve of an engine has.
func solveRows(info engine.Info) (residuals, conditions int) {
	for _, r := range info.Rows {
		switch points := info.Spec.Constraint.Points; {
		case r.Kind != pde.ResidualRows:
			conditions += r.Count
		case points == 0: // all of them
			residuals += r.Count / info.Experts
		default:
			residuals += points
		}
	}
	return residuals, conditions
}

// solveFLOP counts what a solve of m rows and n unknowns does in so many iterations,
// whatever the implementation saves of it: J (m, n) times a vector twice, JᵀJ by its
// upper half, and a Cholesky factorisation.
func solveFLOP(m, n int, iterations float64) float64 {
	rows, unknowns := float64(m), float64(n)
	return iterations * (rows*(unknowns*(unknowns+1)+4*unknowns) + math.Pow(unknowns, 3)/3)
}

// expertPage shows what arms reach for their cost.
func expertPage(r *expertStudy, of string) *report.Study {
	columns := append([]report.Column{{Title: "arm"}}, numbers("N", "solves", "rows of each", "relative L²", "iterations", "MFLOP", "prediction", "training")...)
	arms, swaps := &report.Table{Title: "Error and cost", Columns: columns}, &report.Table{Title: "The other solve with the same parameters", Columns: columns}
	row := func(t *report.Table, label string, x *expertArm) {
		training := "-"
		if x.Training > 0 {
			training = words.Duration(x.Training)
		}
		t.Add(label, words.Count(x.Basis), words.Count(x.Experts), words.Count(x.Points), words.PercentOf(x.RelativeL2.Mean, x.RelativeL2.Std),
			words.Number(x.Iterations), words.Number(x.SolveFLOP/1e6), words.Number(1e3*x.Prediction.Median)+" ms", training)
	}
	flop := report.Chart{Name: "experts_flop", Caption: "Mean error over the operations of the solves of a prediction, N growing along each line", X: "MFLOP", Y: "relative L² error", LogX: true, LogY: true, Percent: true}
	clock := report.Chart{Name: "experts_time", Caption: "Mean error over the time of a prediction (median), N growing along each line", X: "s", Y: "relative L² error", LogX: true, LogY: true, Percent: true}
	for i, family := range families {
		of := slices.DeleteFunc(slices.Clone(r.Arms), func(x expertArm) bool { return x.Family != family })
		byFLOP := report.ChartLine{Label: familyLabels[family], Color: 1 + i, Marks: true}
		byTime := byFLOP
		for k := range of {
			row(arms, familyLabels[family], &of[k])
			byFLOP.X, byFLOP.Y = append(byFLOP.X, of[k].SolveFLOP/1e6), append(byFLOP.Y, of[k].RelativeL2.Mean)
			byTime.X, byTime.Y = append(byTime.X, of[k].Prediction.Median), append(byTime.Y, of[k].RelativeL2.Mean)
		}
		flop.Lines, clock.Lines = append(flop.Lines, byFLOP), append(clock.Lines, byTime)
	}
	for i := range r.Swaps {
		x := &r.Swaps[i]
		row(swaps, fmt.Sprintf("%s, trained with %s", familyLabels[map[string]string{model.Hard: familyHard, model.MoE: familyMoE}[x.Method]], familyLabels[x.Family]), x)
	}
	pairs := &report.Table{Title: "Differences by sample", Columns: []report.Column{{Title: "arm"}, {Title: "less"}, {Title: "difference of relative L²", Right: true}, {Title: "better on", Right: true}}}
	for _, d := range r.Paired {
		pairs.Add(d.Method, d.Than, words.PercentPoints(d.Mean, d.Error), fmt.Sprintf("%d of %d", d.Better, d.Of))
	}
	own := "the rows of their subdomains"
	if o := r.Overlap; o.Start > 0 || o.End > 0 {
		own += fmt.Sprintf(" and a share of %.3g beyond them, falling to %.3g in training", o.Start, o.End)
	}
	return &report.Study{
		Title: "What experts give for their cost, " + of,
		Summary: []string{
			fmt.Sprintf("Every arm samples %s residual rows in all and is trained with the same steps, in one pass. One solve has N functions, or as many as the coefficients of %d experts; experts have %s, "+
				"rows from anywhere (then only the assembly is local), or a quarter of their rows beyond their borders throughout. One seed: a difference counts where the table of pairs has it at more "+
				"than two standard errors, and only over several seeds is it one of the methods.", words.Count(r.Rows), r.Experts, own),
			"MFLOP is a count by formula for a prediction: iterations x (rows (n² + 5 n) + n³/3) for each solve, n its weights: N, or N for each of several unknowns.",
		},
		Tables: []*report.Table{arms, swaps, pairs},
		Charts: []report.Chart{flop, clock},
	}
}
