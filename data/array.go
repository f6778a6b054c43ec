package data

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Element is the type of an array's values.
type Element interface {
	float32 | float64 | int32 | int64
}

// Type names an element type.
type Type string

// The element types.
const (
	Float32 Type = "float32"
	Float64 Type = "float64"
	Int32   Type = "int32"
	Int64   Type = "int64"
)

// size returns the bytes of one value, 0 for an unknown type.
func (t Type) size() int {
	switch t {
	case Float32, Int32:
		return 4
	case Float64, Int64:
		return 8
	}
	return 0
}

// Array is a dense array, row-major: the last axis is contiguous. Data is a
// []float32, []float64, []int32 or []int64 of as many values as the product of
// Shape; a scalar has an empty shape and one value. Make one with NewArray.
type Array struct {
	Shape []int
	Data  any
}

// NewArray returns an array that shares values. It panics if their number is
// not the product of shape.
func NewArray[T Element](shape []int, values []T) *Array {
	if n, ok := product(shape); !ok || n != len(values) {
		panic("data: NewArray: number of values is not the product of the shape")
	}
	return &Array{Shape: append([]int{}, shape...), Data: values}
}

// Type returns the element type. It panics if Data is none of the four.
func (a *Array) Type() Type {
	switch a.Data.(type) {
	case []float32:
		return Float32
	case []float64:
		return Float64
	case []int32:
		return Int32
	case []int64:
		return Int64
	}
	panic("data: Array.Data must be []float32, []float64, []int32 or []int64")
}

// Len returns the number of values.
func (a *Array) Len() int {
	switch v := a.Data.(type) {
	case []float32:
		return len(v)
	case []float64:
		return len(v)
	case []int32:
		return len(v)
	case []int64:
		return len(v)
	}
	panic("data: Array.Data must be []float32, []float64, []int32 or []int64")
}

// Float64 returns the values as float64: Data itself if that is its type, a
// converted copy otherwise.
func (a *Array) Float64() []float64 {
	switch v := a.Data.(type) {
	case []float64:
		return v
	case []float32:
		return convert[float64](v)
	case []int32:
		return convert[float64](v)
	case []int64:
		return convert[float64](v)
	}
	panic("data: Array.Data must be []float32, []float64, []int32 or []int64")
}

func convert[To, From Element](v []From) []To {
	out := make([]To, len(v))
	for i, x := range v {
		out[i] = To(x)
	}
	return out
}

// CheckFinite returns an error that names the first value that is not finite
// and its index.
func (a *Array) CheckFinite() error {
	at, value := -1, 0.0
	switch v := a.Data.(type) {
	case []float32:
		at, value = firstNotFinite(v)
	case []float64:
		at, value = firstNotFinite(v)
	}
	if at < 0 {
		return nil
	}
	index := make([]string, len(a.Shape))
	for i := len(a.Shape) - 1; i >= 0; i-- {
		index[i] = fmt.Sprint(at % a.Shape[i])
		at /= a.Shape[i]
	}
	return fmt.Errorf("value at index (%s) is %v", strings.Join(index, ", "), value)
}

func firstNotFinite[T float32 | float64](v []T) (int, float64) {
	for i, x := range v {
		if y := float64(x); math.IsNaN(y) || math.IsInf(y, 0) {
			return i, y
		}
	}
	return -1, 0
}

// product returns the product of the sizes, and false if one is negative or
// the product, in bytes of eight, overflows.
func product(shape []int) (int, bool) {
	n := 1
	for _, s := range shape {
		if s < 0 {
			return 0, false
		}
		if s > 0 && n > math.MaxInt/8/s {
			return 0, false
		}
		n *= s
	}
	return n, true
}

// FormatShape writes a shape as "1000 x 101 x 1024"; "scalar" if it is empty.
func FormatShape(shape []int) string {
	if len(shape) == 0 {
		return "scalar"
	}
	parts := make([]string, len(shape))
	for i, s := range shape {
		parts[i] = fmt.Sprint(s)
	}
	return strings.Join(parts, " x ")
}

// chunk is how many values go through one buffer.
const chunk = 8192

// encodeValues writes the values of a little-endian.
func encodeValues(w io.Writer, a *Array) error {
	switch v := a.Data.(type) {
	case []float32:
		return writeValues(w, v)
	case []float64:
		return writeValues(w, v)
	case []int32:
		return writeValues(w, v)
	case []int64:
		return writeValues(w, v)
	}
	panic("data: Array.Data must be []float32, []float64, []int32 or []int64")
}

func writeValues[T Element](w io.Writer, v []T) error {
	buf := make([]byte, 0, 8*min(chunk, len(v)))
	for len(v) > 0 {
		part := v[:min(chunk, len(v))]
		v = v[len(part):]
		var err error
		if buf, err = binary.Append(buf[:0], binary.LittleEndian, part); err != nil {
			return err
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

// decodeValues reads n values. What it allocates is bounded by what r yields.
// After an error the count says how many bytes were read.
func decodeValues(r io.Reader, t Type, n int, order binary.ByteOrder) (values any, count int64, err error) {
	switch t {
	case Float32:
		return readValues[float32](r, 4, n, order)
	case Float64:
		return readValues[float64](r, 8, n, order)
	case Int32:
		return readValues[int32](r, 4, n, order)
	case Int64:
		return readValues[int64](r, 8, n, order)
	}
	panic("data: unknown element type")
}

func readValues[T Element](r io.Reader, size, n int, order binary.ByteOrder) (any, int64, error) {
	v := make([]T, 0, min(n, chunk))
	buf := make([]byte, size*min(n, chunk))
	var count int64
	for len(v) < n {
		part := buf[:size*min(chunk, n-len(v))]
		got, err := io.ReadFull(r, part)
		count += int64(got)
		if err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, count, err
		}
		start := len(v)
		if end := start + len(part)/size; end <= cap(v) {
			v = v[:end]
		} else {
			grown := make([]T, end, min(n, 2*end))
			copy(grown, v)
			v = grown
		}
		if _, err := binary.Decode(part, order, v[start:]); err != nil {
			return nil, count, err
		}
	}
	return v, count, nil
}

// TransposeHint says how to give the axes of an array another order, in which it has the shape
// wanted, with -1 for a dimension of any size; "" where there is none.
func TransposeHint(name string, shape, want []int) string {
	if len(shape) != len(want) {
		return ""
	}
	var order []int
	var place func() bool
	place = func() bool {
		k := len(order)
		if k == len(want) {
			return true
		}
		for i, n := range shape {
			if (want[k] < 0 || n == want[k]) && !slices.Contains(order, i) {
				order = append(order, i)
				if place() {
					return true
				}
				order = order[:k]
			}
		}
		return false
	}
	if !place() || slices.IsSorted(order) { // as it is
		return ""
	}
	var axes []string
	for _, i := range order {
		axes = append(axes, strconv.Itoa(i))
	}
	return fmt.Sprintf("numpy.transpose(%s, (%s)) has the shape wanted", name, strings.Join(axes, ", "))
}
