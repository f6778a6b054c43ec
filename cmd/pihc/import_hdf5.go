package main

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"pihc/data"
	"pihc/internal/dataset"
	"pihc/internal/machine"
	"pihc/internal/words"
)

// importHDF5 reads either layout of PDEBench.
func importHDF5(ctx context.Context, file string, o *importOptions) ([]data.Named, error) {
	f, err := dataset.OpenHDF5(ctx, file)
	if err != nil {
		return nil, err
	}
	if slices.Contains(f.Names, "/tensor") {
		return importTensor(ctx, file, f, o)
	}
	var samples []string
	for _, name := range f.Names {
		if path.Base(name) == "data" && (o.samples == 0 || len(samples) < o.samples) {
			samples = append(samples, name)
		}
	}
	if len(samples) == 0 {
		return nil, words.WithHint(fmt.Errorf("%s has neither a dataset tensor nor groups with a dataset data", file), "it has %s", strings.Join(f.Names[:min(5, len(f.Names))], ", "))
	}
	shape, one := f.Shape(samples[0]), 1
	for _, n := range shape {
		one *= n
	}
	if err := machine.CheckValues(float64(len(samples)) * float64(one)); err != nil {
		return nil, words.WithHint(fmt.Errorf("%s: %w", file, err), "--samples takes the first ones alone")
	}
	values := make([]float64, 0, len(samples)*one)
	for _, name := range samples {
		if other := f.Shape(name); !slices.Equal(other, shape) {
			return nil, fmt.Errorf("%s: dataset %s has shape %s, the first one %s", file, name, words.Shape(other), words.Shape(shape))
		}
		x, err := f.Read(ctx, name, 0)
		if err != nil {
			return nil, err
		}
		values = append(values, x.Float64()...)
	}
	arrays, err := o.channels(file, data.NewArray(append([]int{len(samples)}, shape...), values))
	if err != nil {
		return nil, err
	}
	group := path.Dir(samples[0])
	for _, axis := range []string{"t", "x", "y"} {
		name := group + "/grid/" + axis
		if !slices.Contains(f.Names, name) {
			continue
		}
		x, err := f.Read(ctx, name, 0)
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, data.Named{Name: axis, Array: x})
	}
	return arrays, nil
}

// importTensor reads the layout with one dataset for all samples. Its time coordinates are
// those of the ends of steps, one more than there are times.
func importTensor(ctx context.Context, file string, f *dataset.HDF5, o *importOptions) ([]data.Named, error) {
	x, err := f.Read(ctx, "/tensor", o.samples)
	if err != nil {
		return nil, err
	}
	arrays, err := o.channels(file, x)
	if err != nil {
		return nil, err
	}
	x = arrays[0].Array
	for i, axis := range []string{"t", "x", "y"} {
		name := "/" + axis + "-coordinate"
		if !slices.Contains(f.Names, name) || i+1 >= len(x.Shape) {
			continue
		}
		c, err := f.Read(ctx, name, x.Shape[i+1])
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, data.Named{Name: axis, Array: c})
	}
	return arrays, nil
}
