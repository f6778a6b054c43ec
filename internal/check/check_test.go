package check

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pihc/internal/kernel"
)

// recorder is a testing.TB that remembers failures instead of failing.
type recorder struct {
	testing.TB
	messages []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(f string, args ...any) {
	r.messages = append(r.messages, fmt.Sprintf(f, args...))
}

func (r *recorder) Fatalf(f string, args ...any) {
	r.Errorf(f, args...)
	panic(r)
}
func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

// failure returns what f reports: every check must be able to fail.
func failure(f func(t testing.TB)) (message string) {
	r := &recorder{}
	defer func() {
		if e := recover(); e != nil && e != r {
			panic(e)
		}
		message = strings.Join(r.messages, "\n")
	}()
	f(r)
	return
}

func TestClose(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, test := range []struct {
		got, want []float64
		rel, abs  float64
		failure   string
	}{
		{[]float64{1, 2}, []float64{1, 2}, 0, 0, ""},
		{[]float64{1, 2.1}, []float64{1, 2}, 0.06, 0, ""},
		{[]float64{1.1, 2}, []float64{1, 2}, 0.06, 0, ""}, // the scale is the largest element
		{[]float64{1, 2.1}, []float64{1, 2}, 0.04, 0, "1 of 2 elements differ by more than 0.08; worst at 1: got 2.1, want 2 (off by 0.1)"},
		{[]float64{1, 2.1}, []float64{1, 2}, 0.04, 0.03, ""},
		{[]float64{nan, inf, -inf}, []float64{nan, inf, -inf}, 0, 0, ""},
		{[]float64{nan, 3}, []float64{1, 3}, 1, 1, "worst at 0: got NaN"},
		{[]float64{1, 3}, []float64{nan, 3}, 1, 1, "want NaN"},
		{[]float64{inf, 3}, []float64{-inf, 3}, 1, 1, "got +Inf"},
		{[]float64{7, 3}, []float64{inf, 3}, 1, 1, "want +Inf"},
		{[]float64{1}, []float64{1, 3}, 1, 1, "length 1, want 2"},
		{nil, nil, 0, 0, ""},
	} {
		message := failure(func(t testing.TB) { Close(t, test.got, test.want, test.rel, test.abs) })
		if (message == "") != (test.failure == "") || !strings.Contains(message, test.failure) {
			t.Errorf("Close(%v, %v): %q, want %q", test.got, test.want, message, test.failure)
		}
	}
	if m := failure(func(t testing.TB) { Close(t, []float32{1}, []float32{1 + 1e-6}, 1e-6, 1e-6) }); m != "" {
		t.Error(m)
	}
}

func TestMeasures(t *testing.T) {
	got, want := []float64{1, 2, 4}, []float64{1, 2, 5}
	if r := MaxRel(got, want); r != 0.2 {
		t.Errorf("MaxRel %g", r)
	}
	if r := RelativeL2(got, want); math.Abs(r-1/math.Sqrt(30)) > 1e-15 {
		t.Errorf("RelativeL2 %g", r)
	}
	zero := make([]float64, 3)
	if MaxRel(zero, zero) != 0 || RelativeL2(zero, zero) != 0 {
		t.Error("equal slices differ")
	}
	if !math.IsInf(MaxRel(got, zero), 1) || !math.IsInf(RelativeL2(got, zero), 1) || !math.IsInf(MaxRel(got, got[:2]), 1) || !math.IsInf(RelativeL2(got, got[:2]), 1) {
		t.Error("different slices do not differ")
	}
	if !math.IsInf(MaxRel([]float64{math.NaN()}, []float64{1}), 1) {
		t.Error("NaN passes for a number")
	}
}

func TestEqual(t *testing.T) {
	negative := math.Copysign(0, -1)
	if m := failure(func(t testing.TB) { Equal(t, []float64{1, math.NaN()}, []float64{1, math.NaN()}) }); m != "" {
		t.Error(m)
	}
	if failure(func(t testing.TB) { Equal(t, []float64{0}, []float64{negative}) }) == "" {
		t.Error("0 and -0 are bitwise equal")
	}
	if failure(func(t testing.TB) { Equal(t, []float32{1, 2}, []float32{1}) }) == "" {
		t.Error("lengths 2 and 1 are equal")
	}
}

func TestAdjointIdentity(t *testing.T) {
	a := Normal(Rand(1), make([]float64, 12)) // 3 x 4
	apply := func(y, x []float64) {
		for i := range y {
			y[i] = Dot(a[i*4:i*4+4], x)
		}
	}
	transpose := func(x, y []float64) {
		for i := range y {
			for j := range x {
				x[j] += a[i*4+j] * y[i]
			}
		}
	}
	wrong := func(x, y []float64) {
		transpose(x, y)
		x[0] += 1e-6 * y[0]
	}
	if m := failure(func(t testing.TB) { AdjointIdentity(t, Rand(2), 4, 3, apply, transpose, 1e-15) }); m != "" {
		t.Error(m)
	}
	if failure(func(t testing.TB) { AdjointIdentity(t, Rand(2), 4, 3, apply, wrong, 1e-9) }) == "" {
		t.Error("a wrong transpose passes")
	}
}

func TestGradient(t *testing.T) {
	f := func(x []float64) float64 { return math.Exp(x[0])*x[1] + x[2]*x[2]*x[2] }
	x := []float64{0.3, -1.2, 0.7}
	g := []float64{math.Exp(x[0]) * x[1], math.Exp(x[0]), 3 * x[2] * x[2]}
	slope, uncertainty := CentralDifference(f, x, []float64{0, 1, 1}, 1e-3)
	if math.Abs(slope-g[1]-g[2]) > 1e-11 || uncertainty > 1e-5 {
		t.Errorf("slope %g ± %g, want %g", slope, uncertainty, g[1]+g[2])
	}
	Equal(t, x, []float64{0.3, -1.2, 0.7})
	if m := failure(func(t testing.TB) { Gradient(t, Rand(3), f, x, g, 5, 1e-3, 1e-10) }); m != "" {
		t.Error(m)
	}
	g[1] *= 1 + 1e-5
	if failure(func(t testing.TB) { Gradient(t, Rand(3), f, x, g, 5, 1e-3, 1e-7) }) == "" {
		t.Error("a wrong gradient passes")
	}
	nan := func([]float64) float64 { return math.NaN() }
	if failure(func(t testing.TB) { Gradient(t, Rand(3), nan, x, g, 1, 1e-3, 1) }) == "" {
		t.Error("NaN passes for a gradient")
	}
}

func TestGuard(t *testing.T) {
	for shift := range 16 {
		g := Guard[float32](10, shift)
		s := g.Slice()
		if len(s) != 10 || cap(s) != 10 || s[0] != 0 || s[9] != 0 {
			t.Fatalf("buffer %v", s)
		}
		Normal(Rand(4), s)
		g.Verify(t)
		for _, i := range []int{-1, 10} {
			g := Guard[float32](10, shift)
			g.all[g.offset+i] = 0 // what a kernel through a pointer might do
			if m := failure(g.Verify); !strings.Contains(m, fmt.Sprintf("element %d of a buffer of 10", i)) {
				t.Errorf("a write to %d: %q", i, m)
			}
		}
	}
}

func TestGolden(t *testing.T) {
	t.Chdir(t.TempDir())
	defer func(old bool) { *regenerate = old }(*regenerate)
	*regenerate = false
	if m := failure(func(t testing.TB) { Golden(t, "a/b.txt", []byte("x")) }); !strings.Contains(m, "-regenerate") {
		t.Errorf("missing file: %q", m)
	}
	*regenerate = true
	Golden(t, "a/b.txt", []byte("one\ntwo\n"))
	if got, err := os.ReadFile(filepath.Join("testdata", "a", "b.txt")); err != nil || string(got) != "one\ntwo\n" || !Regenerating() {
		t.Errorf("wrote %q, %v", got, err)
	}
	*regenerate = false
	Golden(t, "a/b.txt", []byte("one\ntwo\n"))
	if m := failure(func(t testing.TB) { Golden(t, "a/b.txt", []byte("one\ntwa\n")) }); !strings.Contains(m, "line 2, column 3") {
		t.Errorf("altered file: %q", m)
	}
}

func TestWidths(t *testing.T) {
	before := kernel.Width()
	var seen []int
	Widths(t, func(t *testing.T) { seen = append(seen, kernel.Width()) })
	want := []int{0, before}
	if before == 0 {
		want = want[:1]
	}
	if kernel.Width() != before || !slices.Equal(seen, want) {
		t.Errorf("ran at %v and ended at %d, want %v", seen, kernel.Width(), want)
	}
}
