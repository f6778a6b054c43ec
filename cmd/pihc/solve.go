package main

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"pihc/data"
	"pihc/experiment"
	"pihc/internal/words"
	"pihc/report"
)

type solveOptions struct {
	set                  []string
	grid                 map[string]int
	initial, out, report string
	seed                 uint64
	tolerance            float64
	force, json          bool
}

func newSolve(a *app) *cobra.Command {
	o := &solveOptions{}
	c := &cobra.Command{
		Use:   "solve PROBLEM.yaml [--out FILE.npz|.nc|.vti|.pvd] [--report DIR]",
		Short: "Solve a PDE file as it stands, to a tolerance, without training",
		Long: `solve solves the equation of a PDE file by its own rows: along time by Radau steps of
order 5 or by exponential steps of order 4 (ETDRK4), or, where no axis is time, all at once by Newton's
method. Exponential steps are exact in what is linear with constants; they are for periodic axes alone, and
taken where less work is counted for them than for Radau's on the coarsest grid. It doubles points in space
and steps in time until its estimate of the error at the points of the file's grid is within
--tolerance, and warns where that takes too long, where a condition may be missing, and where
disturbances grow without bound as they get finer: no grid then helps. PROBLEM is the path
of a PDE file or the name of one that comes with pihc. Nothing is trained, and no spec or run
folder is needed.

Initial conditions and inputs are those of --initial, an array (x[, y]) or samples of it, one
value for each point of the file's grid, or of --grid, and between the points interpolated: an
NPY file, or a file of arrays as predict reads it where the PDE file has inputs or several
unknowns. Otherwise they are drawn by the file's distributions (--seed), and
what the file's own expressions say is taken at every point.

The file of --out receives the solution at the points of the file's grid as predict writes it
(.npz, .nc, or, for ParaView, .vti of one time and .pvd of a series): every unknown by its name, (sample, t, x[, y]), the coordinates by the axes' names,
error_estimate (sample), and the inputs as --initial reads them, all float64. --report writes a page with maps and profiles.

The estimate is of the relative L2 error over all times, of several unknowns the root mean square of
theirs, from what solutions on coarser grids differ by. --json prints error_estimate (the
worst of all samples), grid (points by axis of the finest grid), steps (in time, or of
Newton's method), stepper (ETDRK4, Radau IIA or Newton), seconds and units (by axis, where the file has
them), alone on standard output. A solution above the
tolerance is a warning, not a failure. Ctrl-C writes the best solution so far, and says so.`,
		Example: `  pihc solve examples/burgers/problem.yaml --out u.npz
  pihc solve heat.yaml --set constants.a=0.1 --initial u0.npy --tolerance 1e-5 --json
  pihc solve examples/gray-scott/problem.yaml --seed 7 --report gray-scott`,
		Args: positional("PROBLEM.yaml", 1, 1),
		RunE: func(c *cobra.Command, args []string) error { return a.solve(c, args[0], o) },
	}
	f := c.Flags()
	f.StringArrayVar(&o.set, "set", nil, "override one value of the PDE file, as in constants.D=0.001 (repeatable)")
	f.Var((*gridFlag)(&o.grid), "grid", "points by axis of the grid of the solution (default the file's)")
	f.StringVarP(&o.initial, "initial", "i", "", "NPY file of initial conditions, or NPZ, NetCDF or HDF5 file of inputs (default drawn, or as the file says)")
	f.Uint64Var(&o.seed, "seed", 1, "of what is drawn")
	f.Float64Var(&o.tolerance, "tolerance", 1e-3, "for the estimate of the relative L2 error")
	f.StringVarP(&o.out, "out", "o", "", "file to write: .npz, .nc, .vti or .pvd")
	f.StringVar(&o.report, "report", "", "page to write: FILE.html, or report.html in a folder")
	forceFlag(c, &o.force)
	jsonFlag(c, &o.json)
	return c
}

func (a *app) solve(c *cobra.Command, name string, o *solveOptions) error {
	for _, s := range o.set {
		if !strings.Contains(s, "=") {
			return usagef("--set %s: want key=value, as in constants.D=0.001", s)
		}
	}
	if o.tolerance == 0 {
		return usagef("--tolerance 0: want a positive number")
	}
	p, err := experiment.OpenProblem(name, o.set...)
	if err != nil {
		return err
	}
	g, err := p.Grid(o.grid)
	if err != nil {
		return err
	}
	if o.out != "" { // before inputs are read, of which there may be many
		if err := experiment.SolutionFile(o.out, p, g, 1, o.force, name, o.initial); err != nil {
			return err
		}
	}
	page := experiment.ReportFile(o.report)
	if o.report != "" {
		if err := report.CheckFile(page, o.force); err != nil {
			return err
		}
	}
	var inputs [][]float64
	switch {
	case o.initial != "" && len(p.Inputs) == 0:
		return words.WithHint(usagef("--initial %s: no row of %s reads an initial condition or input", o.initial, p.Name), "its own expressions say all; leave --initial out")
	case len(p.Inputs) == 0 && c.Flags().Changed("seed"):
		return words.WithHint(usagef("--seed %d: nothing of %s is drawn", o.seed, p.Name), "its own expressions say all; leave --seed out")
	case o.initial != "" && c.Flags().Changed("seed"):
		return usagef("--seed and --initial: nothing is drawn where a file has the inputs")
	case o.initial != "":
		inputs, err = experiment.ReadInputs(o.initial, p, g)
	default:
		inputs = make([][]float64, 1)
		inputs[0], err = experiment.DrawInputs(p, g, o.seed)
	}
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := experiment.SolutionFile(o.out, p, g, len(inputs), o.force, name, o.initial); err != nil {
			return err
		}
	}
	a.about = "solve: "
	a.signals.saving.Store(true) // interrupted it ends with the best solution, when the step it is in is done
	s, err := experiment.Solve(c.Context(), p, g, inputs, experiment.SolveOptions{Options: a.options(0), Tolerance: o.tolerance, Name: cmp.Or(o.initial, "what is drawn")})
	if s != nil {
		err = cmp.Or(a.writeSolution(s, name, page, o), err)
	}
	a.signals.saving.Store(false)
	return err
}

// writeSolution writes the files that were asked for, and says what there is.
func (a *app) writeSolution(s *experiment.Solution, name, page string, o *solveOptions) error {
	if o.out != "" {
		if err := s.Write(o.out, o.force, name, o.initial); err != nil {
			return err
		}
	}
	if o.report != "" {
		p := s.Page()
		p.Overwrite = o.force
		if err := p.Write(page); err != nil {
			return err
		}
	}
	if o.json {
		said := map[string]any{"error_estimate": data.Float(s.Worst()), "grid": s.Refined.PointsByName(), "steps": s.Steps, "stepper": s.Stepper, "seconds": s.Seconds}
		units := map[string]string{}
		for _, axis := range s.Problem.Axes {
			if axis.Unit != "" {
				units[axis.Name] = axis.Unit
			}
		}
		if len(units) > 0 {
			said["units"] = units
		}
		return a.printJSON(said)
	}
	var b strings.Builder
	about := words.Percent(s.Worst())
	if math.IsInf(s.Worst(), 1) {
		about = "not known"
	}
	fmt.Fprintf(&b, "error_estimate  %s   on %s, %d steps of %s, %s\n", about, words.Shape(s.Refined.Shape()), s.Steps, s.Stepper, words.Duration(s.Seconds))
	if o.out != "" {
		fmt.Fprintf(&b, "%s: %s of shape %s\n", o.out, strings.Join(s.Problem.UnknownNames(), ", "), words.Shape(s.Arrays()[0].Array.Shape))
	}
	if o.report != "" {
		fmt.Fprintf(&b, "report: %s\n", page)
	}
	_, err := a.Out.Write([]byte(b.String()))
	return err
}
