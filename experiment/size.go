package experiment

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"math"
	"path/filepath"

	"pihc/constraint"
	"pihc/engine"
	"pihc/internal/dataset"
	"pihc/internal/machine"
	"pihc/internal/words"
	"pihc/model"
	"pihc/pde"
	"pihc/train"
)

//go:embed templates/*.yaml
var templateFiles embed.FS

// Templates are the problems that Size knows by name, with a line on each.
var Templates = [][2]string{
	{"heat", "heat between two walls"},
	{"wave", "waves on a ring"},
	{"burgers", "Burgers' equation on a ring"},
	{"reaction-diffusion", "Fisher-KPP, walls without flux"},
	{"flow", "2-D Navier-Stokes, periodic"},
	{"steady", "Poisson's equation with a drawn source"},
	{"system", "FitzHugh-Nagumo, two unknowns"},
}

// A Sized is a PDE file and a spec to begin with, as Size chose them for this machine.
type Sized struct {
	Problem, Spec []byte   // the texts of problem.yaml and spec.yaml
	Added         []string // what was added to the PDE file, and what about it may not be meant
	Choice        string   // the sizes in words
	Untrained     string   // that predictions converge before anything is learnt, and how; empty where they do not
	Warnings      []string
	// Training of one method, and all three with data and scores, in seconds on so many idle threads.
	Training, Total float64
	Threads         int
}

// SizeOptions say how large an experiment is to be.
type SizeOptions struct {
	Options
	Minutes float64 // for the training of one method; 0: 3
	Folder  string  // where the files go: paths in the PDE file are made relative to it
}

// Size completes a PDE file, a template's by its name or one's own by its path, with what training and scores want of it, and
// chooses the sizes of an experiment on it such that a training takes about the time given on this machine. It writes
// nothing.
func Size(ctx context.Context, name string, o SizeOptions) (*Sized, error) {
	if o.Minutes = cmp.Or(o.Minutes, 3); !(o.Minutes > 0) || math.IsInf(o.Minutes, 0) {
		return nil, usagef("--minutes %g: want a positive number", o.Minutes)
	}
	src, err := templateSource(name)
	if err != nil {
		return nil, err
	}
	d := &draft{src: src}
	if err := d.complete(name); err != nil {
		return nil, err
	}
	given, err := readGivenSizes(d.p)
	if err != nil {
		return nil, err
	}
	if err := d.moveReference(o.Folder); err != nil {
		return nil, err
	}
	d.file = filepath.Join(o.Folder, "problem.yaml")
	if err := d.lineariseAbout(ctx, &o); err != nil {
		return nil, err
	}
	if d.sizes, err = measure(ctx, d.p, given, &o); err != nil {
		return nil, err
	}
	for _, change := range []func(context.Context, Options) error{d.holdAtStart, d.weighTimes, d.raiseOrders} {
		if err := change(ctx, o.Options); err != nil {
			return nil, err
		}
	}
	if err := d.holdSolutions(ctx, &o); err != nil {
		return nil, err
	}
	if err := d.tryNewton(ctx, &o); err != nil {
		return nil, err
	}
	if d.rushed != "" {
		d.warnings = append(d.warnings, d.rushed)
	}
	out := &Sized{
		Problem: d.src, Spec: d.spec(d.p), Added: d.added, Choice: d.String(), Warnings: d.warnings, Training: d.training(), Total: d.total(), Threads: d.workers,
	}
	if d.converges {
		out.Untrained = "predictions take steps of Newton's method, which converge before anything is learnt: training adds little here, and `pihc solve` needs none"
	}
	return out, ctx.Err()
}

// draft is a PDE file in the making, and the sizes of an experiment on it.
type draft struct {
	*sizes
	src   []byte
	file  string // where it goes: it names other files from there
	p     *pde.Problem
	added []string // what was changed, in words
	held  map[string]holding

	blame string // what is wrong with the equation or its conditions, of a verdict
}

// sizes are what init chooses for a problem on this machine.
type sizes struct {
	fitted              *model.Spec
	step                float64 // seconds of a training step
	check               float64 // seconds of a validation
	solution            float64 // seconds of a reference solution on one thread, 0 for none
	workers             int
	width, layers       int
	steps, batch, tests int
	validations         int         // 0: mostValidated
	segments            int         // of the time
	newton              bool        // evaluation.newton
	converges           bool        // predictions with these steps do, before anything is learnt
	prediction          float64     // seconds of one with steps of Newton's method, 0 where it is not known
	rushed              string      // a warning
	scales              string      // a key of the network, where the draws do not say it
	given               *givenSizes // where a file holds the solutions
	warnings            []string
}

func (s *sizes) training() float64 {
	return float64(s.steps)*s.step + float64(s.steps/s.every())*s.check
}

const (
	// mostChecks and fewestChecks bound how often a training looks at validation samples, checkShare the part of its time that this takes.
	mostChecks, fewestChecks = 20, 3
	checkShare               = 0.25
)

// every is the number of steps from one validation to the next.
func (s *sizes) every() int {
	checks := mostChecks
	if s.check > 0 {
		checks = max(fewestChecks, int(min(mostChecks, checkShare*float64(s.steps)*s.step/s.check)))
	}
	return max(1, s.steps/checks)
}

// total adds data and scores to three trainings; evaluation is far less than either, but for predictions that are known to take long: of two methods.
func (s *sizes) total() float64 {
	return 3*s.training()*1.1 + 2*float64(s.tests)*s.prediction + s.solution*float64(s.validation()+s.tests+4)/float64(s.workers)
}

func (s *sizes) String() string {
	of := ""
	if s.segments > 1 {
		of = fmt.Sprintf(" in each of %d segments of the time", s.segments)
	}
	return fmt.Sprintf("%d steps of %d samples, a network of width %d run %s%s, %d test samples", s.steps, s.batch, s.width, times(s.fitted.Network.Passes), of, s.tests)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

const (
	// fewestSteps is where a smaller network learns more in the same time, mostSteps
	// where more of them change little.
	fewestSteps, mostSteps = 600, 6000
	// rushedSteps is what less than is said to be too little.
	rushedSteps = 200
	// mostValidated is how many validation samples there are where they are solved in time, fewestSolved how many of these and of test samples in any case.
	mostValidated, fewestSolved = 16, 4
	// enoughTiming is how many seconds of steps are measured where a step takes less.
	enoughTiming = 1.0
)

// measure chooses sizes: the largest of a few for which the time allows fewestSteps.
func measure(ctx context.Context, p *pde.Problem, given *givenSizes, o *SizeOptions) (*sizes, error) {
	scales, err := measuredScales(ctx, p, given, o)
	if err != nil {
		return nil, err
	}
	var s *sizes
	all := []struct{ width, batch int }{{32, 4}, {24, 4}, {16, 4}, {16, 2}}
	for i, c := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		last := s
		s = &sizes{width: c.width, layers: 4, batch: c.batch, steps: mostSteps, tests: 32, workers: o.threads(), given: given, scales: scales}
		if given != nil {
			s.tests = given.tests
		}
		var err error
		if s.fitted, err = s.fit(p); err != nil {
			return nil, err
		}
		if s.segments = s.fitted.FittingSegments(p); s.segments > 1 {
			if s.fitted, err = s.fit(p); err != nil {
				return nil, err
			}
		}
		if err := (&Experiment{Spec: s.fitted, Problem: p}).CheckSizes(Options{Workers: o.Workers}); err != nil {
			return nil, err
		}
		if last != nil && last.width == s.width { // a step takes the samples of its batch one after another
			s.step, s.check = last.step*float64(s.batch)/float64(last.batch), last.check
		} else {
			o.say("init: timing steps of a network of width %d", c.width)
			most := math.Inf(1)
			if i < len(all)-1 && all[i+1].width < s.width {
				most = 60 * o.Minutes / fewestSteps
			}
			if err := s.timeSteps(p, most); err != nil {
				return nil, err
			}
		}
		if s.allow(o.Minutes); s.steps >= fewestSteps {
			break
		}
	}
	return s, s.timeSolution(p, o)
}

// allow takes as many steps as the time allows.
func (s *sizes) allow(minutes float64) {
	steps := int(min(60*minutes/s.step, mostSteps))
	s.steps, s.rushed = roundDown(max(steps, 20)), ""
	if steps < rushedSteps {
		s.rushed = fmt.Sprintf("a step takes %.2g s: %d of them are few; `--minutes %.2g` makes %d, or fewer points in the axes of the PDE file make more", s.step, s.steps, rushedSteps*s.step/60, rushedSteps)
	}
}

// fit is the spec of these sizes.
func (s *sizes) fit(p *pde.Problem) (*model.Spec, error) {
	spec, err := model.LoadSpec("spec.yaml", s.spec(p), "method="+model.MoE)
	if err != nil {
		return nil, err
	}
	return spec, spec.Fit(p)
}

// roundDown keeps two digits.
func roundDown(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return n / unit * unit
}

// timeSteps measures a step of training without the update of the parameters, by samples that are taken
// together or side by side, and for which all others of a batch take as long: each pass of the network once, after one that is not
// counted, unless that alone takes twice the most seconds that a step may take. Where the threads did not
// have their processors to themselves, what they waited for those is left out. A validation is measured by as many samples, with the
// parameters that training begins with.
func (s *sizes) timeSteps(p *pde.Problem, most float64) error {
	e, err := engine.New[float32](s.fitted, p, engine.Options{Workers: s.workers, Samples: s.batch})
	if err != nil {
		return err
	}
	defer e.Close()
	info := e.Info()
	initial, err := draws(s.fitted, p, "train", min(s.batch, max(s.fitted.Training.MicroBatch, engine.AtATime(e))))
	if err != nil {
		return err
	}
	params := engine.InitialParams[float32](info)
	grad := make([]float32, len(params))
	// step returns the seconds of a step of the batch, in the mean over passes.
	step := func(passes ...int) (float64, error) {
		watch := machine.Start()
		for _, pass := range passes {
			b := engine.Batch{Inputs: initial, Pass: pass, Training: engine.Training{Progress: 1}}
			for i := range initial {
				b.Seeds = append(b.Seeds, constraint.Seed{Run: 1, Sample: uint64(i)})
			}
			if _, err := e.LossAndGrad(grad, params, b); err != nil {
				return 0, err
			}
		}
		return watch.Seconds() / float64(len(passes)) * float64(s.batch) / float64(len(initial)), nil
	}
	if engine.AtATime(e) > 1 {
		if _, err := step(1); err != nil { // which makes the engines
			return err
		}
	}
	if s.step, err = step(1); err != nil || s.step > 2*most {
		return err
	}
	var passes []int
	for range max(1, min(s.batch, int(enoughTiming/s.step))) {
		for pass := range s.fitted.Network.Passes {
			passes = append(passes, 1+pass)
		}
	}
	if s.step, err = step(passes...); err != nil {
		return err
	}
	watch := machine.Start()
	b := engine.Batch{Inputs: initial, Seeds: train.EvaluationSeeds(len(initial))}
	if err := e.Predict(params, b, func(int, *engine.Prediction) error { return nil }); err != nil {
		return err
	}
	count := s.validation()
	if n := s.fitted.Training.ValidateCount; n > 0 {
		count = min(count, n)
	}
	s.check = watch.Seconds() * float64(count) / float64(len(initial))
	return nil
}

// timeSolution measures one reference solution, and takes as many validation and test samples as are
// solved in the time of a training, but some of each.
func (s *sizes) timeSolution(p *pde.Problem, o *SizeOptions) error {
	if s.given != nil {
		return nil // nothing is solved
	}
	if p.Reference.Solver == "" {
		s.warnings = append(s.warnings, "without a reference there are no solutions, and no errors, but residuals alone")
		return nil
	}
	g, err := p.Grid(s.fitted.Grid)
	if err != nil {
		return err
	}
	solver, err := dataset.ReferenceSolver(p, g)
	if err != nil {
		return words.WithHint(err, "without `reference` there are residuals alone")
	}
	initial, err := draws(s.fitted, p, "train", 1)
	if err != nil {
		return err
	}
	watch := machine.Start()
	if _, err := solver.Solve(make([]float64, len(p.Unknowns)*g.Size()), initial[0]); err != nil {
		hint := fmt.Sprintf("an equation whose solutions end, or leave what its expressions are defined for, within the range of %s, or that begin with a jump?", p.Axes[0].Name)
		if p.Steady {
			hint = "an equation without a solution for what is drawn, or whose expressions are not defined on the way from zero to it?"
		}
		return words.WithHint(fmt.Errorf("reference solution: %w", err), "%s Without `reference` there are residuals alone", hint)
	}
	s.solution = watch.Seconds()
	affordable := int(60 * o.Minutes * float64(s.workers) / max(s.solution, 1e-3))
	if s.validations = max(fewestSolved, min(mostValidated, affordable/2)); s.validations < mostValidated {
		s.check *= float64(s.validations) / mostValidated
	}
	s.tests = max(fewestSolved, min(s.tests, affordable-s.validations))
	return nil
}

// validation is the number of validation samples.
func (s *sizes) validation() int {
	if s.given != nil {
		return s.given.validation
	}
	return cmp.Or(s.validations, mostValidated)
}
