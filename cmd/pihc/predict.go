package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pihc/data"
	"pihc/experiment"
	"pihc/internal/words"
	"pihc/score"
)

type predictOptions struct {
	gridFlags
	initial, out string
	removeMean   bool
	until        float64
	force, json  bool
}

func newPredict(a *app) *cobra.Command {
	o := &predictOptions{}
	c := &cobra.Command{
		Use:   "predict RUN --initial FILE.npy --out FILE.npz|.nc|.vti|.pvd",
		Short: "Predict solutions for your own initial conditions",
		Long: `predict computes the constrained field for every initial condition of FILE.npy,
an array (x) or (sample, x), or with two axes of space (x, y) or (sample, x, y),
with one value for each point of the grid: the run's, or that of --grid. float32,
float64, int32 and int64 are read, from NPY, or from NPZ, NetCDF or HDF5 (by h5dump) that
holds one array besides coordinates, or one named initial.

The file of --out, which is new, of an earlier prediction for this problem, or replaced with
--force, is NumPy's (.npz), NetCDF-3 (.nc, for xarray), or VTK's for ParaView: .vti holds
one time, .pvd a series, with u/0000.vti and so on beside u.pvd. It receives the fields under the unknowns' names, as (sample, t, x) or
(sample, t, x, y), the coordinates under the names of the axes, and for each sample
residual_over_rate: the rms of the residual, without weights, over that of the field's
own derivative in time, and error_estimate, the distance from the solution of the equation,
with its parts grid_error and rows_error (NaN where not known; see ` + "`pihc help eval`" + `), all float64. With --passes auto, or
passes: auto under evaluation in the run's spec, it also has, per sample, passes and
relative_loss: the root of the loss over that of the initial condition at all times.

The first line is the verdict, as eval's without solutions: trusted, doubtful or failed,
with the mean and the worst of error_estimate, and how much of it is the grid's. --json
prints verdict, error_estimate, grid_error, rows_error and warnings in its place. A prediction that does not begin with its initial
condition, or does not change in time and leaves a residual (residual_over_rate then is
infinite), is doubtful, and a warning says how many are.

Where the PDE file has inputs or several unknowns, FILE (.npz, .nc or .h5) has one array for each, under
its name: a field (sample, x[, y]) or a number (sample), and, unless the problem has
time: none or no initial condition is drawn, "initial"; of several unknowns u and v, "u0" and "v0". The files of a dataset have these arrays.

A warning says how many samples are unlike what the PDE file's distribution draws
for training, and may be predicted badly: values far outside of its range,
neighbouring values more than three times as different, a size (root mean square)
less than a tenth of its smallest (where it draws near zero no size is too small), or
a beginning that misses the conditions at ends of axes of space by a tenth of its size
more than three times what draws do.

A run that was trained in segments of time (rollout in its spec) goes on as long as you
like: --until T ends at T, the end of a segment, beyond the time of the PDE file or
before its end. A warning says how many samples begin a segment after that time unlike
what training draws and what the segments before begin with, and that rows which
contain the time have not been trained there.

The rows each expert samples are drawn anew for every sample, by its position in
the file, so that one initial condition at two positions gives two fields that
differ a little; with --points 0 and constraint.overlap.end 0 every row counts and
they are equal.`,
		Example: `  python3 -c "import numpy; numpy.save('u0.npy', numpy.full((3, 128), 0.1))"
  pihc predict runs/moe --initial u0.npy --out u.npz
  python3 -c "import numpy; print(numpy.load('u.npz')['u'].shape)"`,
		Args: positional("RUN", 1, 1),
		RunE: func(c *cobra.Command, args []string) error { return a.predict(c, args[0], o) },
	}
	o.addPredict(c)
	c.Flags().StringVarP(&o.initial, "initial", "i", "", "NPY file of initial conditions, or NPZ, NetCDF or HDF5 file of inputs (required)")
	c.Flags().StringVarP(&o.out, "out", "o", "", "file to write: .npz, .nc, .vti or .pvd (required)")
	forceFlag(c, &o.force)
	jsonFlag(c, &o.json)
	return c
}

// addPredict adds the flags that say how to predict, not those of files.
func (o *predictOptions) addPredict(c *cobra.Command) {
	o.add(c)
	c.Flags().Float64Var(&o.until, "until", 0, "of a run with segments of time (rollout): go on to the end of another segment")
	c.Flags().BoolVar(&o.removeMean, "remove-mean", false, "subtract the mean of every initial condition first")
}

func (a *app) predict(c *cobra.Command, dir string, o *predictOptions) error {
	switch {
	case o.initial == "":
		return usagef("--initial FILE.npy missing")
	case o.out == "":
		return usagef("--out FILE.npz missing")
	}
	e, err := o.evaluation(a, c)
	if err != nil {
		return err
	}
	if c.Flags().Changed("until") {
		e.Until = &o.until
	}
	r, err := experiment.OpenRun(dir, o.set...)
	if err != nil {
		return err
	}
	g, err := r.Grid(e)
	if err != nil {
		return err
	}
	inputs, err := experiment.ReadInputs(o.initial, r.Problem, g)
	if err != nil {
		return err
	}
	a.about = "predict: "
	p, err := r.Predict(c.Context(), inputs, experiment.PredictOptions{Evaluation: e, Name: o.initial, RemoveMean: o.removeMean, Out: o.out, Overwrite: o.force})
	if err != nil {
		return err
	}
	if !a.writes() {
		return nil
	}
	if err := p.Write(o.out); err != nil {
		return err
	}
	if o.json {
		floats := func(values []float64) []data.Float {
			out := make([]data.Float, len(values))
			for i, v := range values {
				out[i] = data.Float(v)
			}
			return out
		}
		return a.printJSON(map[string]any{
			"verdict": p.Verdict, "error_estimate": floats(p.ErrorEstimate), "grid_error": floats(p.GridError), "rows_error": floats(p.RowsError), "warnings": p.Warnings,
		})
	}
	notes := ", " + residualText(p.ResidualOverRate)
	if p.Passes != nil {
		notes += fmt.Sprintf(", %s passes", extent(p.Passes))
	} else if again := e.Repeat(r); again != "" {
		notes += ", passes " + again
	}
	if len(o.set) > 0 {
		notes += ", --set " + strings.Join(o.set, " --set ")
	}
	if len(p.Edited) > 0 {
		notes += ", " + p.Edits()
	}
	_, err = fmt.Fprintf(a.Out, "%s\n%s: %s of shape %s%s\n", p.VerdictLine(), o.out, strings.Join(p.Unknowns, ", "), words.Shape(p.Arrays()[0].Array.Shape), notes)
	return err
}

// residualText sums up residuals over rates.
func residualText(values []float64) string {
	s := score.Summarize(values)
	return fmt.Sprintf("residual over rate %s (median), %s at most", words.Percent(s.Median), words.Percent(s.Max))
}

// extent is the least to the largest of some values, or the one that all are.
func extent(values []float64) string {
	low, high := slices.Min(values), slices.Max(values)
	if low == high {
		return fmt.Sprintf("%g", low)
	}
	return fmt.Sprintf("%g to %g", low, high)
}
