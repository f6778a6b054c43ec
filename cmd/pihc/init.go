package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pihc/constraint"
	"pihc/data"
	"pihc/dataset"
	"pihc/discrete"
	"pihc/engine"
	"pihc/model"
	"pihc/pde"
	"pihc/score"
)

//go:embed templates/*.yaml
var templateFiles embed.FS

// templates are the problems that init knows by name.
var templates = []struct{ name, title string }{
	{"heat", "heat between two walls"},
	{"wave", "waves on a ring"},
	{"burgers", "Burgers' equation on a ring"},
	{"reaction-diffusion", "Fisher-KPP, walls without flux"},
	{"flow", "2-D Navier-Stokes, periodic"},
	{"steady", "Poisson's equation with a drawn source"},
	{"system", "FitzHugh-Nagumo, two unknowns"},
}

type initOptions struct {
	out     string
	minutes float64
	workers int
}

func newInit(a *app) *cobra.Command {
	o := &initOptions{}
	var list strings.Builder
	for _, t := range templates {
		fmt.Fprintf(&list, "  %-20s %s\n", t.name, t.title)
	}
	c := &cobra.Command{
		Use:   "init NAME|FILE.yaml --out DIR",
		Short: "Write a problem and a spec to begin with",
		Long: `init writes DIR/problem.yaml and DIR/spec.yaml, with comments: from a template,

` + list.String() + `
or for a PDE file of your own, which is copied. A file without a reference gets
` + "`reference: {solver: discrete}`" + `, solutions of its own rows on a finer grid; one without
an ansatz gets that which meets its initial condition exactly, and a first
derivative that is given there. A residual that
leaves out the first time holds there too, if initial conditions meet those of the
walls, and differences along at most two axes get the orders of accuracy with which
the rows' solution is nearest to the reference (floor_error of ` + "`pihc check`" + `), if
solutions change no more with the grid than before; where it
cannot hold there, that in time is 4 at most, and the first rows count for more. Grid
and numbers of samples of a file with solutions (reference: {file: ...}) are those of
that. Where small differences between solutions grow, which eight solutions tell, it gets a
residual_weight that falls in time. Files with faults that ` + "`pihc check`" + ` finds
in rows and ansatz are refused.

The spec's sizes are such that a training of one method takes about --minutes on
this machine, by the processor time of a few steps; init says how long everything
will take. All else has the defaults of version 2 of spec files, which follow from
the problem.`,
		Example: `  pihc init burgers --out burgers
  pihc init my-equation.yaml --out mine --minutes 10
  pihc reproduce mine/spec.yaml --out runs/mine`,
		Args: positional("NAME or FILE.yaml", 1, 1),
		RunE: func(c *cobra.Command, args []string) error { return a.initialise(c.Context(), args[0], o) },
	}
	c.Flags().StringVarP(&o.out, "out", "o", "", "folder to make (required)")
	c.Flags().Float64Var(&o.minutes, "minutes", 3, "time for the training of one method")
	workersFlag(c, &o.workers)
	return c
}

func (a *app) initialise(ctx context.Context, name string, o *initOptions) error {
	switch {
	case o.out == "":
		return usagef("--out DIR missing")
	case !(o.minutes > 0) || math.IsInf(o.minutes, 0):
		return usagef("--minutes %g: want a positive number", o.minutes)
	}
	src, err := templateSource(name)
	if err != nil {
		return err
	}
	src, p, added, err := completeProblem(name, src)
	if err != nil {
		return err
	}
	given, err := readGivenSizes(p)
	if err != nil {
		return err
	}
	src, moved, err := moveReference(src, p, o.out)
	if err != nil {
		return err
	}
	added = append(added, moved...)
	problemFile, specFile := filepath.Join(o.out, "problem.yaml"), filepath.Join(o.out, "spec.yaml")
	taken := func(path string) error {
		return withHint(fmt.Errorf("%s exists already", path), "choose another folder with --out")
	}
	if _, err := os.Stat(specFile); err == nil {
		return taken(specFile)
	}
	sizes, err := a.measure(ctx, p, given, o)
	if err != nil {
		return err
	}
	src, p, held, err := a.holdAtStart(ctx, src, p, sizes)
	if err != nil {
		return err
	}
	src, p, weighed, err := a.weighTimes(ctx, src, p, sizes)
	if err != nil {
		return err
	}
	src, p, raised, err := a.raiseOrders(ctx, src, p, sizes)
	if err != nil {
		return err
	}
	added = slices.Concat(added, held, weighed, raised)
	if old, err := os.ReadFile(problemFile); err == nil && !bytes.Equal(old, src) { // an init that was stopped left the same
		return taken(problemFile)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	made, err := data.MakeFolder(o.out)
	if err != nil {
		return err
	}
	for _, file := range []struct {
		path string
		text []byte
	}{{problemFile, src}, {specFile, sizes.spec(p)}} {
		if err := data.WriteAtomic(file.path, func(w io.Writer) error { _, err := w.Write(file.text); return err }); err != nil {
			if made {
				os.RemoveAll(o.out)
			}
			return err
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", problemFile)
	for _, line := range added {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	fmt.Fprintf(&b, "%s\n  %s\n", specFile, sizes)
	for _, line := range sizes.warnings {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	fmt.Fprintf(&b, "about %s a method, about %s for all three with data and scores, on %d threads of this machine when it is idle\n",
		score.Duration(sizes.training()), score.Duration(sizes.total()), sizes.workers)
	fmt.Fprintf(&b, "next: pihc reproduce %s --out RUN\n", specFile)
	_, err = io.WriteString(a.Out, b.String())
	return err
}

// templateSource reads the PDE file of a template, or one of the user's.
func templateSource(name string) ([]byte, error) {
	if pde.IsPath(name) {
		return os.ReadFile(name)
	}
	names := templateNames()
	if slices.Contains(names, name) {
		return templateFiles.ReadFile(path.Join("templates", name+".yaml"))
	}
	err := usagef("there is no template %q: there are %s", name, strings.Join(names, ", "))
	if _, stat := os.Stat(name); !errors.Is(stat, fs.ErrNotExist) {
		return nil, withHint(err, "a PDE file is named by a path that ends in .yaml or .yml or has a slash")
	}
	return nil, err
}

// completeProblem adds to a PDE file what a training with scores wants and the file
// leaves out, and says what, and what about the file may not be meant.
func completeProblem(name string, src []byte) ([]byte, *pde.Problem, []string, error) {
	p, err := pde.Load(name, src)
	if err == nil {
		err = p.CheckConditions()
	}
	if err != nil {
		return nil, nil, nil, err
	}
	if err := checkDrawn(name, p); err != nil {
		return nil, nil, nil, err
	}
	verdict, err := model.Examine(p)
	if err == nil {
		err = determined(verdict)
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	g, err := p.Grid(nil)
	if err != nil {
		return nil, nil, nil, err
	}
	notes, _, err := unresolved(p, g)
	if err != nil {
		return nil, nil, nil, err
	}
	var added []string
	for _, note := range slices.Concat(verdict.Notes, notes) {
		added = append(added, "note: "+note)
	}
	add := func(text, comment, what string) {
		longer := appended(src, text, comment)
		if q, err := pde.Load(name, longer); err == nil {
			src, p, added = longer, q, append(added, "added "+text+": "+what)
		}
	}
	misfit, err := model.Misfit(p)
	if err != nil {
		return nil, nil, nil, err
	}
	var parts, held []string
	for c, u := range p.Unknowns {
		offset, multiplier, met := p.ExactAnsatz(c)
		if len(met) == 0 || !(misfit <= model.CompatibleMisfit) {
			continue
		}
		part := fmt.Sprintf("{offset: %q, multiplier: %q}", offset, multiplier)
		if len(p.Unknowns) > 1 {
			part = u.Name + ": " + part
		}
		parts, held = append(parts, part), append(held, met...)
	}
	if text := strings.Join(parts, ", "); text != "" {
		if len(p.Unknowns) > 1 {
			text = "{" + text + "}"
		}
		what := "meets " + strings.Join(held, ", ") + " exactly"
		add("ansatz: "+text, "Added by pihc init: fields are offset + multiplier * (basis of the network), which\n# "+what+".", what)
	}
	if p.Reference.Solver == "" {
		add("reference: {solver: "+pde.DiscreteSolver+"}", "Added by pihc init: solutions to be scored against are those of these rows on a finer grid.",
			"solutions of these rows on a finer grid, to be scored against")
	}
	if solvable(p) { // better said before steps are timed
		if _, err := dataset.ReferenceSolver(p, g); err != nil {
			return nil, nil, nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return src, p, added, nil
}

// checkDrawn reports a problem without a distribution of its inputs.
func checkDrawn(name string, p *pde.Problem) error {
	if p.Drawn() || p.Reference.Solver == pde.FileSolver {
		return nil
	}
	hint := "add initial: {distribution: random-sines, low: -1, high: 1}, or another of docs/pde-files.md"
	if discrete.SeemsSteady(p) {
		hint = fmt.Sprintf("if %s is not time add time: none; otherwise %s", p.Axes[0].Name, hint)
	}
	return withHint(fmt.Errorf("%s: no `initial`: training needs initial conditions", name), "%s", hint)
}

// determined is an error for a problem with faults.
func determined(x *discrete.Examination) error {
	if len(x.Faults) == 0 {
		return nil
	}
	return withHint(errors.New("the problem cannot be solved as it stands: "+strings.Join(x.Faults, "; ")), "see `conditions` and `ansatz` in docs/pde-files.md; no training can make up for it")
}

// appended is a PDE file with another line, and a comment above it.
func appended(src []byte, text, comment string) []byte {
	between := "\n"
	if !bytes.HasSuffix(src, []byte("\n")) {
		between = "\n\n"
	}
	return slices.Concat(src, []byte(between+"# "+comment+"\n"+text+"\n"))
}

// sizes are what init chooses for a problem on this machine.
type sizes struct {
	fitted              *model.Spec
	step                float64 // seconds of a training step
	solution            float64 // seconds of a reference solution on one thread, 0 for none
	workers             int
	width, layers       int
	steps, batch, tests int
	given               *givenSizes // where a file holds the solutions
	warnings            []string
}

func (s *sizes) training() float64 { return float64(s.steps) * s.step }

// total adds data and scores to three trainings; evaluation is far less than either.
func (s *sizes) total() float64 {
	data := s.fitted.Data
	return 3*s.training()*1.1 + s.solution*float64(data.Validation.Count+s.tests+4)/float64(s.workers)
}

func (s *sizes) String() string {
	return fmt.Sprintf("%d steps of %d samples, a network of width %d run %s, %d test samples", s.steps, s.batch, s.width, times(s.fitted.Network.Passes), s.tests)
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
)

// measure chooses sizes: the largest of a few for which the time allows fewestSteps.
func (a *app) measure(ctx context.Context, p *pde.Problem, given *givenSizes, o *initOptions) (*sizes, error) {
	var s *sizes
	for _, c := range []struct{ width, batch int }{{32, 4}, {24, 4}, {16, 4}, {16, 2}} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s = &sizes{width: c.width, layers: 4, batch: c.batch, steps: mostSteps, tests: 32, workers: o.workers, given: given}
		if given != nil {
			s.tests = given.tests
		}
		if s.workers == 0 {
			s.workers = runtime.GOMAXPROCS(0)
		}
		var err error
		if s.fitted, err = model.LoadSpec("spec.yaml", s.spec(p), "method="+model.MoE); err != nil {
			return nil, err
		}
		if err := s.fitted.Fit(p); err != nil {
			return nil, err
		}
		if err := checkSizes(s.fitted, p, o.workers, 1); err != nil {
			return nil, err
		}
		a.say("init: timing steps of a network of width %d", c.width)
		if err := s.timeSteps(p); err != nil {
			return nil, err
		}
		s.steps = int(min(60*o.minutes/s.step, mostSteps))
		if s.steps >= fewestSteps {
			break
		}
	}
	if s.steps < rushedSteps {
		s.warnings = append(s.warnings, fmt.Sprintf("a step takes %.2g s: %d of them are few; give it more --minutes, or fewer points in the axes of the PDE file", s.step, s.steps))
	}
	s.steps = roundDown(max(s.steps, 20))
	return s, s.timeSolution(p, o)
}

// roundDown keeps two digits.
func roundDown(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return n / unit * unit
}

// timeSteps measures a step of training without the update of the parameters: each
// pass of the network once, after one that is not counted. Where the threads did not
// have their processors to themselves, processor time says how long it would take.
func (s *sizes) timeSteps(p *pde.Problem) error {
	e, err := engine.NewEngine[float32](s.fitted, p, engine.EngineOptions{Workers: s.workers})
	if err != nil {
		return err
	}
	defer e.Close()
	info := e.Info()
	initial, err := draws(s.fitted, p, "train", s.batch)
	if err != nil {
		return err
	}
	params := engine.InitialParams[float32](info)
	grad := make([]float32, len(params))
	step := func(pass int) error {
		b := engine.Batch{Initial: initial, Pass: pass, Progress: 1}
		for i := range initial {
			b.Seeds = append(b.Seeds, constraint.Seed{Run: 1, Sample: uint64(i)})
		}
		_, err := e.LossAndGrad(grad, params, b)
		return err
	}
	if err := step(1); err != nil {
		return err
	}
	passes := s.fitted.Network.Passes
	begin, used := time.Now(), cpuSeconds()
	for pass := range passes {
		if err := step(1 + pass); err != nil {
			return err
		}
	}
	wall := time.Since(begin).Seconds()
	if used = cpuSeconds() - used; used > 0 {
		wall = min(wall, used/(0.9*float64(s.workers)))
	}
	s.step = wall / float64(passes)
	return nil
}

// draws returns the first initial conditions of a split.
func draws(spec *model.Spec, p *pde.Problem, name string, count int) ([][]float64, error) {
	plan, err := model.DatasetPlan(spec, p, 1)
	if err != nil {
		return nil, err
	}
	split := plan.Splits[slices.IndexFunc(plan.Splits, func(s data.Split) bool { return s.Name == name })]
	draw, err := plan.Sampler(split)
	if err != nil {
		return nil, err
	}
	size := 1
	for _, n := range split.InitialShape() {
		size *= n
	}
	out := make([][]float64, count)
	for i := range out {
		out[i] = make([]float64, size)
		if err := draw(data.SampleRand(split.Seed, i), out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// timeSolution measures one reference solution, and takes as many test samples as are
// solved in the time of a training.
func (s *sizes) timeSolution(p *pde.Problem, o *initOptions) error {
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
		return withHint(err, "without `reference` there are residuals alone")
	}
	initial, err := draws(s.fitted, p, "train", 1)
	if err != nil {
		return err
	}
	begin, used := time.Now(), cpuSeconds()
	if _, err := solver.Solve(make([]float64, len(p.Unknowns)*g.Size()), initial[0]); err != nil {
		hint := fmt.Sprintf("an equation whose solutions end, or leave what its expressions are defined for, within the range of %s, or that begin with a jump?", p.Axes[0].Name)
		if p.Steady {
			hint = "an equation without a solution for what is drawn, or whose expressions are not defined on the way from zero to it?"
		}
		return withHint(fmt.Errorf("reference solution: %w", err), "%s Without `reference` there are residuals alone", hint)
	}
	s.solution = time.Since(begin).Seconds()
	if used = cpuSeconds() - used; used > 0 {
		s.solution = min(s.solution, used)
	}
	affordable := 60 * o.minutes * float64(s.workers) / max(s.solution, 1e-3)
	s.tests = max(4, min(s.tests, int(affordable)-s.validation()))
	return nil
}

func (s *sizes) validation() int {
	if s.given != nil {
		return s.given.validation
	}
	return 16
}

// spec is the text of the spec.
func (s *sizes) spec(p *pde.Problem) []byte {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# An experiment on problem.yaml, by pihc init. What is left out has the defaults of")
	line("# version 2 (docs/spec-files.md), which fit the problem: experts, weights of the rows,")
	line("# what the network sees. A run folder's spec.yaml has them written out.")
	line("version: 2")
	line("problem: problem.yaml")
	var points []string
	for _, axis := range p.Axes {
		n := axis.Points
		if s.given != nil {
			n = s.given.points[axis.Name]
		}
		points = append(points, fmt.Sprintf("%s: %d", axis.Name, n))
	}
	about, train, use := "more are nearer to the equation, and slower.", 4000, "Initial conditions to train with, never solved, and samples that are solved."
	if s.given != nil {
		about, train, use = "those of the file of solutions.", s.given.train, s.given.use
	}
	line("\n# Points along each axis: %s", about)
	line("grid: {%s}", strings.Join(points, ", "))
	line("\n# A wider network can do more, and a step takes longer.")
	line("network: {width: %d, layers: %d}", s.width, s.layers)
	line("")
	if s.step > 0 {
		line("# About %.2g s a step on %d threads here.", s.step, s.workers)
	}
	every := max(1, s.steps/20)
	line("training: {steps: %d, batch: %d, validate: %d, checkpoint: %d}", s.steps, s.batch, every, every)
	line("\n# %s", use)
	line("data:")
	line("  train: {count: %d, seed: 1}", train)
	line("  validation: {count: %d, seed: 2}", s.validation())
	line("  test: {count: %d, seed: 3}", s.tests)
	return []byte(b.String())
}
