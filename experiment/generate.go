package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"time"

	"pihc/data"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/words"
)

// mostReferenceError is the discretisation error of reference solutions that is warned of.
const mostReferenceError = 0.05

// Generated says what is known of a dataset's solutions.
type Generated struct {
	Warnings []string // of solutions, the problem and its grid
	// ReferenceError is the discretisation error of solutions of the problem's own rows, as a fraction; NaN of
	// solutions by a solver of the problem's own or from a file.
	ReferenceError float64
}

// Generate makes the dataset of the spec in the folder dir: NPZ shards with a manifest that has the SHA-256 of every
// file. It completes one that was interrupted, and verifies one that is whole. What it makes does not depend on workers or
// processes.
func (x *Experiment) Generate(ctx context.Context, dir string, o Options) (*Generated, error) {
	out, p := &Generated{ReferenceError: math.NaN()}, x.Problem
	if err := x.asRead(dir, o); err != nil {
		return nil, err
	}
	if err := drawable(x.Spec.Problem, p); err != nil {
		return nil, err
	}
	plan, err := x.Spec.DatasetPlan(p, o.Workers)
	if err != nil {
		return nil, err
	}
	g, err := p.Grid(x.Spec.Grid)
	if err != nil {
		return nil, err
	}
	given, err := dataset.GivenSolutions(&plan, p, g)
	if err != nil {
		return nil, err
	}
	if o.writes() { // before comparisons, which take long where the problem is ill-posed
		if err := x.examine(g, out, o); err != nil {
			return nil, err
		}
	}
	compared, err := compareGiven(ctx, given, o)
	if err != nil {
		return nil, err
	}
	recordDoubt(&plan, dir, compared)
	if err := x.recordGrid(ctx, &plan, dir); err != nil {
		return nil, err
	}
	plan.Ranks = o.comm()
	if err := o.Agree(x.Spec, p); err != nil {
		return nil, err
	}
	if !o.writes() {
		return out, data.Generate(ctx, dir, plan, nil)
	}
	for _, warning := range compared.Warnings {
		o.warn(&out.Warnings, "%s", warning)
	}
	if warning := plan.Metadata[gridWarning]; warning != "" {
		o.warn(&out.Warnings, "%s", warning)
	}
	if compared.Summary != "" {
		o.say("solutions of the file: %s", compared.Summary)
	}
	if _, err := os.Stat(dir); err != nil {
		if err := checkDisk(dir, plan); err != nil {
			return nil, err
		}
	}
	if err := checkWritable(dir); err != nil {
		return nil, err
	}
	if err := x.estimateReference(&plan, out, o); err != nil {
		return nil, err
	}
	_, incomplete := data.Open(dir)
	begin := time.Now()
	stages := &splitStages{o: o, splits: plan.Splits}
	defer stages.end()
	if err := data.Generate(ctx, dir, plan, func(done, _ int) { stages.set(done) }); err != nil || incomplete == nil {
		return out, err // or all has been compared before
	}
	stages.end()
	warnings, err := checkSolutions(ctx, dir, p, o.Workers, max(leastComparison, time.Since(begin)/2))
	if ctx.Err() != nil { // the same call again goes on, and compares
		return out, cmp.Or(data.Reopen(dir), err)
	}
	for _, warning := range warnings {
		o.warn(&out.Warnings, "%s", warning)
	}
	return out, err
}

// splitStages tell how far a dataset is: samples that are solved take longer than those that are drawn alone, and
// have stages of their own.
type splitStages struct {
	o      Options
	splits []data.Split
	stage  *Stage
	first  int // samples before those of the stage
	solve  bool
}

// set tells that so many samples of all splits are there.
func (s *splitStages) set(done int) {
	at, group, solve := 0, 0, false // the end and the beginning of the splits of one kind that this sample is among
	for i, split := range s.splits {
		if i == 0 || split.Solve != solve {
			if i > 0 && done <= at {
				break
			}
			group, solve = at, split.Solve
		}
		at += split.Count
	}
	if s.stage == nil || s.solve != solve || s.first != group {
		s.end()
		s.solve, s.first = solve, group
		s.stage = s.o.Stage(map[bool]string{false: "draw", true: "solve"}[solve], at-group)
	}
	s.stage.Set(done-group, "")
}

func (s *splitStages) end() {
	if s.stage != nil {
		s.stage.End()
	}
}

// compareGiven compares solutions of a file, nil for none, with those of the rows.
func compareGiven(ctx context.Context, given *dataset.Given, o Options) (*dataset.Comparison, error) {
	if given == nil {
		return &dataset.Comparison{}, nil
	}
	if !o.writes() {
		o.Progress = nil
	}
	m := o.Stage("compare", 1)
	defer m.End()
	return given.Compare(ctx, o.Workers, m.of)
}

// recordDoubt has a dataset record how far solutions of a file are from those of the rows, where that is too far,
// unless it is there already without: from a version that did not look.
func recordDoubt(plan *data.Plan, dir string, compared *dataset.Comparison) {
	if compared.Distance == 0 {
		return
	}
	if set, err := data.Open(dir); err == nil && set.Metadata["reference_error"] == "" {
		return
	}
	plan.Metadata["reference_error"] = fmt.Sprintf("%.2g", compared.Distance)
}

// gridWarning is what the metadata of a dataset have of a grid that does not hold the solutions, for trainings on it.
const gridWarning = "grid_warning"

// recordGrid has a dataset record whether its grid holds the solutions of the problem, as it did where it is whole.
func (x *Experiment) recordGrid(ctx context.Context, plan *data.Plan, dir string) error {
	var warning string
	set, err := data.Open(dir)
	if err == nil {
		warning = set.Metadata[gridWarning]
	} else if warning, err = unheld(ctx, x.Problem, x.Spec); err != nil {
		return err
	}
	if warning != "" {
		plan.Metadata[gridWarning] = warning
	}
	return nil
}

// examine warns of a problem that cannot be solved as it stands, and of expressions that its grid does not resolve.
func (x *Experiment) examine(g *grid.Grid, out *Generated, o Options) error {
	verdict, err := examine(x.Problem)
	if err == nil {
		err = determined(verdict)
	}
	if err != nil {
		o.warn(&out.Warnings, "%v", err)
	}
	notes, _, err := unresolved(x.Problem, g)
	for _, note := range notes {
		o.warn(&out.Warnings, "%s", note)
	}
	return err
}

// estimateReference measures the discretisation error of reference solutions, and has the dataset record it.
func (x *Experiment) estimateReference(plan *data.Plan, out *Generated, o Options) error {
	estimate, refined, ok, err := x.Spec.ReferenceError(x.Problem)
	if err != nil || !ok {
		return err
	}
	out.ReferenceError = estimate
	plan.Metadata["reference_refinement"], plan.Metadata["reference_error"] = refined, fmt.Sprintf("%.2g", estimate)
	o.say("reference: the problem's own rows on a grid refined %s; discretisation error about %s", refined, words.Percent(estimate))
	switch {
	case !(estimate <= mostFloor):
		return words.WithHint(fmt.Errorf("the reference solutions are none: on another grid they differ by %s", words.Percent(estimate)), "a finer `reference: {solver: discrete, refine: ...}`, or an equation that amplifies every difference?")
	case estimate > mostReferenceError:
		o.warn(&out.Warnings, "the reference solutions are uncertain by about %s: scores say no more than that", words.Percent(estimate))
	}
	return nil
}
