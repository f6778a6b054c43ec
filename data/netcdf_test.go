package data

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pihc/internal/disk"
	"pihc/internal/words"
)

// sampleFields are those of testdata/scipy.nc, which SciPy 1.17's netcdf_file wrote, and of scipy64.nc, with 64-bit offsets.
func sampleFields() *Fields {
	u := make([]float64, 24)
	for i := range u {
		u[i] = float64(i)/8 - 1
	}
	variable := func(name, unit string, values []float64, dimensions []string, shape ...int) Variable {
		return Variable{Named{name, NewArray(shape, values)}, dimensions, unit}
	}
	return &Fields{Title: "Burgers", History: "pihc 1", Axes: []string{"t", "x"}, Time: "t", Variables: []Variable{
		variable("x", "m", []float64{0.125, 0.375, 0.625, 0.875}, []string{"x"}, 4),
		variable("t", "s", []float64{0, 0.5, 1}, []string{"t"}, 3),
		variable("u", "", u, []string{"sample", "t", "x"}, 2, 3, 4),
		variable("error_estimate", "", []float64{0.01, math.Float64frombits(0x7ff8 << 48)}, []string{"sample"}, 2),
	}}
}

func netcdfBytes(t testing.TB, f *Fields, wide bool) []byte {
	t.Helper()
	h, err := f.netcdf()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := h.encode(&b, wide); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func golden(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The bytes are those of SciPy, in both variants, and what SciPy wrote is read.
func TestNetCDFIsSciPys(t *testing.T) {
	for name, wide := range map[string]bool{"scipy.nc": false, "scipy64.nc": true} {
		want := golden(t, name)
		if got := netcdfBytes(t, sampleFields(), wide); !bytes.Equal(got, want) {
			t.Errorf("%s: other bytes: %q, want %q", name, got, want)
		}
		f, err := OpenArrays(context.Background(), filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, v := range sampleFields().Variables {
			a, err := f.Read(v.Name, 0)
			if err != nil {
				t.Fatal(err)
			}
			sameBits(t, a, v.Array)
		}
		if a, err := f.Read("u", 1); err != nil || words.Shape(a.Shape) != "1 x 3 x 4" || a.Float64()[11] != 11./8-1 {
			t.Errorf("the first sample: %v, %v", a, err)
		}
		if shape, err := f.Shape("none"); shape != nil || err != nil {
			t.Errorf("none: %v, %v", shape, err)
		}
	}
}

// described is all that readers of a file are told.
func described(text []byte) string {
	f, err := decodeNetCDF(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return "error"
	}
	var b strings.Builder
	for _, name := range f.Names() {
		a, err := f.Read(name, 0)
		if err != nil {
			return "error"
		}
		fmt.Fprintln(&b, name, a.Shape, a.Type(), a.Data)
	}
	return b.String()
}

// Values that begin beyond 2 GiB make the file one with 64-bit offsets.
func TestNetCDFLarge(t *testing.T) {
	h, err := sampleFields().netcdf()
	if err != nil {
		t.Fatal(err)
	}
	h.sizes = []int64{1 << 20, 1 << 20, 3 << 30, 16}
	begins, wide := h.places(false)
	if head := int64(len(h.header(true, begins))); !wide || begins[3] != head+3<<30+2<<20 {
		t.Errorf("values begin at %v, wide: %v", begins, wide)
	}
	f, err := decodeNetCDF(hole{h.header(wide, begins)}, begins[3]+16)
	if err == nil {
		err = errors.New("a variable of another size than its shape's is read")
	}
	if !strings.Contains(err.Error(), `variable "x": 1048576 bytes; its shape 4 of double takes 32`) {
		t.Errorf("%v, %v", f, err)
	}
	h.sizes[2] = 1 << 30
	if begins, wide := h.places(false); wide || begins[3] != int64(len(h.header(false, begins)))+1<<30+2<<20 {
		t.Errorf("below 2 GiB values begin at %v, wide: %v", begins, wide)
	}
}

// hole is a file with zeros after its header.
type hole struct{ header []byte }

func (h hole) ReadAt(p []byte, at int64) (int, error) {
	clear(p)
	if at < int64(len(h.header)) {
		copy(p, h.header[at:])
	}
	return len(p), nil
}

// One changed byte is seen, but in the texts of attributes, in names of dimensions and in a NaN.
func TestNetCDFChangedByte(t *testing.T) {
	text := golden(t, "scipy.nc")
	want := described(text)
	unseen := 0
	for i := range text {
		changed := slices.Clone(text)
		changed[i] ^= 0x10
		if described(changed) == want {
			unseen++
		}
	}
	// With padding: the number of records, names of dimensions, names and texts of attributes, padding of names, digits of a NaN.
	if most := 4 + 16 + 48 + 36 + 11 + 6; unseen != most || want == "error" {
		t.Errorf("%d of %d bytes can change unseen, want %d", unseen, len(text), most)
	}
}

// Records of several variables lie between each other; those of one have no padding. What is packed, missing or of a type that is not read is told.
func TestNetCDFRecords(t *testing.T) {
	f, err := OpenArrays(context.Background(), "testdata/records.nc")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for name, want := range map[string][]float64{
		"t": {0, 0.25, 0.5, 0.75}, "u": {0, 0.25, 0.5, 1, 1.25, 1.5, 2, 2.25, 2.5, 3, 3.25, 3.5}, "n": {1, -2, 3},
	} {
		if a, err := f.Read(name, 0); err != nil || !slices.Equal(a.Float64(), want) {
			t.Errorf("%s: %v, %v", name, a, err)
		}
	}
	if a, err := f.Read("u", 2); err != nil || words.Shape(a.Shape) != "2 x 3" || !slices.Equal(a.Float64(), []float64{0, 0.25, 0.5, 1, 1.25, 1.5}) {
		t.Errorf("two of u: %v, %v", a, err)
	}
	for name, want := range map[string]string{
		"s": "its values are of type short; want float, double or int", "b": "of type byte", "p": "its values are packed", "m": "value at index (1) is the fill value",
	} {
		if _, err := f.Read(name, 0); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `testdata/records.nc: variable "`+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	one, err := ReadArrays("testdata/record.nc")
	if err != nil || !slices.Equal(one[0].Array.Float64(), []float64{0, 0.25, 0.5, 1, 1.25, 1.5, 2, 2.25, 2.5}) {
		t.Errorf("one: %v, %v", one, err)
	}
}

// A header that says more than the file has is refused before anything is allocated for it, with the byte.
func TestNetCDFHostile(t *testing.T) {
	text := golden(t, "scipy.nc")
	change := func(at int, b ...byte) []byte {
		return append(append(slices.Clone(text[:at]), b...), text[at+len(b):]...)
	}
	u := bytes.Index(text, []byte("\x00\x00\x00\x01u\x00\x00\x00")) + 8
	for want, text := range map[string][]byte{
		"byte 0: not a NetCDF-3 file":                     change(0, 'P'),
		"byte 3: variant CDF-5 is not read":               change(3, 5),
		"byte 3: variant CDF-9":                           change(3, 9),
		"byte 4: the number of records is not known":      change(4, 255, 255, 255, 255),
		"byte 12: 4294967295 dimensions are more than":    change(12, 255, 255, 255, 255),
		"byte 8: tag 7; want 10":                          change(11, 7),
		"byte 16: 4278190081 bytes of a name are more":    change(16, 255),
		"dimensions of a variable are more than":          change(u, 255),
		`variable "u": dimension 3 of 3`:                  change(u+7, 3),
		"two variables named \"x\"":                       change(bytes.Index(text, []byte("\x00\x00\x00\x01t\x00\x00\x00\x00\x00\x00\x01"))+4, 'x'),
		"file ends in the values of variable \"error_est": text[:len(text)-1],
		"byte 63: file ends in the header":                append(slices.Clone(text[:60]), 0, 0, 0),
		"not a NetCDF-3 file: the magic":                  []byte("abcd"),
	} {
		used := allocation(func() {
			_, err := decodeNetCDF(bytes.NewReader(text), int64(len(text)))
			if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, new(*disk.FormatError)) {
				t.Errorf("%q: %v", want, err)
			}
		})
		if used > 1<<20 {
			t.Errorf("%q: %d bytes allocated", want, used)
		}
	}
}

// Variables that do not go together, or that the format lacks, are errors of the writer.
func TestNetCDFRefusesToWrite(t *testing.T) {
	for want, change := range map[string]func(*Fields){
		"int64, which NetCDF-3 lacks":       func(f *Fields) { f.Variables[0].Array = NewArray([]int{4}, sequence[int64](4)) },
		"has 5 values along x, another 4":   func(f *Fields) { f.Variables[2].Array = NewArray([]int{2, 3, 5}, sequence[float64](30)) },
		`two variables named "x"`:           func(f *Fields) { f.Variables[1].Name = "x" },
		"has no values":                     func(f *Fields) { f.Variables[3].Array = NewArray([]int{0}, []float64{}) },
		`"t" has 1 axes and 2 names of the`: func(f *Fields) { f.Variables[1].Dimensions = []string{"t", "x"} },
	} {
		f := sampleFields()
		change(f)
		path := filepath.Join(t.TempDir(), "u.nc")
		if err := WriteFields(path, f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%q: a file is there", want)
		}
	}
}

func FuzzNetCDF(f *testing.F) {
	for _, name := range []string{"scipy.nc", "scipy64.nc", "records.nc", "record.nc"} {
		f.Add(golden(f, name))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		read := 0
		used := allocation(func() {
			n, err := decodeNetCDF(bytes.NewReader(text), int64(len(text)))
			if err != nil {
				if !errors.As(err, new(*disk.FormatError)) {
					t.Errorf("%v is no FormatError", err)
				}
				return
			}
			for _, name := range n.Names() { // which may share their values
				if a, err := n.Read(name, 0); err == nil {
					read += 8 * a.Len()
				}
			}
		})
		if used > limit(len(text))+4*uint64(read) {
			t.Errorf("%d bytes allocated for %d bytes of input", used, len(text))
		}
	})
}
