package data

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"pihc/internal/disk"
	"pihc/internal/machine"
	"pihc/internal/words"
)

// NetCDF-3 is a format for variables with named dimensions: a header, then the values of each variable, big-endian. Of its
// variants the classic one (CDF-1) and that with 64-bit offsets (CDF-2) are read and written.
// https://docs.unidata.ucar.edu/nug/current/file_format_specifications.html

const (
	netcdfMagic = "CDF"

	tagDimension, tagVariable, tagAttribute = 10, 11, 12

	// maxNetCDFName is the most bytes of a name, as in the C library twice.
	maxNetCDFName = 512
	// maxNetCDFAxes is the most axes of a variable, as of an NPY file.
	maxNetCDFAxes = 32
	// netcdfFill is what float64 variables have where nothing was written; netcdfFill32 is that of float32, netcdfFillInt of int32.
	netcdfFill, netcdfFill32, netcdfFillInt = 9.9692099683868690e+36, float64(float32(9.9692099683868690e+36)), -2147483647
)

// netcdfTypes are the types by number, with the bytes of a value, and the name of those that are read.
var netcdfTypes = map[uint32]struct {
	name, elements string
	bytes          int64
}{1: {"byte", "", 1}, 2: {"char", "", 1}, 3: {"short", "", 2}, 4: {"int", "int32", 4}, 5: {"float", "float32", 4}, 6: {"double", "float64", 8}}

// NetCDF is an open file of NetCDF-3, of which the header was read.
type NetCDF struct {
	path      string
	file      io.ReaderAt
	close     func() error
	names     []string
	variables map[string]*netcdfVariable
	records   int64 // along the unlimited dimension
	record    int64 // bytes of one, of all variables
	read      float64
}

type netcdfVariable struct {
	shape   []int
	axes    []string // names of the dimensions
	kind    uint32   // a key of netcdfTypes
	begin   int64
	slab    int64 // bytes of all values, or of those of one record
	records bool  // the first axis is the unlimited dimension
	fill    []float64
	packed  bool // values are to be scaled
}

// decodeNetCDF reads the header of a file of size bytes. Errors are *FormatError, or those of r.
func decodeNetCDF(r io.ReaderAt, size int64) (*NetCDF, error) {
	h := &netcdfHeader{r: bufio.NewReaderSize(io.NewSectionReader(r, 0, size), 1<<14), size: size, unlimited: -1}
	f := &NetCDF{file: r, close: func() error { return nil }, variables: map[string]*netcdfVariable{}}
	magic := make([]byte, 4)
	if err := h.bytes(magic); err != nil {
		return nil, err
	}
	switch version := magic[3]; {
	case string(magic[:3]) != netcdfMagic:
		return nil, disk.Malformed("netcdf", 0, "not a NetCDF-3 file: the magic string is missing")
	case version == 5:
		return nil, words.WithHint(disk.Malformed("netcdf", 3, "variant CDF-5 is not read; want CDF-1 or CDF-2"), "`nccopy -k nc6 IN OUT` writes the variant with 64-bit offsets")
	case version != 1 && version != 2:
		return nil, disk.Malformed("netcdf", 3, "variant CDF-%d; want CDF-1 or CDF-2", version)
	default:
		h.wide = version == 2
	}
	records, err := h.number()
	if err != nil {
		return nil, err
	}
	if f.records = int64(records); records == math.MaxUint32 {
		return nil, h.fail(4, "the number of records is not known: the file was never closed")
	}
	if err := h.dimensionList(); err != nil {
		return nil, err
	}
	if err := h.attributes(&netcdfVariable{}); err != nil {
		return nil, err
	}
	count, err := h.list(tagVariable, "variables", 28)
	var last *netcdfVariable // with records
	for ; count > 0 && err == nil; count-- {
		var name string
		var v *netcdfVariable
		if name, v, err = h.variable(f.records); err != nil {
			break
		}
		if f.variables[name] != nil {
			return nil, h.fail(0, "two variables named %q", name)
		}
		f.variables[name] = v
		f.names = append(f.names, name)
		if v.records {
			last = v
			f.record += padded(v.slab)
		}
	}
	if err != nil {
		return nil, err
	}
	if last != nil && f.record == padded(last.slab) { // of one variable alone records are not padded
		f.record = last.slab
	}
	return f, f.fits(h.at, size)
}

// fits is an error for variables that the file does not hold.
func (f *NetCDF) fits(header, size int64) error {
	for _, name := range f.names {
		v := f.variables[name]
		if v.slab == 0 {
			continue
		}
		if v.begin < header {
			return disk.Malformed("netcdf", v.begin, "values of variable %q begin within the header, which ends at byte %d", name, header)
		}
		end := v.slab
		if v.records {
			if f.records == 0 {
				continue
			}
			if f.record > (math.MaxInt64-v.slab)/f.records {
				return disk.Malformed("netcdf", v.begin, "records of variable %q are too large", name)
			}
			end += (f.records - 1) * f.record
		}
		if end > size-min(v.begin, size) {
			return disk.Malformed("netcdf", size, "file ends in the values of variable %q: %d bytes from byte %d on", name, end, v.begin)
		}
	}
	return nil
}

// Names are the variables, in the order of the file.
func (f *NetCDF) Names() []string { return f.names }

// order is an error for a variable whose dimensions have names of axes in another order than that given, of which the first comes before all
// others. Other names may be anywhere behind it.
func (f *NetCDF) order(name string, axes []string) error {
	v := f.variables[name]
	if v == nil {
		return nil
	}
	last := -1
	for i, axis := range v.axes {
		if at := slices.Index(axes, axis); at >= 0 {
			if at < last || at == 0 && i > 0 {
				return words.WithHint(f.inVariable(name, fmt.Errorf("its dimensions are (%s); want the order %s", strings.Join(v.axes, ", "), strings.Join(axes, ", "))),
					"in xarray, u.transpose(%s) has it", strings.Join(quoted(axes, v.axes), ", "))
			}
			last = at
		}
	}
	return nil
}

// quoted are those of some names that are among others.
func quoted(names, of []string) (all []string) {
	for _, name := range names {
		if slices.Contains(of, name) {
			all = append(all, strconv.Quote(name))
		}
	}
	return all
}

// Close ends the reading.
func (f *NetCDF) Close() error { return f.close() }

func (f *NetCDF) inVariable(name string, err error) error {
	return fmt.Errorf("%s: variable %q: %w", cmp.Or(f.path, "netcdf"), name, err)
}

// variable is one whose values can be read.
func (f *NetCDF) variable(name string) (*netcdfVariable, error) {
	v := f.variables[name]
	if v == nil {
		return nil, f.inVariable(name, errors.New("there is none of this name"))
	}
	if t := netcdfTypes[v.kind]; t.elements == "" {
		return nil, f.inVariable(name, fmt.Errorf("its values are of type %s; want float, double or int", t.name))
	}
	if v.packed {
		return nil, words.WithHint(f.inVariable(name, errors.New("its values are packed: it has scale_factor or add_offset")), "`ncpdq -U IN OUT` unpacks, and so does xarray: open_dataset, then drop_encoding, then to_netcdf")
	}
	return v, nil
}

// Shape is that of a variable; nil if there is none of the name.
func (f *NetCDF) Shape(name string) ([]int, error) {
	if f.variables[name] == nil {
		return nil, nil
	}
	v, err := f.variable(name)
	if err != nil {
		return nil, err
	}
	return append([]int{}, v.shape...), nil
}

// Read reads a variable, or its first samples, along the first axis, alone; all for 0. A value that was never written (the fill value) is
// an error, as are variables that together do not fit the memory.
func (f *NetCDF) Read(name string, samples int) (*Array, error) {
	v, err := f.variable(name)
	if err != nil {
		return nil, err
	}
	shape := append([]int{}, v.shape...)
	if samples > 0 && len(shape) > 0 && samples < shape[0] {
		shape[0] = samples
	}
	n, _ := product(shape)
	if err := machine.CheckValues(f.read + float64(n)); err != nil {
		return nil, f.inVariable(name, err)
	}
	f.read += float64(n)
	t := netcdfTypes[v.kind]
	var r io.Reader = io.NewSectionReader(f.file, v.begin, int64(n)*t.bytes)
	if v.records {
		r = &netcdfRecords{file: f.file, at: v.begin, slab: v.slab, stride: f.record}
	}
	values, got, err := decodeValues(bufio.NewReaderSize(r, 1<<16), t.elements, n, binary.BigEndian)
	if err != nil {
		return nil, f.inVariable(name, disk.Short("netcdf", err, v.begin+got, "values"))
	}
	a := &Array{Shape: shape, Data: values}
	fill := append([]float64{map[uint32]float64{4: netcdfFillInt, 5: netcdfFill32, 6: netcdfFill}[v.kind]}, v.fill...)
	if at := a.find(fill); at >= 0 {
		return nil, f.inVariable(name, fmt.Errorf("value at index (%s) is the fill value: nothing was written there", a.index(at)))
	}
	return a, nil
}

// netcdfRecords reads the values of a variable, which lie in slabs with those of others between them.
type netcdfRecords struct {
	file             io.ReaderAt
	at, slab, stride int64
	done             int64 // bytes of the slab
}

func (r *netcdfRecords) Read(p []byte) (int, error) {
	if r.slab == 0 {
		return 0, io.EOF
	}
	if r.done == r.slab {
		r.at, r.done = r.at+r.stride, 0
	}
	n, err := r.file.ReadAt(p[:min(int64(len(p)), r.slab-r.done)], r.at+r.done)
	r.done += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}
