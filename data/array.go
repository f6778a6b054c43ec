package data

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// elements are the types of values by name.
var elements = map[string]reflect.Type{
	"float32": reflect.TypeFor[float32](), "float64": reflect.TypeFor[float64](), "int32": reflect.TypeFor[int32](), "int64": reflect.TypeFor[int64](),
}

// bytesOf returns the bytes of one value.
func bytesOf(kind string) int { return int(elements[kind].Size()) }

// Array is a dense array, row-major: the last axis is contiguous. Data is a
// []float32, []float64, []int32 or []int64 of as many values as the product of
// Shape; a scalar has an empty shape and one value. Make one with NewArray.
type Array struct {
	Shape []int
	Data  any
}

// NewArray returns an array that shares values. It panics if their number is
// not the product of shape.
func NewArray[T float32 | float64 | int32 | int64](shape []int, values []T) *Array {
	if n, ok := product(shape); !ok || n != len(values) {
		panic("data: NewArray: number of values is not the product of the shape")
	}
	return &Array{Shape: append([]int{}, shape...), Data: values}
}

// Type returns the element type, such as "float32". It panics if Data is none of the four.
func (a *Array) Type() string {
	switch a.Data.(type) {
	case []float32, []float64, []int32, []int64:
		return reflect.TypeOf(a.Data).Elem().Name()
	}
	panic("data: Array.Data must be []float32, []float64, []int32 or []int64")
}

// Len returns the number of values.
func (a *Array) Len() int { return reflect.ValueOf(a.Data).Len() }

// Float64 returns the values as float64: Data itself if that is its type, a
// converted copy otherwise.
func (a *Array) Float64() []float64 {
	switch v := a.Data.(type) {
	case []float64:
		return v
	case []float32:
		return convert(v)
	case []int32:
		return convert(v)
	case []int64:
		return convert(v)
	}
	panic("data: Array.Data must be []float32, []float64, []int32 or []int64")
}

func convert[T float32 | int32 | int64](v []T) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

// mostMagnitude is more than anything has in any units, and less than markers of missing values. Norms of values above it overflow.
const mostMagnitude = 1e150

// CheckFinite returns an error that names the first value that is not finite, or
// so large that norms overflow, and its index.
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
	if math.Abs(value) > mostMagnitude && !math.IsInf(value, 0) {
		return fmt.Errorf("value at index (%s) is %.3g: a marker of missing values? Norms of such values overflow", a.index(at), value)
	}
	return fmt.Errorf("value at index (%s) is %v", a.index(at), value)
}

// index is where a value is, along each axis.
func (a *Array) index(at int) string {
	index := make([]string, len(a.Shape))
	for i := len(a.Shape) - 1; i >= 0; i-- {
		index[i] = strconv.Itoa(at % a.Shape[i])
		at /= a.Shape[i]
	}
	return strings.Join(index, ", ")
}

// find returns where the first value is that equals one of some, -1 for none.
func (a *Array) find(some []float64) int {
	switch v := a.Data.(type) {
	case []float32:
		return firstOf(v, some)
	case []float64:
		return firstOf(v, some)
	case []int32:
		return firstOf(v, some)
	case []int64:
		return firstOf(v, some)
	}
	return -1
}

func firstOf[T float32 | float64 | int32 | int64](v []T, some []float64) int {
	return slices.IndexFunc(v, func(x T) bool { return slices.Contains(some, float64(x)) })
}

// firstNotFinite is the first value that is NaN, infinite, or beyond mostMagnitude, and where it is, -1 for none.
func firstNotFinite[T float32 | float64](v []T) (int, float64) {
	for i, x := range v {
		if y := float64(x); !(math.Abs(y) <= mostMagnitude) {
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

// chunk is how many values go through one buffer.
const chunk = 8192

// encodeValues writes the values of a in a byte order.
func encodeValues(w io.Writer, a *Array, order binary.ByteOrder) error {
	var buf []byte
	v := reflect.ValueOf(a.Data)
	for lo := 0; lo < v.Len(); lo += chunk {
		var err error
		if buf, err = binary.Append(buf[:0], order, v.Slice(lo, min(lo+chunk, v.Len())).Interface()); err != nil {
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
func decodeValues(r io.Reader, kind string, n int, order binary.ByteOrder) (values any, count int64, err error) {
	size, slice := bytesOf(kind), reflect.SliceOf(elements[kind])
	v := reflect.MakeSlice(slice, 0, min(n, chunk))
	buf := make([]byte, size*min(n, chunk))
	for v.Len() < n {
		start, end := v.Len(), min(v.Len()+chunk, n)
		part := buf[:size*(end-start)]
		got, err := io.ReadFull(r, part)
		count += int64(got)
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, count, err
		}
		if end > v.Cap() {
			grown := reflect.MakeSlice(slice, end, min(n, 2*end))
			reflect.Copy(grown, v)
			v = grown
		}
		v = v.Slice(0, end)
		if _, err := binary.Decode(part, order, v.Slice(start, end).Interface()); err != nil {
			return nil, count, err
		}
	}
	return v.Interface(), count, nil
}

// TransposeHint says how to give the axes of an array of that name and shape another order, in which it has the
// shape wanted, with -1 for a dimension of any size; "" where there is none.
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
