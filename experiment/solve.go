package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"pihc/data"
	"pihc/grid"
	"pihc/internal/config"
	"pihc/internal/dataset"
	"pihc/internal/discrete"
	"pihc/internal/disk"
	"pihc/internal/kernel"
	"pihc/internal/machine"
	"pihc/internal/words"
	"pihc/pde"
	"pihc/report"
)

// OpenProblem reads a PDE file that is to be solved: one of one's own by its path, one that comes with pihc by its name. Overrides are
// values of its keys, one an argument, such as "constants.D=0.001" or "axes.x.points=128". Inputs that nothing in the file
// reads are left out: the problem has those that a solution depends on.
func OpenProblem(name string, overrides ...string) (*pde.Problem, error) {
	p, err := pde.Open(name)
	if err != nil {
		return nil, err
	}
	src := p.Source
	for _, s := range overrides {
		key, _, _ := strings.Cut(s, "=")
		constant, ok := strings.CutPrefix(key, "constants.")
		if ok && !slices.ContainsFunc(p.Constants, func(c pde.Constant) bool { return c.Name == constant }) {
			err := &pde.UnknownConstantError{Problem: p, Name: constant}
			return nil, words.WithHint(usagef("--set %s: %w", s, err), "%s", err.Hint())
		}
		if src, err = config.Set(src, s); err != nil {
			return nil, err
		}
	}
	if len(overrides) > 0 {
		file := p.File()
		if p, err = pde.Load(file, src); err != nil { // which the file alone has not: it says so beside the place in what was read
			_, err = pde.Load(file+" with --set "+strings.Join(overrides, " --set "), src)
			return nil, err
		}
	}
	return p.WithoutUnread(), p.CheckHeld()
}

// DrawInputs draws the inputs of a sample on g from the distributions of the PDE file: seed 1 is the first of `pihc check`.
func DrawInputs(p *pde.Problem, g *grid.Grid, seed uint64) ([]float64, error) {
	for _, in := range p.Inputs {
		if in.Sampler.Distribution == "" && p.Reference.File == "" {
			return nil, words.WithHint(fmt.Errorf("the PDE file of %s has no distribution to draw %s from", p.Name, in.Name),
				"--initial FILE has its values, or a condition of the file says what solutions begin with in the place of %s", in.Name)
		}
	}
	draw, err := dataset.NewSampler(p, g)
	if err != nil {
		return nil, err
	}
	sample := make([]float64, p.InputSize(g))
	return sample, draw(data.SampleRand(seed, 0), sample)
}

// SolveOptions say how well a problem is solved. The zero value is a tolerance of 1e-3.
type SolveOptions struct {
	Options
	Tolerance float64 // of the estimate of the relative L2 error, discrete.LeastTolerance or more; 0: 1e-3
	Name      string  // of the inputs, in messages; "" is "inputs"
}

// A Solution is that of a problem's own rows for the inputs of samples, and what is known of it.
type Solution struct {
	Problem       *pde.Problem
	Grid          *grid.Grid  // of the fields
	Fields        [][]float64 // per unknown: (sample, t, x[, y]), one sample after another
	ErrorEstimate []float64   // per sample: of the relative L2 error over all unknowns and times (grid.RelativeL2)
	Refined       *grid.Grid  // the finest that a sample was solved on
	Steps         int         // in time, of the sample that took most; of Newton's method where all is solved at once
	Stepper       string      // ETDRK4 or Radau IIA along time, Newton where all is solved at once
	Seconds       float64
	Warnings      []string // of samples whose estimate is above the tolerance, and of what no grid resolved

	inputs    [][]float64
	tolerance float64
}

// Solve solves the rows of a problem for the inputs of samples, each on the points of g, on finer and finer grids until the estimate of the error
// at those points is within the tolerance. Between the points of g inputs are interpolated. Where the tolerance is not met the solution is the
// best there is, with a warning. When ctx ends it is what has been found, with ctx's error; nil before anything has.
func Solve(ctx context.Context, p *pde.Problem, g *grid.Grid, inputs [][]float64, o SolveOptions) (*Solution, error) {
	o.Tolerance, o.Name = cmp.Or(o.Tolerance, 1e-3), cmp.Or(o.Name, "inputs")
	if !(o.Tolerance >= discrete.LeastTolerance) {
		return nil, usagef("--tolerance %g: want %g or more", o.Tolerance, discrete.LeastTolerance)
	}
	begin := time.Now()
	open, notes, err := solvableAsStated(p, g, inputs, &o)
	if err != nil {
		return nil, err
	}
	s := &Solution{Problem: p, Grid: g, Fields: make([][]float64, len(p.Unknowns)), tolerance: o.Tolerance}
	if text := endsTwice(p, g, inputs); text != "" {
		open = append(open, o.Name+": "+text)
	}
	for _, text := range open {
		o.warn(&s.Warnings, "%s", text)
	}
	refinement := discrete.NewRefinement(p, g, o.Tolerance)
	for i, sample := range inputs {
		x, err := refinement.Solve(ctx, sample, func(x discrete.Refined) {
			if !math.IsInf(x.Error(), 0) {
				o.say("solve: sample %d on %s: error about %s", i, axesText(x.Grid), words.Percent(x.Error()))
			}
		})
		if x.Field == nil && i == 0 || err != nil && ctx.Err() == nil {
			return nil, unsolved(p, err, i)
		}
		if x.Field != nil {
			s.add(x, sample)
		}
		s.Seconds, s.Stepper = time.Since(begin).Seconds(), refinement.Stepper()
		if err != nil {
			return s, s.interrupted(err, len(inputs), o.Options)
		}
		s.warn(refinement, &x, i, o.Options)
		if x.Short != nil {
			for _, note := range notes {
				o.warn(&s.Warnings, "%s", note)
			}
			notes = nil
		}
	}
	return s, nil
}

// solvableAsStated is an error for inputs and problems of which it is known before that no solution is theirs. It says what may be missing, and notes
// what may be why no grid is fine enough.
func solvableAsStated(p *pde.Problem, g *grid.Grid, inputs [][]float64, o *SolveOptions) (open, notes []string, err error) {
	if len(inputs) == 0 {
		return nil, nil, usagef("%s: no samples", o.Name)
	}
	for i, sample := range inputs {
		if len(sample) != p.InputSize(g) {
			return nil, nil, fmt.Errorf("%s, sample %d: %d values; want %d, those of %s on %s", o.Name, i, len(sample), p.InputSize(g), strings.Join(p.InputNames(), ", "), words.Shape(g.Shape()))
		}
		if u0 := p.InitialOf(sample, g); u0 != nil {
			if err := dataset.CheckInitial(p, u0); err != nil {
				return nil, nil, words.WithHint(fmt.Errorf("%s, sample %d: %w", o.Name, i, err), "subtract the mean first")
			}
		}
	}
	x, err := discrete.Examine(p, g, func(on *grid.Grid) ([][]float64, error) {
		var all [][]float64
		for _, sample := range inputs[:min(len(inputs), 16)] {
			all = append(all, dataset.InputsOn(p, sample, g, on))
		}
		return all, nil
	})
	if err != nil {
		return nil, nil, err
	}
	if len(x.Faults) > 0 {
		return nil, nil, words.WithHint(errors.New("the problem cannot be solved as it stands: "+words.ListBy("; ", x.Faults)), "see `conditions` and `ansatz` in docs/reference/pde-files.md")
	}
	return x.Open, x.Notes, nil
}

// unsolved adds advice to why there is no solution.
func unsolved(p *pde.Problem, err error, sample int) error {
	err = fmt.Errorf("sample %d: %w", sample, err)
	switch {
	case errors.Is(err, discrete.ErrNotConverged):
		return words.WithHint(err, "does a solution exist, up to that time and within what the expressions are defined for? If so more points, by --grid, may hold it")
	case errors.Is(err, discrete.ErrTooLarge):
		return words.WithHint(err, "fewer points, by --grid, or as many rows as values: a first axis of time (%s?) is marched along, in smaller systems", p.Axes[0].Name)
	}
	return err
}

// add adds a sample.
func (s *Solution) add(x discrete.Refined, sample []float64) {
	for c := range s.Fields {
		s.Fields[c] = append(s.Fields[c], unknownOf(s.Problem, x.Field, c)...)
	}
	s.ErrorEstimate, s.inputs = append(s.ErrorEstimate, x.Error()), append(s.inputs, slices.Clone(sample))
	if s.Refined == nil || x.Grid.Size() > s.Refined.Size() {
		s.Refined = x.Grid
	}
	s.Steps = max(s.Steps, x.Steps)
}

// warn tells what makes a sample doubtful.
func (s *Solution) warn(r *discrete.Refinement, x *discrete.Refined, i int, o Options) {
	about := "about " + words.Percent(x.Error())
	if math.IsInf(x.Error(), 1) {
		about = "not known"
	}
	if x.Short != nil {
		o.warn(&s.Warnings, "sample %d: the error is %s (relative L2) on %s, and not within the tolerance of %s; %v", i, about, axesText(x.Grid), words.Percent(s.tolerance), x.Short)
	}
	for _, missed := range r.Missed(x, s.inputs[i:i+1]) {
		o.warn(&s.Warnings, "sample %d may be wrong: %v: %s", i, missed, wider(missed))
	}
}

// interrupted says what is kept when the context has ended.
func (s *Solution) interrupted(err error, samples int, o Options) error {
	kept := len(s.ErrorEstimate)
	text := fmt.Sprintf("interrupted: of %d samples %d are kept, the last as it is on %s, with an error of about %s", samples, kept, axesText(s.Refined), words.Percent(s.ErrorEstimate[kept-1]))
	s.Warnings = append(s.Warnings, text)
	o.tell(Progress{Text: "solve: " + text, Saving: true}) // time to write them
	return err
}

// axesText lists the points of a grid by axis.
func axesText(g *grid.Grid) string {
	var all []string
	for _, a := range g.Axes {
		all = append(all, fmt.Sprintf("%s: %d", a.Name, a.Points))
	}
	return strings.Join(all, ", ")
}

// Worst is the largest estimate of a sample's error.
func (s *Solution) Worst() float64 { return slices.Max(s.ErrorEstimate) }

// Arrays are what `pihc solve` writes: the unknowns (sample, t, x[, y]), the coordinates of every axis, error_estimate (sample), and what ReadInputs
// takes: each input, fields (sample, x[, y]) or numbers (sample).
func (s *Solution) Arrays() []data.Named {
	out := append(fieldArrays(s.Grid, s.Problem.UnknownNames(), s.Fields),
		data.Named{Name: "error_estimate", Array: data.NewArray([]int{len(s.ErrorEstimate)}, s.ErrorEstimate)})
	for _, in := range s.Problem.PlaceInputs(s.Grid) {
		shape, values := []int{len(s.inputs)}, []float64(nil)
		for _, axis := range in.Space {
			shape = append(shape, axis.Points)
		}
		for _, sample := range s.inputs {
			values = append(values, in.Of(sample)...)
		}
		out = append(out, data.Named{Name: dataset.InputArray(s.Problem, in.Name), Array: data.NewArray(shape, values)})
	}
	return out
}

// Write writes the arrays to a file in the format of its ending (data.WriteFields), whole or not at all, where SolutionFile allows it.
func (s *Solution) Write(path string, overwrite bool, reads ...string) error {
	if err := SolutionFile(path, s.Problem, s.Grid, len(s.ErrorEstimate), overwrite, reads...); err != nil {
		return err
	}
	return data.WriteFields(path, describedFields("solve", s.Problem, s.Arrays()))
}

// SolutionFile is an error unless solutions of so many samples on a grid may be written to a file: it is new, or may be overwritten, is none
// of those that are read, and its format holds them.
func SolutionFile(path string, p *pde.Problem, g *grid.Grid, samples int, overwrite bool, reads ...string) error {
	return cmp.Or(disk.Output{Path: path, Kind: "file to add to", Force: overwrite, Reads: reads}.Check(), fitsFormat(path, p, g, samples, overwrite))
}

// ReportFile is the page of a report that is asked for by its own name, or by that of a folder: FILE.html or DIR/report.html.
func ReportFile(path string) string {
	if filepath.Ext(path) == ".html" {
		return path
	}
	return filepath.Join(path, "report.html")
}

// mostDrawn bounds the samples on a page.
const mostDrawn = 8

// Page shows the first samples: maps and profiles of every unknown, the equation, and how it was solved.
func (s *Solution) Page() *report.Page {
	p := s.Problem
	page := &report.Page{Title: p.Title, Subtitle: "Solved by its own rows, without training", Steady: p.Steady, Field: p.Unknowns[0].Name, Axes: fieldAxes(p, s.Grid)}
	page.Equations, page.Constants = equations(p)
	page.Summary = []string{fmt.Sprintf("The relative L² error, over all unknowns and times, is about %s; the tolerance is %s.", words.Percent(s.Worst()), words.Percent(s.tolerance))}
	for _, warning := range s.Warnings {
		page.Summary = append(page.Summary, "Warning: "+warning+".")
	}
	steps := "Steps in time"
	if !discrete.Marches(p) {
		steps = "Steps of Newton's method"
	}
	page.Facts = []report.Fact{
		{Name: "Grid", Value: axesText(s.Grid)},
		{Name: "Solved on", Value: axesText(s.Refined)},
		{Name: steps, Value: words.Count(s.Steps)},
		{Name: "Method", Value: s.Stepper},
		{Name: "Time", Value: words.Duration(s.Seconds)},
		{Name: "Machine", Value: kernel.Machine()},
		{Name: "Build", Value: fmt.Sprintf("%s, %s %s/%s", machine.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)},
	}
	page.Generated = fmt.Sprintf("pihc %s, %s", machine.Version(), time.Now().Format("2 January 2006"))
	for i, sample := range s.inputs[:min(len(s.inputs), mostDrawn)] {
		title := fmt.Sprintf("sample %d, error about %s", i, words.Percent(s.ErrorEstimate[i]))
		for c, u := range p.Unknowns {
			own := report.Case{Title: title, Inputs: caseInputs(p, s.Grid, sample), Truth: s.Fields[c][i*s.Grid.Size() : (i+1)*s.Grid.Size()]}
			if len(p.Unknowns) > 1 {
				own.Title, own.Field = u.Name+", "+title, u.Name
			}
			page.Cases = append(page.Cases, own)
		}
	}
	return page
}
