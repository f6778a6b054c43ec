package data

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// netcdfFile is a file to write: the header but for the places of values, which depend on its length.
type netcdfFile struct {
	fields     *Fields
	names      []string // of dimensions
	lengths    []int
	variables  []Variable
	sizes      []int64     // bytes of their values, padded
	attributes [][2]string // of the file
}

// netcdf arranges the variables for a file. Errors are of variables that do not go together.
func (f *Fields) netcdf() (*netcdfFile, error) {
	h := &netcdfFile{fields: f, variables: f.Variables}
	for _, a := range [][2]string{{"Conventions", "CF-1.8"}, {"title", f.Title}, {"history", f.History}} {
		if a[1] != "" {
			h.attributes = append(h.attributes, a)
		}
	}
	seen := map[string]bool{}
	for _, v := range f.Variables {
		if seen[v.Name] {
			return nil, fmt.Errorf("two variables named %q", v.Name)
		}
		seen[v.Name] = true
		if _, ok := netcdfNumber(v.Array); !ok {
			return nil, fmt.Errorf("variable %q: values of type %s, which NetCDF-3 lacks", v.Name, v.Array.Type())
		}
		if float64(v.Array.Len()*bytesOf(v.Array.Type())) > maxNetCDFBytes {
			return nil, fmt.Errorf("variable %q has more than the 4 GiB that NetCDF-3 allows", v.Name)
		}
		if len(v.Dimensions) != len(v.Array.Shape) {
			return nil, fmt.Errorf("variable %q has %d axes and %d names of them", v.Name, len(v.Array.Shape), len(v.Dimensions))
		}
		for k, name := range v.Dimensions {
			n := v.Array.Shape[k]
			at := slices.Index(h.names, name)
			switch {
			case n == 0:
				return nil, fmt.Errorf("variable %q has no values", v.Name)
			case at < 0:
				h.names, h.lengths = append(h.names, name), append(h.lengths, n)
			case h.lengths[at] != n:
				return nil, fmt.Errorf("variable %q has %d values along %s, another %d", v.Name, n, name, h.lengths[at])
			}
		}
	}
	for _, v := range f.Variables {
		h.sizes = append(h.sizes, padded(int64(v.Array.Len()*bytesOf(v.Array.Type()))))
	}
	if len(f.Variables) == 0 {
		return nil, errors.New("there is no variable")
	}
	return h, nil
}

// netcdfNumber is the type of the values of an array; false for int64, which the format lacks.
func netcdfNumber(a *Array) (uint32, bool) {
	for kind, t := range netcdfTypes {
		if t.elements == a.Type() {
			return kind, true
		}
	}
	return 0, false
}

func appendNetCDFText(b []byte, s string) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
	b = append(b, s...)
	return append(b, make([]byte, padded(int64(len(s)))-int64(len(s)))...)
}

func appendNetCDFList(b []byte, tag uint32, n int) []byte {
	if n == 0 {
		tag = 0
	}
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, tag), uint32(n))
}

// appendNetCDFAttributes appends those with text.
func appendNetCDFAttributes(b []byte, list [][2]string) []byte {
	b = appendNetCDFList(b, tagAttribute, len(list))
	for _, a := range list {
		b = appendNetCDFText(b, a[0])
		b = binary.BigEndian.AppendUint32(b, 2) // char
		b = appendNetCDFText(b, a[1])
	}
	return b
}

// ofVariable are the attributes of a variable. There is no _FillValue: every value is one.
func (h *netcdfFile) ofVariable(v Variable) (list [][2]string) {
	if v.Unit != "" {
		list = append(list, [2]string{"units", v.Unit})
	}
	if v.Name == h.fields.Time {
		list = append(list, [2]string{"axis", "T"})
	}
	return list
}

// header is all before the values, which begin at its end.
func (h *netcdfFile) header(wide bool, begins []int64) []byte {
	b := append([]byte(netcdfMagic), 1)
	if wide {
		b[3] = 2
	}
	b = binary.BigEndian.AppendUint32(b, 0) // records
	b = appendNetCDFList(b, tagDimension, len(h.names))
	for i, name := range h.names {
		b = binary.BigEndian.AppendUint32(appendNetCDFText(b, name), uint32(h.lengths[i]))
	}
	b = appendNetCDFAttributes(b, h.attributes)
	b = appendNetCDFList(b, tagVariable, len(h.variables))
	for i, v := range h.variables {
		b = appendNetCDFText(b, v.Name)
		b = binary.BigEndian.AppendUint32(b, uint32(len(v.Dimensions)))
		for _, name := range v.Dimensions {
			b = binary.BigEndian.AppendUint32(b, uint32(slices.Index(h.names, name)))
		}
		b = appendNetCDFAttributes(b, h.ofVariable(v))
		kind, _ := netcdfNumber(v.Array)
		b = binary.BigEndian.AppendUint32(b, kind)
		b = binary.BigEndian.AppendUint32(b, uint32(h.sizes[i]))
		if wide {
			b = binary.BigEndian.AppendUint64(b, uint64(begins[i]))
		} else {
			b = binary.BigEndian.AppendUint32(b, uint32(begins[i]))
		}
	}
	return b
}

// places are where the values of each variable begin, in the variant CDF-2 where it is to be wide or they begin beyond what CDF-1 has.
func (h *netcdfFile) places(wide bool) ([]int64, bool) {
	begins := make([]int64, len(h.variables))
	at := int64(len(h.header(wide, begins)))
	for i, size := range h.sizes {
		begins[i] = at
		at += size
	}
	if !wide && begins[len(begins)-1] > math.MaxInt32 {
		return h.places(true)
	}
	return begins, wide
}

// encode writes the file.
func (h *netcdfFile) encode(w io.Writer, wide bool) error {
	begins, wide := h.places(wide)
	if _, err := w.Write(h.header(wide, begins)); err != nil {
		return err
	}
	for i, v := range h.variables {
		if err := encodeValues(w, v.Array, binary.BigEndian); err != nil {
			return err
		}
		rest := h.sizes[i] - int64(v.Array.Len()*bytesOf(v.Array.Type()))
		if _, err := w.Write(make([]byte, rest)); err != nil {
			return err
		}
	}
	return nil
}
