package data

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"pihc/internal/disk"
	"pihc/internal/words"
)

// Arrays is an open file of arrays with names. Of what is in it headers are read first, and values when they are asked for.
type Arrays interface {
	// Names are those of the arrays, in the order of the file.
	Names() []string
	// Shape is that of an array, nil if there is none of the name. One whose values are of no type that is read is an error.
	Shape(name string) ([]int, error)
	// Read reads an array, or its first samples, along the first axis, alone; all for 0.
	Read(name string, samples int) (*Array, error)
	Close() error
}

// OpenArrays opens a file by its content, whatever its name: NPZ, NetCDF-3, or HDF5, which NetCDF-4 is, by the program h5dump until ctx ends.
// A file of none of these is a
// *NoArraysError.
func OpenArrays(ctx context.Context, path string) (Arrays, error) {
	f, size, format, err := openSized(path)
	if err != nil {
		return nil, err
	}
	switch format {
	case formatNetCDF:
		n, err := decodeNetCDF(f, size)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		n.path, n.close = path, f.Close
		return n, nil
	case formatNPZ:
		z, err := newNPZ(f, size)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		z.path, z.file = path, f
		return z, nil
	}
	f.Close()
	switch format {
	case formatHDF5:
		return openHDF5(ctx, path)
	case formatNPY:
		return nil, &NoArraysError{path + " is an NPY file, of one array without a name"}
	}
	return nil, &NoArraysError{path + " is no file of arrays: it begins as none of NPZ, NetCDF and HDF5"}
}

// A NoArraysError is of a file in a format without arrays that have names.
type NoArraysError struct{ text string }

func (e *NoArraysError) Error() string { return e.text }

// Hint says what to do.
func (e *NoArraysError) Hint() string {
	return "numpy.savez writes NPZ, and xarray's to_netcdf NetCDF"
}

// HoldsArrays reports whether a file begins as one that OpenArrays opens.
func HoldsArrays(path string) bool {
	f, _, format, err := openSized(path)
	if err != nil {
		return false
	}
	f.Close()
	return format == formatNPZ || format == formatNetCDF || format == formatHDF5
}

// Formats of files, by their first bytes.
const (
	formatOther = iota
	formatNPY
	formatNPZ
	formatNetCDF
	formatHDF5
)

const hdf5Magic = "\x89HDF\r\n\x1a\n"

// formatOf tells the format of a file of size bytes.
func formatOf(r io.ReaderAt, size int64) (int, error) {
	begins := func(at int64, magic string) (bool, error) {
		got := make([]byte, len(magic))
		_, err := r.ReadAt(got, at)
		if err == io.EOF {
			err = nil
		}
		return string(got) == magic, err
	}
	for _, c := range []struct {
		magic  string
		format int
	}{{npyMagic, formatNPY}, {"PK\x03\x04", formatNPZ}, {"PK\x05\x06", formatNPZ}, {netcdfMagic, formatNetCDF}} {
		if is, err := begins(0, c.magic); is || err != nil {
			return c.format, err
		}
	}
	// Before HDF5 there may be something else, of 512 bytes or a power of two more.
	for at := int64(0); at < size && at <= 1<<30; at = max(512, 2*at) {
		if is, err := begins(at, hdf5Magic); is || err != nil {
			return formatHDF5, err
		}
	}
	return formatOther, nil
}

// openSized opens a file, and tells its size and format.
func openSized(path string) (f *os.File, size int64, format int, err error) {
	if f, err = disk.Open(path); err != nil {
		return nil, 0, 0, err
	}
	info, err := f.Stat()
	if err == nil {
		size = info.Size()
		format, err = formatOf(f, size)
	}
	if err != nil {
		f.Close()
		return nil, 0, 0, fmt.Errorf("%s: %w", path, disk.Reason(err))
	}
	return f, size, format, nil
}

// CheckOrder is an error for an array whose file says that its axes come in another order than samples and then those given. NetCDF-3 alone
// says so: the order in other files is what their writer meant.
func CheckOrder(f Arrays, name string, axes []string) error {
	if n, ok := f.(*NetCDF); ok {
		return n.order(name, append([]string{SampleDimension}, axes...))
	}
	return nil
}

// ReadArray reads a file of one array with axes of some names, and samples before them or none: NPY, or a file of arrays with a single one
// besides coordinates, which have the names of axes, or one of this name. Values are read if its shape is accepted, and what else the file has
// (nil: nothing), and an error of that is returned as it is.
func ReadArray(path, name string, axes []string, accept func(shape []int, in Arrays) error) (*Array, error) {
	f, size, format, err := openSized(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if format == formatOther || format == formatNPY {
		var refused error
		a, err := decodeNPY(f, size, func(shape []int) error { refused = accept(shape, nil); return refused })
		if err != nil && refused == nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
		return a, err
	}
	arrays, err := OpenArrays(context.Background(), path)
	if err != nil {
		return nil, err
	}
	defer arrays.Close()
	names := slices.DeleteFunc(slices.Clone(arrays.Names()), func(name string) bool { return name == SampleDimension || slices.Contains(axes, name) })
	if len(names) > 1 && slices.Contains(names, name) {
		names = []string{name}
	}
	if len(names) != 1 {
		return nil, fmt.Errorf("%s: holds %d arrays (%s); want one", path, len(arrays.Names()), words.List(arrays.Names()))
	}
	shape, err := arrays.Shape(names[0])
	if err == nil {
		err = accept(shape, arrays)
	}
	if err == nil {
		err = CheckOrder(arrays, names[0], axes)
	}
	if err != nil {
		return nil, err
	}
	return arrays.Read(names[0], 0)
}

// ReadArrays reads all arrays of a file that OpenArrays opens, but for those of some names.
func ReadArrays(path string, besides ...string) ([]Named, error) {
	f, err := OpenArrays(context.Background(), path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return allOf(f, besides...)
}

func allOf(f Arrays, besides ...string) (arrays []Named, err error) {
	for _, name := range f.Names() {
		if slices.Contains(besides, name) {
			continue
		}
		a, err := f.Read(name, 0)
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, Named{name, a})
	}
	return arrays, nil
}
