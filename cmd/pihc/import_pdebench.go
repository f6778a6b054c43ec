package main

import (
	"fmt"
	"path"
	"slices"

	"pihc/data"
	"pihc/internal/machine"
	"pihc/internal/words"
)

// isPDEBench reports whether a file has one of PDEBench's layouts, which are HDF5.
func isPDEBench(all data.Arrays) bool {
	if _, ok := all.(*data.HDF5); !ok {
		return false
	}
	return slices.ContainsFunc(all.Names(), func(name string) bool { return name == "tensor" || path.Base(name) == "data" && path.Dir(name) != "." })
}

// importPDEBench reads either layout of PDEBench.
func importPDEBench(file string, f data.Arrays, o *importOptions) ([]data.Named, error) {
	if slices.Contains(f.Names(), "tensor") {
		return importTensor(f, file, o)
	}
	var samples []string
	for _, name := range f.Names() {
		if path.Base(name) == "data" && path.Dir(name) != "." && (o.samples == 0 || len(samples) < o.samples) {
			samples = append(samples, name)
		}
	}
	shape, err := f.Shape(samples[0])
	if err != nil {
		return nil, err
	}
	one := 1
	for _, n := range shape {
		one *= n
	}
	if err := machine.CheckValues(float64(len(samples)) * float64(one)); err != nil {
		return nil, words.WithHint(fmt.Errorf("%s: %w", file, err), "--samples takes the first ones alone")
	}
	values := make([]float64, 0, len(samples)*one)
	for _, name := range samples {
		other, err := f.Shape(name)
		if err != nil {
			return nil, err
		}
		if !slices.Equal(other, shape) {
			return nil, fmt.Errorf("%s: dataset %s has shape %s, the first one %s", file, name, words.Shape(other), words.Shape(shape))
		}
		x, err := f.Read(name, 0)
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
		if !slices.Contains(f.Names(), name) {
			continue
		}
		x, err := f.Read(name, 0)
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, data.Named{Name: axis, Array: x})
	}
	return arrays, nil
}

// importTensor reads the layout with one dataset for all samples. Its time coordinates are
// those of the ends of steps, one more than there are times.
func importTensor(f data.Arrays, file string, o *importOptions) ([]data.Named, error) {
	x, err := f.Read("tensor", o.samples)
	if err != nil {
		return nil, err
	}
	arrays, err := o.channels(file, x)
	if err != nil {
		return nil, err
	}
	x = arrays[0].Array
	for i, axis := range []string{"t", "x", "y"} {
		name := axis + "-coordinate"
		if !slices.Contains(f.Names(), name) || i+1 >= len(x.Shape) {
			continue
		}
		c, err := f.Read(name, x.Shape[i+1])
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, data.Named{Name: axis, Array: c})
	}
	return arrays, nil
}
