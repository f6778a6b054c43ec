package data

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// An image as an XML parser reads it, and the bytes appended to it.
type image struct {
	ImageData struct {
		WholeExtent string `xml:",attr"`
		Origin      string `xml:",attr"`
		Spacing     string `xml:",attr"`
		FieldData   struct{ DataArray []imageArray }
		Piece       struct {
			PointData struct{ DataArray []imageArray }
		}
	}
	appended []byte
}

type imageArray struct {
	Name   string `xml:",attr"`
	Format string `xml:"format,attr"`
	Offset int    `xml:"offset,attr"`
	Text   string `xml:",chardata"`
}

// readImage reads a .vti file independently of what wrote it.
func readImage(t *testing.T, path string) (v image) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	mark := []byte("<AppendedData encoding=\"raw\">\n_")
	at := bytes.Index(text, mark)
	if at < 0 || !bytes.HasSuffix(text, []byte("\n </AppendedData>\n</VTKFile>\n")) {
		t.Fatalf("%s: no appended data", path)
	}
	if err := xml.Unmarshal([]byte(string(text[:at])+"</VTKFile>"), &v); err != nil {
		t.Fatal(err)
	}
	v.appended = text[at+len(mark):]
	return v
}

func (v *image) values(k int) []float64 { return v.at(v.ImageData.Piece.PointData.DataArray[k].Offset) }

// at are the values appended at an offset.
func (v *image) at(offset int) (values []float64) {
	at := v.appended[offset:]
	n := binary.LittleEndian.Uint64(at)
	for at = at[8 : 8+n]; len(at) > 0; at = at[8:] {
		values = append(values, math.Float64frombits(binary.LittleEndian.Uint64(at)))
	}
	return values
}

// flow are fields (sample, t, x, y) whose values say where they are.
func flow(samples, times int) *Fields {
	f := &Fields{Axes: []string{"t", "x", "y"}, Time: "t"}
	var t, x, y, u []float64
	for i := range times {
		t = append(t, 0.1*float64(i))
	}
	for i := range 4 {
		x = append(x, 0.5+float64(i))
	}
	for i := range 3 {
		y = append(y, 0.25*float64(i)-1)
	}
	for s := range samples {
		for k := range times {
			for i := range x {
				for j := range y {
					u = append(u, float64(1000*s+100*k+10*i+j))
				}
			}
		}
	}
	add := func(name string, values []float64, dimensions []string, shape ...int) {
		f.Variables = append(f.Variables, Variable{Named: Named{name, NewArray(shape, values)}, Dimensions: dimensions})
	}
	add("u<", u, []string{"sample", "t", "x", "y"}, samples, times, 4, 3)
	add("t", t, []string{"t"}, times)
	add("x", x, []string{"x"}, 4)
	add("y", y, []string{"y"}, 3)
	estimates := slices.Repeat([]float64{math.NaN()}, samples)
	estimates[0] = 0.5
	add("error_estimate", estimates, []string{"sample"}, samples)
	return f
}

// Every value is at its point: VTK's x fastest, each time in a file of its own, each sample in an array.
func TestSeries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a & b.pvd")
	if err := CheckFields(path, 2, 3, 36, false); err != nil {
		t.Fatal(err)
	}
	if err := WriteFields(path, flow(2, 3)); err != nil {
		t.Fatal(err)
	}
	var index struct {
		Collection struct {
			DataSet []struct {
				Timestep float64 `xml:"timestep,attr"`
				File     string  `xml:"file,attr"`
			}
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(text, &index); err != nil {
		t.Fatal(err)
	}
	if len(index.Collection.DataSet) != 3 {
		t.Fatalf("%s", text)
	}
	for k, d := range index.Collection.DataSet {
		if d.Timestep != 0.1*float64(k) || d.File != fmt.Sprintf("a & b/%04d.vti", k) {
			t.Errorf("time %d: %+v", k, d)
		}
		v := readImage(t, filepath.Join(filepath.Dir(path), d.File))
		if i := v.ImageData; i.WholeExtent != "0 3 0 2 0 0" || i.Origin != "0.5 -1 0" || i.Spacing != "1 0.25 1" {
			t.Errorf("%s: %+v", d.File, i)
		}
		if f := v.ImageData.FieldData.DataArray; len(f) != 2 || f[0].Name != "TimeValue" || f[0].Text != strconv.FormatFloat(d.Timestep, 'g', -1, 64) || f[1].Name != "error_estimate" {
			t.Errorf("%s: %+v", d.File, f)
		} else if e := v.at(f[1].Offset); len(e) != 2 || e[0] != 0.5 || !math.IsNaN(e[1]) {
			t.Errorf("%s: error_estimate %v", d.File, e)
		}
		for s := range 2 {
			if name := v.ImageData.Piece.PointData.DataArray[s].Name; name != fmt.Sprintf("u<_sample%d", s) {
				t.Errorf("array %q", name)
			}
			for at, got := range v.values(s) {
				if want := float64(1000*s + 100*k + 10*(at%4) + at/4); got != want {
					t.Fatalf("%s: sample %d, value %d is %v, want %v", d.File, s, at, got, want)
				}
			}
		}
	}
	// A shorter series takes the place of all of it.
	if err := CheckFields(path, 1, 2, 24, false); err == nil || !strings.Contains(err.Error(), "a & b, for the images of the series, has images already") {
		t.Errorf("again: %v", err)
	}
	if err := CheckFields(path, 1, 2, 24, true); err != nil {
		t.Error(err)
	}
	if err := WriteFields(path, flow(1, 2)); err != nil {
		t.Fatal(err)
	}
	images, _ := os.ReadDir(seriesFolder(path))
	if v := readImage(t, filepath.Join(seriesFolder(path), "0001.vti")); len(images) != 2 || v.ImageData.Piece.PointData.DataArray[0].Name != "u<" {
		t.Errorf("%v", images)
	}
	mine := filepath.Join(seriesFolder(path), "mine.txt")
	if err := os.WriteFile(mine, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := CheckFields(path, 1, 2, 24, true); err == nil || !strings.Contains(err.Error(), "has other files, such as mine.txt") {
		t.Errorf("with another file: %v", err)
	}
	if err := WriteFields(path, flow(1, 2)); err == nil {
		t.Error("written beside another file")
	}
}

// Axes named as VTK's are these whatever their order, and others come in their order.
func TestImageAxes(t *testing.T) {
	dir := t.TempDir()
	for want, names := range map[string][]string{"0 2 0 3 0 0": {"t", "y", "x"}, "0 3 0 2 0 0": {"t", "r", "s"}, "0 0 0 3 0 2": {"t", "y", "z"}} {
		f := flow(1, 1)
		f.Axes = names
		f.Variables[0].Dimensions = append([]string{"sample"}, names...)
		f.Variables[2].Name, f.Variables[3].Name = names[1], names[2]
		path := filepath.Join(dir, "u.vti")
		if err := WriteFields(path, f); err != nil {
			t.Fatal(err)
		}
		v := readImage(t, path)
		if got := v.ImageData.WholeExtent; got != want {
			t.Errorf("%v: %s, want %s", names, got, want)
		}
		for at, got := range v.values(0) {
			value := float64(10*(at%4) + at/4)
			if names[1] == "y" && names[2] == "x" {
				value = float64(10*(at/3) + at%3)
			}
			if got != value {
				t.Fatalf("%v: value %d is %v, want %v", names, at, got, value)
			}
		}
	}
}

// What a format does not hold is refused before anything is computed, or written.
func TestFieldsRefused(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, c := range map[string]struct {
		samples, times, values int
		want                   string
	}{
		"u.csv": {1, 2, 10, "u.csv: the ending says which format is written, and is none of .npz, .nc, .vti, .pvd"},
		"u":     {1, 2, 10, "and is none of"},
		"u.NC":  {300, 100, 1 << 21, "u.NC: 300 samples of 2097152 values are more than the 4 GiB"},
		"u.vti": {1, 2, 10, "a .vti file holds one time, and there are 2"},
		"u.pvd": {1, 0, 10, "no axis is time"},
	} {
		if err := CheckFields(at(name), c.samples, c.times, c.values, false); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := WriteFields(at("u.vti"), flow(1, 2)); err == nil {
		t.Error("two times in a .vti")
	}
	uneven := flow(1, 1)
	uneven.Variables[2].Array.Float64()[1] += 0.01
	if err := WriteFields(at("u.vti"), uneven); err == nil || !strings.Contains(err.Error(), "point 1 of axis x is at 1.51: the coordinates are not uniform") {
		t.Errorf("uneven: %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("left there: %v", entries)
	}
}
