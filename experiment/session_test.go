package experiment

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pihc/data"
	"pihc/pde"
)

// Arrays in memory are the inputs that they are in a file; a name that the problem does not have is told.
func TestInputs(t *testing.T) {
	p, err := pde.Load("pair.yaml", []byte(pairProblem))
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float64, 48)
	for i := range values {
		values[i] = float64(i)
	}
	arrays := []data.Named{{Name: "u0", Array: data.NewArray([]int{2, 12}, values[:24])}, {Name: "v0", Array: data.NewArray([]int{2, 12}, values[24:])}}
	got, err := Inputs("inputs", arrays, p, g)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "u0.npz")
	if err := data.WriteNPZ(path, arrays); err != nil {
		t.Fatal(err)
	}
	want, err := ReadInputs(path, p, g)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, of a file %v, %v", got, want, err)
	}
	for _, tc := range []struct {
		arrays []data.Named
		want   string
	}{
		{arrays[:1], `has no array "v0"`},
		{append(arrays, data.Named{Name: "w0", Array: data.NewArray([]int{1}, values[:1])}), `array "w0" is no input`},
		{[]data.Named{{Name: "u0", Array: data.NewArray([]int{1, 12}, values[:12])}, arrays[1]}, "array v0 has 2 samples, the first one 1"},
		{[]data.Named{{Name: "u0", Array: data.NewArray([]int{12, 2}, values[:24])}, arrays[1]}, "array u0 has shape 12 x 2; want 12, or samples of it"},
	} {
		if _, err := Inputs("inputs", tc.arrays, p, g); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v, want %q", err, tc.want)
		}
	}
}
