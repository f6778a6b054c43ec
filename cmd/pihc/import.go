package main

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pihc/data"
	"pihc/experiment"
	"pihc/internal/dataset"
	"pihc/internal/disk"
	"pihc/internal/words"
)

type importOptions struct {
	out, solution, initial, train string
	inputs, unknowns              []string
	samples                       int
	force                         bool
}

func newImport(a *app) *cobra.Command {
	o := &importOptions{}
	c := &cobra.Command{
		Use:   "import FILE.npz|FILE.nc|FILE.h5 --out solutions.npz",
		Short: "Bring solutions of another program into the form that a PDE file names",
		Long: `import writes an NPZ file with the array "solution" (sample, t, x[, y]), which a PDE
file names as the source of its solutions: reference: {file: solutions.npz}.

FILE is NPZ, NetCDF-3 (.nc of xarray with SciPy), or HDF5, which NetCDF-4 is; its content
tells which. It takes the arrays named by --solution, --initial, --train and --inputs, or by
--unknowns where there are several, and all others of one dimension, no longer than the
longest axis of those, as coordinates. Nothing else is read. Axes are in the order above,
whatever their names.

HDF5 is read by the program h5dump. Of PDEBench's files it takes either layout, without
--solution: a group for each sample with "data" (t, x[, y], unknowns) and "grid/t",
"grid/x", or one dataset "tensor" (sample, t, x) with "t-coordinate" and "x-coordinate".
Data that are compressed by LZF need its plugin.`,
		Example: `  pihc import 1D_diff-sorp_NA_NA.h5 --out solutions.npz --samples 100
  pihc import mine.nc --solution u --out solutions.npz
  pihc import 2D_diff-react_NA_NA.h5 --unknowns u,v --out solutions.npz --samples 100`,
		Args: positional("FILE", 1, 1),
		RunE: func(c *cobra.Command, args []string) error { return a.importSolutions(c.Context(), args[0], o) },
	}
	flags := c.Flags()
	flags.StringVarP(&o.out, "out", "o", "", "file to write (required)")
	flags.StringVar(&o.solution, "solution", dataset.GivenSolution, "array with the solutions")
	flags.StringVar(&o.initial, "initial", "", "array with their initial conditions (default the solutions at the first point)")
	flags.StringVar(&o.train, "train", "", "array with initial conditions to train with")
	flags.StringSliceVar(&o.inputs, "inputs", nil, "arrays with the PDE file's inputs, which have its names")
	flags.StringSliceVar(&o.unknowns, "unknowns", nil, "instead of --solution, the names of several unknowns: arrays of the file, or the last dimension in PDEBench's layouts")
	forceFlag(c, &o.force)
	flags.IntVar(&o.samples, "samples", 0, "number of samples to take, from the first on (default all)")
	return c
}

func (a *app) importSolutions(ctx context.Context, file string, o *importOptions) error {
	switch {
	case o.out == "":
		return usagef("--out FILE.npz missing")
	case o.samples < 0:
		return usagef("--samples %d: want a positive number", o.samples)
	}
	if err := o.output(file).Check(); err != nil {
		return err
	}
	if !strings.HasSuffix(o.out, ".npz") {
		return fmt.Errorf("--out %s: want a name that ends in .npz, the format that is written", o.out)
	}
	all, err := data.OpenArrays(ctx, file)
	if err != nil {
		return err
	}
	defer all.Close()
	var arrays []data.Named
	if isPDEBench(all) {
		arrays, err = importPDEBench(file, all, o)
	} else {
		arrays, err = importArrays(file, all, o)
	}
	if err != nil {
		return err
	}
	for _, x := range arrays {
		if err := x.Array.CheckFinite(); err != nil {
			return fmt.Errorf("%s: array %s: %w", file, x.Name, err)
		}
	}
	if err := o.compare(file, arrays); err != nil {
		return err
	}
	if err := data.WriteNPZ(o.out, arrays); err != nil {
		return err
	}
	var parts []string
	for _, x := range arrays {
		parts = append(parts, fmt.Sprintf("%s %s", x.Name, words.Shape(x.Array.Shape)))
	}
	name := filepath.Base(o.out)
	if strings.ContainsAny(name, " ,{}[]:#&*!|>'\"%@`") { // has a meaning in YAML
		name = strconv.Quote(name)
	}
	_, err = fmt.Fprintf(a.Out, "%s: %s\nin the PDE file: reference: {file: %s}\n", o.out, strings.Join(parts, ", "), name)
	return err
}

// output is the file of the solutions of another.
func (o *importOptions) output(file string) disk.Output {
	first := dataset.GivenSolution
	if len(o.unknowns) > 0 {
		first = o.unknowns[0]
	}
	return disk.Output{Path: o.out, Kind: "file of solutions that import wrote", Force: o.force, Reads: []string{file}, Ours: func(path string) bool {
		names := disk.ArrayNames(path)
		return len(names) > 0 && names[0] == first && !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(experiment.OfPredictions, name) })
	}}
}

// compare reports solutions of several unknowns, or initial conditions, that do not go together,
// and fewer samples than were asked for.
func (o *importOptions) compare(file string, arrays []data.Named) error {
	solutions := []string{dataset.GivenSolution}
	if len(o.unknowns) > 0 {
		solutions = o.unknowns
	}
	first := data.Find(arrays, solutions[0])
	for _, name := range solutions[1:] {
		if x := data.Find(arrays, name); !slices.Equal(x.Shape, first.Shape) {
			return words.WithHint(fmt.Errorf("%s: array %s has shape %s, array %s has %s: unknowns have one shape", file, name, words.Shape(x.Shape), solutions[0], words.Shape(first.Shape)),
				"(sample, t, x[, y]), all on one grid")
		}
	}
	if n := len(first.Shape); n < 2 {
		name := solutions[0]
		if len(o.unknowns) == 0 {
			name = o.solution // its name in the file
		}
		return fmt.Errorf("%s: array %s is %s; want solutions (sample, t, x[, y])", file, name, []string{"a number", "of one dimension"}[n])
	}
	count := first.Shape[0]
	if count < o.samples {
		return words.WithHint(fmt.Errorf("%s has %d samples, --samples asks for %d", file, count, o.samples), "without --samples all are taken")
	}
	if x := data.Find(arrays, dataset.GivenInitial); x != nil && (len(x.Shape) == 0 || x.Shape[0] != count) {
		return fmt.Errorf("%s: array %s has shape %s; want initial conditions of %d solutions", file, o.initial, words.Shape(x.Shape), count)
	}
	return nil
}

// importArrays takes arrays by the names given.
func importArrays(file string, all data.Arrays, o *importOptions) ([]data.Named, error) {
	var arrays []data.Named
	takes := []struct{ from, to string }{{o.solution, dataset.GivenSolution}, {o.initial, dataset.GivenInitial}, {o.train, dataset.GivenTrain}}
	if len(o.unknowns) > 0 {
		takes[0].from = ""
	}
	for _, name := range slices.Concat(o.unknowns, o.inputs) {
		takes = append(takes, struct{ from, to string }{name, name})
	}
	longest := 0 // axis
	for _, take := range takes {
		if take.from == "" {
			continue
		}
		if !slices.Contains(all.Names(), take.from) {
			return nil, words.WithHint(fmt.Errorf("%s has no array %q", file, take.from), "it has %s", listed(all))
		}
		samples := o.samples
		if take.to == dataset.GivenTrain {
			samples = 0
		}
		if err := data.CheckOrder(all, take.from, []string{"t", "x", "y"}); err != nil {
			return nil, err
		}
		x, err := readFirst(all, take.from, samples)
		if err != nil {
			return nil, err
		}
		if data.Find(arrays, take.to) != nil {
			return nil, usagef("%s is asked for twice", take.to)
		}
		longest = slices.Max(append(x.Shape, longest))
		arrays = append(arrays, data.Named{Name: take.to, Array: x})
	}
	for _, name := range all.Names() {
		if slices.Contains(experiment.OfPredictions, name) || name == o.solution || name == o.initial || name == o.train || slices.Contains(o.inputs, name) || !fs.ValidPath(name) {
			continue
		}
		shape, err := all.Shape(name)
		if err != nil || len(shape) != 1 || shape[0] > longest { // no coordinates
			continue
		}
		x, err := all.Read(name, 0)
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, data.Named{Name: name, Array: x})
	}
	return arrays, nil
}

// listed are the names and shapes of arrays, but for those after the first.
func listed(all data.Arrays) string {
	const most = 20
	var have []string
	names := all.Names()
	for _, name := range names[:min(most, len(names))] {
		what := "no array of pihc"
		if shape, err := all.Shape(name); err == nil {
			what = words.Shape(shape)
		}
		have = append(have, fmt.Sprintf("%s (%s)", name, what))
	}
	if n := len(names) - most; n > 0 {
		have = append(have, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(have, ", ")
}

// readFirst reads the first samples of an array, all for 0. Fewer than there are become float64.
func readFirst(all data.Arrays, name string, samples int) (*data.Array, error) {
	shape, err := all.Shape(name)
	if err != nil {
		return nil, err
	}
	x, err := all.Read(name, samples)
	if err == nil && len(shape) > 0 && x.Shape[0] < shape[0] {
		x = data.NewArray(x.Shape, x.Float64())
	}
	return x, err
}

// channels makes arrays of the solutions (sample, t, x[, y], unknown) of a file: one for each
// name of --unknowns, or, without them, the only one, for which the last dimension is 1 or
// missing.
func (o *importOptions) channels(file string, x *data.Array) ([]data.Named, error) {
	last := len(x.Shape) - 1
	if len(o.unknowns) == 0 {
		if last > 2 && x.Shape[last] == 1 {
			x = data.NewArray(x.Shape[:last], x.Float64())
		}
		return []data.Named{{Name: dataset.GivenSolution, Array: x}}, nil
	}
	if last < 3 || x.Shape[last] != len(o.unknowns) {
		return nil, fmt.Errorf("%s: solutions of shape %s; --unknowns names %d values of the last dimension", file, words.Shape(x.Shape), len(o.unknowns))
	}
	var arrays []data.Named
	all := x.Float64()
	for c, name := range o.unknowns {
		own := make([]float64, 0, len(all)/len(o.unknowns))
		for i := c; i < len(all); i += len(o.unknowns) {
			own = append(own, all[i])
		}
		arrays = append(arrays, data.Named{Name: name, Array: data.NewArray(x.Shape[:last], own)})
	}
	return arrays, nil
}
