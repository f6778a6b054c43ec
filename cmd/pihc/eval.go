package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pihc/experiment"
	"pihc/internal/disk"
)

// gridFlags are the flags with which a trained run is used on another grid or
// with other solves.
type gridFlags struct {
	set         []string
	grid        map[string]int
	points      int
	tolerance   float64
	passes      string
	residual    float64
	last        bool
	noEstimates bool
	trust       bool
	workers     int
	engine      engineFlags
}

// gridFlag is a flag of points by axis; given again, it adds to them.
type gridFlag map[string]int

func (g *gridFlag) Set(text string) error {
	if *g == nil {
		*g = gridFlag{}
	}
	for _, part := range strings.Split(text, ",") {
		axis, number, ok := strings.Cut(part, "=")
		points, err := strconv.Atoi(number)
		if !ok || err != nil {
			return fmt.Errorf("%q: want points by axis, as in t=101,x=256", part)
		}
		axis = strings.TrimSpace(axis)
		if before, ok := (*g)[axis]; ok && before != points {
			return fmt.Errorf("%s=%d and %s=%d: an axis has one number of points", axis, before, axis, points)
		}
		(*g)[axis] = points
	}
	return nil
}

func (g *gridFlag) String() string { return "" }
func (g *gridFlag) Type() string   { return "axis=points,..." }

func (f *gridFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.Var((*gridFlag)(&f.grid), "grid", "points by axis, as in t=101,x=256 (default as trained)")
	flags.IntVar(&f.points, "points", -1, "residual rows sampled per expert, 0 for all (default the spec's evaluation.points, else as trained)")
	flags.Lookup("points").DefValue = "0" // the text names the default
	flags.Float64Var(&f.tolerance, "tolerance", 0, "gradient tolerance of the solves (default as trained)")
	flags.StringVar(&f.passes, "passes", "", "passes of the network, or auto: until the residual stops falling (default the spec's evaluation.passes, else as trained)")
	flags.Float64Var(&f.residual, "residual", 0, "with --passes auto, end a sample whose relative_loss (root of the loss over that of its initial condition at all times) is this small")
	flags.BoolVar(&f.last, "last", false, "use the newest checkpoint instead of the best")
	flags.StringArrayVar(&f.set, "set", nil, "override one value of the run's spec (repeatable)")
	flags.BoolVar(&f.noEstimates, "no-estimates", false, "leave out estimates of errors, which solve the problem for every sample and may take longer than predictions")
	trustFlag(c, &f.trust)
	workersFlag(c, &f.workers)
	f.engine.add(c)
}

// trustFlag adds the way around the check of a run folder's files.
func trustFlag(c *cobra.Command, dst *bool) {
	c.Flags().BoolVar(dst, "trust-edits", false, "use a run folder whose spec.yaml, problem.yaml or run.json is not that of its training; the output says so")
}

// evaluation is what the flags say.
func (f *gridFlags) evaluation(a *app, c *cobra.Command) (experiment.Evaluation, error) {
	e := experiment.Evaluation{Grid: f.grid, Tolerance: f.tolerance, Residual: f.residual, Last: f.last, NoEstimates: f.noEstimates, TrustEdits: f.trust}
	if err := f.engine.check(); err != nil {
		return e, err
	}
	e.Options = f.engine.options(a.options(f.workers))
	if c.Flags().Changed("points") {
		e.Points = &f.points
	}
	if c.Flags().Changed("tolerance") && !(f.tolerance > 0 && f.tolerance < 1) {
		return e, usagef("--tolerance %g: want a positive number below 1, as it bounds a cosine", f.tolerance)
	}
	if f.passes != "" {
		if err := e.Passes.UnmarshalText([]byte(f.passes)); err != nil {
			return e, usagef("--passes %v", err)
		}
	}
	if c.Flags().Changed("residual") && !(f.residual > 0) {
		return e, usagef("--residual %g: want a positive number, with --passes auto", f.residual)
	}
	for _, axis := range slices.Sorted(maps.Keys(f.grid)) {
		if n := f.grid[axis]; n < 1 {
			return e, usagef("--grid %s=%d: want a positive number of points", axis, n)
		}
	}
	for _, s := range f.set {
		if !strings.Contains(s, "=") {
			return e, usagef("--set %s: want key=value", s)
		}
	}
	return e, nil
}

type evalOptions struct {
	gridFlags
	data, split, out string
	samples          int
	json, force      bool
}

const evalHelp = `eval predicts every sample of a split and scores it. Per sample and summed up as
mean, std (over samples), median and max:

  relative_l2     ||u - truth|| / ||truth||, of several unknowns the root mean
                  square of those of each: against the reference solutions, which
                  may have the error of their own grid
  error_estimate  the distance from the solution of the equation, likewise but
                  estimated from the problem alone: from a solution computed by the
                  classical solver the PDE file names, or else by its own rows, on
                  the grid, and what that differs from one with half of the points;
                  where the prediction is nearer to it than these are to each other,
                  from one with more points in space
  grid_error      the same of the solution of the rows on this grid: the part of the
                  grid, which training does not lower
  rows_error      the distance of the prediction from that solution; neither is there
                  where the rows cannot be solved, and none of the three with --no-estimates
  unseen_l2       relative_l2 over the times after training.window
  nrmse           rms error over the range of the truth
  residual_rms    of the PDE residual over the whole grid, of several all their rows
  initial_error   rms of the rows of initial conditions
  boundary_error  rms of the rows of boundary conditions, of several all their
                  rows; below it that of each of several conditions
  border_jump     rms jump of the prediction across expert borders
  persistence     relative_l2 of what fields begin with taken for the solution
  relative_residual     rms of the residual, without weights, over rms of the
                        solution's derivative in time
  truth_residual        the same of the solution: what the grid leaves of it
  persistence_residual  the same of what fields begin with at all times; not shown
                        where that solves the equation and misses conditions alone
  residual_over_rate    rms of the residual over that of the prediction's own
                        derivative in time, which needs no solution
  conditions_over_size  the largest rms of the rows of a condition on values, in
                        the unit of the unknown, over that of the prediction or
                        of what is prescribed
  truth_conditions      the same of the solution

and per expert the solver's iterations and statuses and the rms of its rows
(constraint_rms). residual_rms, constraint_rms and conditions are in the PDE file's
weighting.

With --passes auto a run whose network corrects its own field runs it on every
sample until its relative_loss (the root of the loss over that of what it begins with,
at all times) has stopped falling (by 2 % in 4 passes) or meets --residual,
evaluation.limit times at most (100 where the spec has none); it begins on the coarser
grids of training, if there are any, and goes on from there. The number is reported as
passes, as is that of training's without; points_evaluated is the points of the grids
of all passes together, those after the best one too. What the spec has under evaluation holds
where no flag says otherwise.

Grid, points per expert and tolerance may differ from training; the borders of
the experts stay where they were. Without --grid the run is scored on its own grid
and on those of data.test.grids in its spec. Network and constraint run on every
grid, with as many points per expert as in training, or all there are. Initial
conditions and solutions on a coarser grid are those of the dataset at its points.
On a grid with other points the initial conditions are interpolated (along periodic
axes by the trigonometric polynomial, along others by cubics) and solutions computed
anew.

The whole loss is compared with that of predictions that need no training (zero,
persistence, the mean solution), and a line says if the run is no better.

The first line is the verdict, with the mean and the worst of relative_l2 and of
error_estimate, and the two parts of that; the next ones are its reasons. In the JSON
they are verdict and warnings. A run has

  failed    if it diverged (not finite, or ten times too large) or collapsed (zero, a
            tenth of its size, one field for every sample), has relative_l2 above 30 %
            in the mean, or is not better than a prediction without training;
  doubtful  if relative_l2 is above 5 % in the mean or 20 % in a sample, or the mean
            over space of predictions drifts where solutions keep theirs;
  trusted   otherwise.

error_estimate is judged in the same way, with and without solutions: what is trusted is
near the solution of the equation too. Without both a run is
doubtful at best, and residual_over_rate (50 and 150 %), conditions_over_size (10 and
30 %) and the loss are looked at. The exit status is 0 whatever the verdict.

The result is written to RUN/metrics.json, after every grid: where eval is
interrupted, it has the grids that are done.`

func newEval(a *app) *cobra.Command {
	o := &evalOptions{}
	c := &cobra.Command{
		Use:   "eval RUN",
		Short: "Score a trained run against reference solutions",
		Long:  evalHelp,
		Example: `  pihc eval runs/moe
  pihc eval runs/moe --grid x=256 --points 5000 --tolerance 1e-6 --out fine.json
  pihc eval runs/moe --json | jq .relative_l2.mean`,
		Args: positional("RUN", 1, 1),
		RunE: func(c *cobra.Command, args []string) error { return a.eval(c, args[0], o) },
	}
	o.add(c)
	flags := c.Flags()
	flags.StringVarP(&o.data, "data", "d", "", "folder of the dataset (default the one of training)")
	flags.StringVar(&o.split, "split", "test", "split of the dataset: test, validation or train")
	flags.IntVar(&o.samples, "samples", 0, "score the first samples only, 0 for all")
	flags.StringVarP(&o.out, "out", "o", "", "file of the metrics (default RUN/metrics.json)")
	forceFlag(c, &o.force)
	jsonFlag(c, &o.json)
	return c
}

func (a *app) eval(c *cobra.Command, dir string, o *evalOptions) error {
	e, err := o.evaluation(a, c)
	if err != nil {
		return err
	}
	if o.samples < 0 {
		return usagef("--samples %d: want a positive number, or 0 for all", o.samples)
	}
	r, err := experiment.OpenRun(dir, o.set...)
	if err != nil {
		return err
	}
	path, err := metricsFile(dir, o.out, o.force)
	if err != nil {
		return err
	}
	var written error
	m, err := r.Score(c.Context(), experiment.ScoreOptions{Evaluation: e, Data: o.data, Split: o.split, Samples: o.samples, Done: func(m *experiment.Metrics) error {
		if a.writes() {
			written = disk.WriteSealedJSON(path, m) // scores that cannot be kept are shown all the same
		}
		return nil
	}})
	if err != nil {
		return err
	}
	if o.json {
		m.Evaluation = *m.WithoutSamples()
		err = a.printJSON(m)
	} else {
		err = printMetrics(a.Out, m)
	}
	return cmp.Or(written, err)
}
