package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pihc/data"
	"pihc/dataset"
	"pihc/engine"
	"pihc/grid"
	"pihc/model"
	"pihc/pde"
)

type predictOptions struct {
	gridFlags
	initial, out string
	removeMean   bool
}

func newPredict(a *app) *cobra.Command {
	o := &predictOptions{}
	c := &cobra.Command{
		Use:   "predict RUN --initial FILE.npy --out FILE.npz",
		Short: "Predict solutions for your own initial conditions",
		Long: `predict computes the constrained field for every initial condition of FILE.npy,
an array (x) or (sample, x), or with two axes of space (x, y) or (sample, x, y),
with one value for each point of the grid: the run's, or that of --grid. float32,
float64, int32 and int64 are read, from NPY or from an NPZ that holds one array.

FILE.npz receives the fields under the unknowns' names, as (sample, t, x) or
(sample, t, x, y), the coordinates under the names of the axes, and for each sample
relative_residual (see ` + "`pihc help eval`" + `), all float64. With --passes auto, or
passes: auto under evaluation in the run's spec, it also has, per sample, passes and
residual: the root of the loss over that of the initial condition at all times.
A warning says how many predictions do not begin with their initial condition, have
a residual more than three times the largest of the test split (RUN/metrics.json), or
do not change in time and leave a residual, which then is infinite.

Where the PDE file has inputs or several unknowns, FILE is an NPZ file with one array for each, under
its name: a field (sample, x[, y]) or a number (sample), and, unless the problem has
time: none, "initial"; of several unknowns u and v, "u0" and "v0". The files of a dataset have these arrays.

A warning says how many samples are unlike what the PDE file's distribution draws
for training, and may be predicted badly: values far outside of its range,
neighbouring values more than three times as different, a size (root mean square)
less than a tenth of its smallest (where it draws near zero no size is too small), or
a beginning that misses the conditions at ends of axes of space by a tenth of its size
more than three times what draws do.

The rows each expert samples are drawn anew for every sample, by its position in
the file, so that one initial condition at two positions gives two fields that
differ a little; with --points 0 every row counts and they are equal.`,
		Example: `  python3 -c "import numpy; numpy.save('u0.npy', numpy.full((3, 128), 0.1))"
  pihc predict runs/moe --initial u0.npy --out u.npz
  python3 -c "import numpy; print(numpy.load('u.npz')['u'].shape)"`,
		Args: positional("RUN", 1, 1),
		RunE: func(c *cobra.Command, args []string) error { return a.predict(c, args[0], o) },
	}
	o.add(c)
	c.Flags().StringVarP(&o.initial, "initial", "i", "", "NPY file of initial conditions, or NPZ file of inputs (required)")
	c.Flags().StringVarP(&o.out, "out", "o", "", "NPZ file to write (required)")
	c.Flags().BoolVar(&o.removeMean, "remove-mean", false, "subtract the mean of every initial condition first")
	return c
}

// maxInitial bounds initial conditions, relative to those of training: far past
// them numbers come out that mean nothing.
const maxInitial = 1e4

func (a *app) predict(c *cobra.Command, dir string, o *predictOptions) error {
	switch {
	case o.initial == "":
		return usagef("--initial FILE.npy missing")
	case o.out == "":
		return usagef("--out FILE.npz missing")
	}
	options, err := o.options(c)
	if err != nil {
		return err
	}
	options.comm, options.slabs, options.workers = a.comm, a.slabs, a.workers(options.workers)
	spec, p, err := readRun(dir, o.set)
	if err != nil {
		return err
	}
	if options.passes == 0 {
		if err := checkRepeats(spec, o.set); err != nil {
			return err
		}
	}
	options = options.orSpec(spec)
	e, err := openEvaluator(dir, spec, p, options)
	if err != nil {
		return err
	}
	defer e.close()
	a.warnEdits(dir, e.meta().Edited)
	g := e.info().Grid
	initial, err := readInputs(o.initial, p, g)
	if err != nil {
		return err
	}
	most := maxInitial * spec.Network.InitialScale
	for _, in := range p.Inputs[:max(1, p.Initials())] {
		most = max(most, maxInitial*math.Abs(in.Sampler.Low), maxInitial*math.Abs(in.Sampler.High))
	}
	for i, sample := range initial {
		u0 := p.InitialOf(sample, g)
		if u0 == nil {
			break
		}
		if o.removeMean {
			for i := range p.Initials() {
				n := len(u0) / p.Initials()
				subtractMean(u0[i*n : (i+1)*n])
			}
		}
		if low, high := slices.Min(u0), slices.Max(u0); max(-low, high) > most {
			return withHint(fmt.Errorf("%s, sample %d: values range from %.3g to %.3g", o.initial, i, low, high),
				"values up to %.3g are accepted: %g times network.initial_scale or the ends of the PDE file's distribution", most, maxInitial)
		}
		if o.removeMean {
			continue
		}
		if err := dataset.CheckInitial(p, u0); err != nil {
			return withHint(fmt.Errorf("%s, sample %d: %w", o.initial, i, err), "--remove-mean subtracts it")
		}
	}
	if err := a.warnFar(o.initial, p, g, initial); err != nil {
		return err
	}
	if _, err := os.Stat(o.out); err == nil {
		return withHint(fmt.Errorf("%s exists already", o.out), "choose another name, or remove it")
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(filepath.Dir(o.out)); err != nil {
		return withHint(fmt.Errorf("%s: its folder does not exist", o.out), "make the folder first")
	}
	_, sum, err := data.HashFile(o.initial)
	if err != nil {
		return err
	}
	if err := a.agree(spec, p, [2]string{"file of initial conditions", sum}); err != nil {
		return err
	}
	bar := a.newMeter("predict", len(initial))
	defer bar.close()
	ctx := c.Context()
	fields := make([][]float64, len(p.Unknowns))
	for c := range fields {
		fields[c] = make([]float64, 0, len(initial)*g.Size())
	}
	early := 0
	var passes, residuals []float64
	judge, err := newJudge(p, g, len(initial))
	if err != nil {
		return err
	}
	err = e.predict(engine.Batch{Initial: initial, Seeds: evaluationSeeds(len(initial))}, func(i int, x *engine.Prediction) error {
		for p, u := range x.Field {
			if math.IsNaN(u) || math.IsInf(u, 0) {
				return withHint(fmt.Errorf("the prediction for sample %d of %s is not finite (%g at point %d)", i, o.initial, u, p),
					"its values range from %g to %g; training saw what the PDE file's distributions draw", slices.Min(initial[i]), slices.Max(initial[i]))
			}
		}
		for c := range fields {
			fields[c] = append(fields[c], x.Field[c*g.Size():(c+1)*g.Size()]...)
		}
		passes, residuals = append(passes, float64(x.Passes)), append(residuals, x.Residual)
		judge.add(x.Field, initial[i])
		for _, expert := range x.Experts {
			if expert.Status.Early() {
				early++
			}
		}
		bar.set(i+1, "")
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	if early > 0 && a.writes() {
		bar.close()
		fmt.Fprintf(a.Err, "pihc: predict: warning: %d of %d solves ended before they converged; their fields may be poor\n",
			early, len(initial)*e.info().Experts)
	}
	if a.writes() {
		for _, warning := range judge.warnings(dir) {
			bar.close()
			fmt.Fprintf(a.Err, "pihc: predict: warning: %s\n", warning)
		}
	}
	var arrays []data.Named
	for c, u := range p.Unknowns {
		arrays = append(arrays, data.Named{Name: u.Name, Array: data.NewArray(append([]int{len(initial)}, g.Shape()...), fields[c])})
	}
	for _, axis := range g.Axes {
		arrays = append(arrays, data.Named{Name: axis.Name, Array: data.NewArray([]int{axis.Points}, coordinates(axis))})
	}
	arrays = append(arrays, data.Named{Name: "relative_residual", Array: data.NewArray([]int{len(initial)}, judge.residuals)})
	notes := ", " + judge.summary()
	if options.passes > 0 && options.passes != model.AutoPasses {
		notes += fmt.Sprintf(", passes %s", options.repeat())
	}
	if options.passes == model.AutoPasses {
		arrays = append(arrays, data.Named{Name: "passes", Array: data.NewArray([]int{len(initial)}, passes)},
			data.Named{Name: "residual", Array: data.NewArray([]int{len(initial)}, residuals)})
		notes += fmt.Sprintf(", %s passes", extent(passes))
	}
	if len(o.set) > 0 {
		notes += ", --set " + strings.Join(o.set, " --set ")
	}
	if files := e.meta().Edited; len(files) > 0 {
		notes += ", " + editsText(files)
		arrays = append(arrays, data.Named{Name: "trusted_edits", Array: data.NewArray([]int{1}, []float64{float64(len(files))})})
	}
	if !a.writes() {
		return nil
	}
	if err := data.WriteNPZ(o.out, arrays); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "%s: %s of shape %s%s\n", o.out, strings.Join(p.UnknownNames(), ", "), data.FormatShape(arrays[0].Array.Shape), notes)
	return err
}

// extent is the least to the largest of some values, or the one that all are.
func extent(values []float64) string {
	low, high := slices.Min(values), slices.Max(values)
	if low == high {
		return fmt.Sprintf("%g", low)
	}
	return fmt.Sprintf("%g to %g", low, high)
}

// warnFar says how many initial conditions are unlike those of training.
func (a *app) warnFar(file string, p *pde.Problem, g *grid.Grid, initial [][]float64) error {
	r, err := dataset.NewRange(p, g)
	if r == nil || err != nil {
		return err
	}
	what := "initial conditions"
	if !p.OnlyInitial() {
		what = "samples"
	}
	count, first, why := 0, 0, ""
	for i, u0 := range initial {
		if w := r.Outside(u0); w != "" {
			if count++; count == 1 {
				first, why = i, w
			}
		}
	}
	if count > 0 && a.writes() {
		fmt.Fprintf(a.Err, "pihc: predict: warning: %d of %d %s in %s are unlike those of training, and their predictions may be far off; sample %d has %s\n",
			count, len(initial), what, file, first, why)
	}
	return nil
}

func subtractMean(u []float64) {
	mean := 0.0
	for _, v := range u {
		mean += v / float64(len(u))
	}
	for i := range u {
		u[i] -= mean
	}
}

// readInputs reads the inputs of samples for g: initial conditions, or, of a problem that
// has others, an NPZ file with one array for each.
func readInputs(path string, p *pde.Problem, g *grid.Grid) ([][]float64, error) {
	if p.OnlyInitial() {
		return readInitial(path, g)
	}
	inputs := p.PlaceInputs(g)
	var want []string
	for _, in := range inputs {
		shape := strings.Join(append([]string{"sample"}, in.Axes...), ", ")
		want = append(want, fmt.Sprintf("%s (%s)", dataset.InputArray(p, in.Name), shape))
	}
	needs := "problem " + p.Name + " wants an NPZ file with the arrays " + strings.Join(want, ", ")
	if strings.ToLower(filepath.Ext(path)) != ".npz" {
		return nil, withHint(fmt.Errorf("%s is no NPZ file", path), "%s", needs)
	}
	arrays, err := data.ReadNPZ(path)
	if err != nil {
		return nil, fmt.Errorf("inputs: %w", err)
	}
	count := -1
	values := make([][]float64, len(inputs))
	for i, in := range inputs {
		name := dataset.InputArray(p, in.Name)
		a := data.Find(arrays, name)
		if a == nil {
			return nil, withHint(fmt.Errorf("%s has no array %q", path, name), "%s", needs)
		}
		if len(a.Shape) != 1+len(in.Axes) || data.FormatShape(a.Shape[1:]) != data.FormatShape(in.Shape()) || a.Len() == 0 {
			hint := "one value for each sample and point; --grid changes the number of points"
			if slices.Equal(a.Shape, in.Shape()) {
				hint = name + "[numpy.newaxis] is one sample"
			}
			return nil, withHint(fmt.Errorf("%s: array %s has shape %s; want samples of %s", path, name, data.FormatShape(a.Shape), data.FormatShape(in.Shape())),
				"%s", cmp.Or(data.TransposeHint(name, a.Shape, append([]int{-1}, in.Shape()...)), hint))
		}
		if err := a.CheckFinite(); err != nil {
			return nil, fmt.Errorf("%s: array %s: %w", path, name, err)
		}
		if count >= 0 && a.Shape[0] != count {
			return nil, fmt.Errorf("%s: array %s has %d samples, the first one %d", path, name, a.Shape[0], count)
		}
		count, values[i] = a.Shape[0], a.Float64()
	}
	samples := make([][]float64, count)
	for i := range samples {
		for k, in := range inputs {
			samples[i] = append(samples[i], values[k][i*in.Size:(i+1)*in.Size]...)
		}
	}
	return samples, nil
}

// readInitial reads initial conditions for g: (x) or (sample, x), or with two
// space axes (x, y) or (sample, x, y).
func readInitial(path string, g *grid.Grid) ([][]float64, error) {
	array, err := data.ReadArray(path)
	if err != nil {
		return nil, fmt.Errorf("initial condition: %w", err)
	}
	want := g.Shape()[1:]
	got := array.Shape
	if len(got) == len(want)+1 {
		got = got[1:]
	}
	if data.FormatShape(got) != data.FormatShape(want) || array.Len() == 0 {
		hint := cmp.Or(data.TransposeHint("u0", array.Shape, want), data.TransposeHint("u0", array.Shape, append([]int{-1}, want...)))
		return nil, withHint(fmt.Errorf("initial condition %s has shape %s; want %s, or samples of it", path, data.FormatShape(array.Shape), data.FormatShape(want)),
			"%s", cmp.Or(hint, fmt.Sprintf("one value for each point of %s; --grid changes the number of points", names(g.Axes[1:]))))
	}
	if err := array.CheckFinite(); err != nil {
		return nil, fmt.Errorf("initial condition %s: %w", path, err)
	}
	count := 1
	if len(array.Shape) > len(want) {
		count = array.Shape[0]
	}
	return rowsOf(array.Float64(), count), nil
}

func names(axes []grid.Axis) string {
	text := ""
	for i, a := range axes {
		if i > 0 {
			text += " and "
		}
		text += a.Name
	}
	return text
}

func coordinates(a grid.Axis) []float64 {
	x := make([]float64, a.Points)
	for i := range x {
		x[i] = a.Coordinate(i)
	}
	return x
}
