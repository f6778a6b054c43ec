package data

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pihc/internal/disk"
	"pihc/internal/words"

	"github.com/sbinet/npyio"
	"github.com/sbinet/npyio/npz"
)

// sequence returns 0, 1, 2, ... halved, as T.
func sequence[T float32 | float64 | int32 | int64](n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = T(i) / 2
	}
	return v
}

// arrays is one array of each type and of many shapes.
func sampleArrays() []Named {
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64}
	return []Named{
		{"scalar", NewArray(nil, []float64{3.5})},
		{"vector", NewArray([]int{7}, sequence[float32](7))},
		{"empty", NewArray([]int{3, 0, 2}, []float64{})},
		{"matrix", NewArray([]int{3, 4}, sequence[float64](12))},
		{"rank 5", NewArray([]int{2, 1, 3, 2, 2}, sequence[int32](24))},
		{"integers", NewArray([]int{2, 2}, []int64{math.MinInt64, -1, 0, math.MaxInt64})},
		{"special", NewArray([]int{6}, special)},
		{"long", NewArray([]int{3, 2 * chunk}, sequence[float32](6*chunk))},
	}
}

func equalArrays(a, b *Array) bool {
	return len(a.Shape) == len(b.Shape) && (len(a.Shape) == 0 || reflect.DeepEqual(a.Shape, b.Shape)) && reflect.DeepEqual(a.Data, b.Data)
}

func npyBytes(t testing.TB, a *Array) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encodeNPY(&b, a); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func anyShape([]int) error { return nil }

func anyArray([]int, Arrays) error { return nil }

func npyOf(text []byte) (*Array, error) {
	return decodeNPY(bytes.NewReader(text), int64(len(text)), anyShape)
}

func npzOf(text []byte) ([]Named, error) {
	z, err := newNPZ(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, err
	}
	return allOf(z)
}

func TestNPYRoundTrip(t *testing.T) {
	for _, c := range sampleArrays() {
		text := npyBytes(t, c.Array)
		if at := bytes.IndexByte(text, '\n') + 1; at%64 != 0 {
			t.Errorf("%s: values start at byte %d, want a multiple of 64", c.Name, at)
		}
		got, err := npyOf(text)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if !equalArrays(got, c.Array) {
			t.Errorf("%s: got %v %v", c.Name, got.Shape, got.Type())
		}
	}
}

// Another implementation reads what we write.
func TestNPYAgainstNpyio(t *testing.T) {
	for _, c := range sampleArrays() {
		if len(c.Array.Shape) > 2 || c.Array.Len() == 0 {
			continue // npyio reads slices of these only
		}
		r, err := npyio.NewReader(bytes.NewReader(npyBytes(t, c.Array)))
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if len(c.Array.Shape) > 0 && !reflect.DeepEqual(r.Header.Descr.Shape, c.Array.Shape) {
			t.Errorf("%s: npyio reads shape %v", c.Name, r.Header.Descr.Shape)
		}
		slot := reflect.New(reflect.TypeOf(c.Array.Data))
		if err := r.Read(slot.Interface()); err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if got := slot.Elem().Interface(); !reflect.DeepEqual(got, c.Array.Data) {
			t.Errorf("%s: npyio reads %v", c.Name, got)
		}
	}
}

func TestNPZAgainstNpyio(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npz")
	want := sequence[float32](12)
	if err := WriteNPZ(path, []Named{{"b", NewArray([]int{3, 4}, want)}, {"a", NewArray([]int{2}, []float64{1, 2})}}); err != nil {
		t.Fatal(err)
	}
	r, err := npz.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if keys := r.Keys(); !reflect.DeepEqual(keys, []string{"b.npy", "a.npy"}) {
		t.Errorf("npyio finds %v", keys)
	}
	var got []float32
	if err := r.Read("b.npy", &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("npyio reads %v, %v", got, err)
	}
}

// Files that NumPy 2.4 wrote: np.savez and np.savez_compressed of the arrays
// below, np.save of the transposed one, which is in Fortran's order.
func TestNumPyFiles(t *testing.T) {
	for _, file := range []string{"stored.npz", "compressed.npz"} {
		arrays, err := ReadNPZ(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []Named{
			{"f8", NewArray([]int{2, 3, 4}, sequence[float64](24))},
			{"f4", NewArray([]int{5}, sequence[float32](5))},
			{"i4", NewArray([]int{2, 2}, []int32{-1, 0, 1, 2})},
			{"i8", NewArray(nil, []int64{-7})},
			{"big_endian", NewArray([]int{3}, []float64{0.5, -1, 2})},
		} {
			if got := Find(arrays, want.Name); got == nil || !equalArrays(got, want.Array) {
				t.Errorf("%s: %s is %v, want %v", file, want.Name, got, want.Array)
			}
		}
	}
	got, err := ReadArray("testdata/fortran.npy", "", nil, anyArray)
	if err != nil {
		t.Fatal(err)
	}
	// np.arange(24).reshape(2, 3, 4).T / 2
	want := make([]float64, 24)
	for i := range 4 {
		for j := range 3 {
			for k := range 2 {
				want[i*6+j*2+k] = float64(k*12+j*4+i) / 2
			}
		}
	}
	if !equalArrays(got, NewArray([]int{4, 3, 2}, want)) {
		t.Errorf("Fortran's order: got %v", got)
	}
}

// npy returns a file of version 1.0 with the dictionary given.
func npyFile(dict string, values int) []byte {
	head := []byte(npyMagic + "\x01\x00")
	head = append(head, byte(len(dict)), byte(len(dict)>>8))
	return append(append(head, dict...), make([]byte, values)...)
}

func TestNPYErrors(t *testing.T) {
	good := npyBytes(t, NewArray([]int{3, 4}, sequence[float64](12)))
	for _, c := range []struct {
		text   []byte
		offset int64
		want   string
	}{
		{nil, 0, "ends in the header"},
		{good[:5], 5, "ends in the header"},
		{good[:9], 9, "ends in the header"},
		{good[:60], 60, "ends in the header"},
		{good[:len(good)-1], int64(len(good) - 1), "shape 3 x 4 of float64 needs 96 bytes"},
		{[]byte("PK\x03\x04 and so on"), 0, "magic"},
		{[]byte(npyMagic + "\x09\x00"), 6, "version 9.0"},
		{append([]byte(npyMagic+"\x02\x00"), 0xff, 0xff, 0xff, 0xff), 8, "header of 4294967295 bytes"},
		{npyFile("", 0), 10, `want '{'`},
		{npyFile("{descr: '<f8'}", 0), 11, "quoted string"},
		{npyFile("{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,)}", 8), 44, `"Maybe"`},
		{npyFile("{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}", 16), 19, "'<c16' is not supported"},
		{npyFile("{'descr': '|b1', 'fortran_order': False, 'shape': (1,)}", 1), 19, "'|b1' is not supported"},
		{npyFile("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1,)}", 8), 19, "records"},
		{npyFile("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", 8), 61, "want a size"},
		{npyFile("{'descr': '<f8', 'fortran_order': False, 'shape': (1 2)}", 8), 63, "want ')'"},
		{npyFile("{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999, 9999999999)}", 8), 10, "too large"},
		{npyFile("{'descr': '<f8', 'fortran_order': False}", 8), 50, "'shape' is missing"},
		{npyFile("{'descr': '<f8', 'descr': '<f8'}", 8), 34, "twice"},
		{npyFile("{'descr': '<f8', 'order': 1}", 8), 35, "unknown key"},
		{npyFile("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x", 8), 66, "after the dictionary"},
		// A claim of 8 GB must not allocate them.
		{npyFile("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000,)}", 8), 82, "ends in the data"},
	} {
		_, err := npyOf(c.text)
		var format *disk.FormatError
		if !errors.As(err, &format) || format.Offset != c.offset || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want byte %d: %s", c.text[:min(90, len(c.text))], err, c.offset, c.want)
		}
	}
}

func TestReadArrayErrors(t *testing.T) {
	dir := t.TempDir()
	good := npyBytes(t, NewArray([]int{3}, sequence[float64](3)))
	two := filepath.Join(dir, "two.npz")
	if err := WriteNPZ(two, []Named{{"a", NewArray([]int{1}, []float64{1})}, {"b", NewArray([]int{1}, []float64{2})}}); err != nil {
		t.Fatal(err)
	}
	long, truncated := filepath.Join(dir, "long.npy"), filepath.Join(dir, "truncated.npz")
	os.WriteFile(long, append(good, 0), 0o666)
	text, _ := os.ReadFile(two)
	os.WriteFile(truncated, text[:len(text)-30], 0o666)
	for path, want := range map[string]string{
		filepath.Join(dir, "none.npy"): "no such file",
		long:                           "bytes after the last value",
		two:                            "holds 2 arrays (a, b); want one",
		truncated:                      "not a ZIP archive, or a truncated one",
	} {
		if _, err := ReadArray(path, "", nil, anyArray); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want %q and the path", err, want)
		}
	}
}

// An altered value is noticed by the archive's own checksum.
func TestNPZChecksum(t *testing.T) {
	var b bytes.Buffer
	if err := EncodeNPZ(&b, []Named{{"a", NewArray([]int{4}, sequence[float64](4))}}); err != nil {
		t.Fatal(err)
	}
	text := b.Bytes()
	at := bytes.IndexByte(text, '\n') + 3
	text[at] ^= 1
	if _, err := npzOf(text); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("error %v, want one about the checksum", err)
	}
}

func TestArray(t *testing.T) {
	for _, c := range sampleArrays() {
		double := c.Array.Float64()
		if len(double) != c.Array.Len() {
			t.Errorf("%s: %d values, want %d", c.Name, len(double), c.Array.Len())
		}
	}
	a := NewArray([]int{2, 3}, []float64{0, 1, 2, 3, math.NaN(), 5})
	if err := a.CheckFinite(); err == nil || err.Error() != "value at index (1, 1) is NaN" {
		t.Errorf("CheckFinite: %v", err)
	}
	if err := NewArray([]int{2}, []float64{1e150, -1e151}).CheckFinite(); err == nil || !strings.Contains(err.Error(), "index (1) is -1e+151") {
		t.Errorf("CheckFinite: %v", err)
	}
	if err := NewArray([]int{2}, []float32{1, 2}).CheckFinite(); err != nil {
		t.Error(err)
	}
	if &a.Float64()[0] != &a.Data.([]float64)[0] {
		t.Error("Float64 copies an array of float64")
	}
	defer func() {
		if recover() == nil {
			t.Error("NewArray accepts 3 values for shape 2 x 2")
		}
	}()
	NewArray([]int{2, 2}, []float64{1, 2, 3})
}

func ExampleNewArray() {
	a := NewArray([]int{2, 3}, []float64{1, 2, 3, 4, 5, 6})
	fmt.Println(words.Shape(a.Shape), a.Type(), a.Float64()[5])
	// Output: 2 x 3 float64 6
}

func TestTransposeHint(t *testing.T) {
	for _, test := range []struct {
		shape, want []int
		hint        string
	}{
		{[]int{5, 4, 3}, []int{-1, 3, 4}, "numpy.transpose(u, (0, 2, 1)) has the shape wanted"},
		{[]int{4, 3, 9}, []int{-1, 3, 4}, "numpy.transpose(u, (2, 1, 0)) has the shape wanted"},
		{[]int{9, 4, 3, 2}, []int{-1, 2, 3, 4}, "numpy.transpose(u, (0, 3, 2, 1)) has the shape wanted"},
		{[]int{5, 4, 2}, []int{-1, 3, 4}, ""},
		{[]int{4, 3}, []int{-1, 3, 4}, ""},
		{[]int{0, 3}, []int{-1, 3}, ""}, // in the order wanted
	} {
		if hint := TransposeHint("u", test.shape, test.want); hint != test.hint {
			t.Errorf("%v to %v: %q, want %q", test.shape, test.want, hint, test.hint)
		}
	}
}
