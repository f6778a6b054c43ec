package data

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"pihc/internal/disk"
	"pihc/internal/words"
)

// Fields are variables on a uniform grid, with what files that describe themselves say of them.
type Fields struct {
	Title     string
	History   string   // what made them
	Axes      []string // of the grid, the slowest first; each is a variable of one axis, with the coordinates
	Time      string   // that of the Axes which is time; "" for none
	Variables []Variable
}

// Variable is an array whose axes have names. One on the grid has the first axis "sample", and then those of the grid.
type Variable struct {
	Named
	Dimensions []string // a name for each axis
	Unit       string   // "": not known
}

// SampleDimension is the axis of samples.
const SampleDimension = "sample"

// fieldFormats are the endings of files of fields.
var fieldFormats = []string{".npz", ".nc", ".vti", ".pvd"}

// fieldFormat is the format of a file by its ending.
func fieldFormat(path string) (string, error) {
	if end := strings.ToLower(filepath.Ext(path)); slices.Contains(fieldFormats, end) {
		return end, nil
	}
	return "", words.WithHint(fmt.Errorf("%s: the ending says which format is written, and is none of %s", path, words.List(fieldFormats)),
		".npz is NumPy's, .nc NetCDF-3 for xarray, .vti one time for ParaView, .pvd a series of them")
}

// maxNetCDFBytes is the most that one variable may take: CDF-2 has 32 bits for it.
const maxNetCDFBytes = math.MaxUint32 - 3

// CheckFields is an error for a file of an unknown ending, or of a format that does not hold fields with so many samples, times (0 where
// nothing is time) and values of one unknown. Without overwrite a .pvd is refused too where there are files in the folder beside it.
func CheckFields(path string, samples, times, values int, overwrite bool) error {
	format, err := fieldFormat(path)
	switch {
	case err != nil:
		return err
	case format == ".nc" && float64(samples)*float64(values)*8 > maxNetCDFBytes:
		return words.WithHint(fmt.Errorf("%s: %d samples of %d values are more than the 4 GiB that a variable of NetCDF-3 has", path, samples, values), "write .npz, or fewer samples to a file")
	case format == ".vti" && times > 1:
		return words.WithHint(fmt.Errorf("%s: a .vti file holds one time, and there are %d", path, times), "--out %s writes a series, with a .vti file for each time", strings.TrimSuffix(path, filepath.Ext(path))+".pvd")
	case format == ".pvd" && times == 0:
		return words.WithHint(fmt.Errorf("%s: a .pvd file is a series of times, and no axis is time", path), "--out %s writes the field", strings.TrimSuffix(path, filepath.Ext(path))+".vti")
	case format == ".pvd":
		return checkSeries(path, overwrite)
	}
	return nil
}

// WriteFields writes variables to a file in the format that its ending says, whole or not at all: .npz (NumPy), .nc (NetCDF-3), .vti (VTK's
// image, one time) or .pvd (a series of these, in a folder beside it). Check with CheckFields before.
func WriteFields(path string, f *Fields) error {
	format, err := fieldFormat(path)
	if err != nil {
		return err
	}
	switch format {
	case ".nc":
		h, err := f.netcdf()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return disk.WriteAtomic(path, func(w io.Writer) error { return h.encode(w, false) })
	case ".vti", ".pvd":
		v, err := f.vtk()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if format == ".pvd" {
			return v.writeSeries(path)
		}
		if len(v.times) > 1 {
			return fmt.Errorf("%s: a .vti file holds one time, and there are %d", path, len(v.times))
		}
		return v.writeImage(path, 0)
	}
	var arrays []Named
	for _, v := range f.Variables {
		arrays = append(arrays, v.Named)
	}
	return WriteNPZ(path, arrays)
}
