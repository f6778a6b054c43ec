package pde

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pihc/internal/check"
)

const smoothFile = `
name: a
unknown: [u, v]
axes:
  t: {range: [0, 1], points: 5, boundary: nodes}
  x: {range: [0, 2], points: 33, boundary: BOUNDARY}
  y: {range: [0, 1], points: 6, boundary: periodic}
terms:
  u_x: {of: u, axis: x, derivative: 1}
  u_xx: {of: u, axis: x, derivative: 2}
  u_xt: {of: u, factors: [{axis: x, derivative: 1}, {axis: t, derivative: 1}]}
  v_x: {of: v, axis: x, derivative: 1}
  u_yyy: {of: u, axis: y, derivative: 3}
  west: {of: u, axis: x, edge: low, at: wall, points: 3}
  slope: {of: u, axis: x, edge: high, at: wall, derivative: 1, points: 3}
  shear: {of: u, axis: x, edge: high, at: wall, derivative: 3, points: 5}
  high: {of: u, axis: x, HIGH}
residual:
  r: {expression: high + u_yyy + u^2, rows: {x: [SKIP, SKIP]}}
  s: {expression: v}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - u0}
CONDITIONS
ansatz: {u: {offset: u0, smooth: {AXIS: LENGTH}}}
`

// smoothProblem is a problem with conditions "end: expression" on u along x.
func smoothProblem(boundary, high, axis, length string, conditions ...string) (*Problem, error) {
	text := ""
	for i, c := range conditions {
		end, e, _ := strings.Cut(c, ": ")
		more, e, found := strings.Cut(e, " | ")
		if !found {
			more, e = "", more
		}
		text += fmt.Sprintf("  c%d: {at: {x: %s}%s, expression: %q}\n", i, end, more, e)
	}
	skip := "2"
	if boundary == "periodic" {
		skip = "0"
	}
	file := strings.NewReplacer("BOUNDARY", boundary, "HIGH", high, "AXIS", axis, "LENGTH", length, "SKIP", skip, "CONDITIONS\n", text).Replace(smoothFile)
	if boundary == "periodic" { // which has no ends
		for _, term := range []string{"west", "slope", "shear"} {
			at := strings.Index(file, "  "+term+":")
			file = file[:at] + file[at+strings.Index(file[at:], "\n")+1:]
		}
	}
	return Load("a.yaml", []byte(file))
}

// S b meets the conditions, b = S b + (-1)^m λ^2m δ^2m S b between them, and b = S b + λ ∂(S b)/∂n at ends that are free, for independent differences.
func TestSmoother(t *testing.T) {
	const fourth, second = "derivative: 4, order: 6", "derivative: 2"
	for _, test := range []struct {
		boundary, high string
		order          int
		ends           [2]int // rows that are not those of the difference
		conditions     []string
	}{
		{"nodes", fourth, 4, [2]int{2, 2}, []string{"low: u - 3", "low: u_x - t", "high: u", "high: u_xx"}},
		{"nodes", fourth, 4, [2]int{2, 2}, []string{"high: 2*shear + u_xx", "low: u", "high: u_xx", "low: u_xx"}},
		{"nodes", second, 2, [2]int{1, 1}, []string{"low: u_x - 3*u", "high: slope"}},
		{"nodes", second, 2, [2]int{1, 1}, []string{"low: u_x - 3*u", "high: slope + u^2"}},
		{"nodes", second, 2, [2]int{1, 1}, []string{"high: slope - t"}},
		{"cells", second, 2, [2]int{1, 1}, nil},
		{"cells", second, 2, [2]int{1, 1}, []string{"low: west", "high: slope + 0.5*u"}},
		{"cells", fourth, 4, [2]int{2, 2}, []string{"low: west", "high: slope", "low: u_xx", "high: shear"}},
		{"periodic", fourth, 4, [2]int{}, nil},
		{"periodic", second, 2, [2]int{}, nil},
	} {
		const length = 0.3
		p, err := smoothProblem(test.boundary, test.high, "x", "0.3", test.conditions...)
		if err != nil {
			t.Fatal(err)
		}
		s := discretize(t, p, nil)
		g := s.Grid
		all, err := s.Smoothers()
		if err != nil || len(all[0]) != 1 || len(all[1]) != 0 || all[0][0].Axis != 1 {
			t.Fatalf("%v: %v, %v", test.conditions, all, err)
		}
		n, m := g.Axes[1].Points, all[0][0].Matrix
		b, w := make([]float64, n), make([]float64, n)
		random := rand.New(rand.NewPCG(1, 2))
		for i := range b {
			b[i] = random.NormFloat64()
		}
		field := make([]float64, s.FieldSize()) // w at all times and places along y
		for i := range w {
			for k, v := range b {
				w[i] += m[i*n+k] * v
			}
			for at := range g.Axes[0].Points {
				for y := range g.Axes[2].Points {
					field[(at*n+i)*g.Axes[2].Points+y] = w[i]
				}
			}
		}
		power := func(i int) float64 { // (-1)^m h^2m δ^2m w
			d := func(i int) float64 { return 2*w[(i+n)%n] - w[(i+n-1)%n] - w[(i+1)%n] }
			if test.order == 2 {
				return d(i)
			}
			return 2*d(i) - d(i-1) - d(i+1)
		}
		for i := test.ends[0]; i < n-test.ends[1]; i++ {
			if got := w[i] + math.Pow(length/g.Axes[1].Step(), float64(test.order))*power(i); math.Abs(got-b[i]) > 1e-7 {
				t.Errorf("%s %v: point %d: %g; want %g", test.boundary, test.conditions, i, got, b[i])
			}
		}
		for end, at := range [2]func(k int) float64{func(k int) float64 { return w[k] }, func(k int) float64 { return w[n-1-k] }} {
			if slices.ContainsFunc(test.conditions, func(c string) bool {
				return strings.HasPrefix(c, [2]string{"low", "high"}[end]) && !strings.Contains(c, "u^2")
			}) || test.boundary == "periodic" {
				continue
			}
			outward := (3*at(0) - 4*at(1) + at(2)) / (2 * g.Axes[1].Step())
			if got, want := at(0)+length*outward, b[end*(n-1)]; math.Abs(got-want) > 1e-9 {
				t.Errorf("%v: free end %d: %g; want %g", test.conditions, end, got, want)
			}
		}
		for k, c := range test.conditions {
			if strings.Contains(c, "u^2") {
				continue
			}
			set := s.Set(fmt.Sprintf("c%d", k))
			at, rate := make([]float64, s.InputSize()), s.NewRowValues(set, set.Points)
			given := rate.Eval(0, make([]float64, len(field)), at)[0][0]
			for _, v := range rate.Eval(0, field, at)[0][:1] {
				if math.Abs(v-given) > 1e-8 {
					t.Errorf("%v: condition %d is off by %g", test.conditions, k, v-given)
				}
			}
		}
	}
}

// Between simply supported ends, by ghost values, S divides sines by 1 + λ⁴ κ², κ the eigenvalue of -δ².
func TestSmootherSines(t *testing.T) {
	p, err := smoothProblem("nodes", `derivative: 4, closure: ghost, low: "2*inner1 - inner2", high: "2*inner1 - inner2"`, "x", "0.2", "low: u", "high: u")
	if err != nil {
		t.Fatal(err)
	}
	g, _ := p.Grid(nil)
	s, err := p.Discretize(g)
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Smoothers()
	if err != nil {
		t.Fatal(err)
	}
	n, m, h := 33, all[0][0].Matrix, g.Axes[1].Step()
	for k := 1; k < 32; k++ {
		angle := math.Pi * float64(k) / 32
		kappa := (2 - 2*math.Cos(angle)) / (h * h)
		want, got := make([]float64, n), make([]float64, n)
		for i := range want {
			want[i] = math.Sin(angle*float64(i)) / (1 + math.Pow(0.2, 4)*kappa*kappa)
			for j := range n {
				got[i] += m[i*n+j] * math.Sin(angle*float64(j))
			}
		}
		check.Close(t, got, want, 0, 1e-9)
	}
}

// Of a plate of drawn conductivity S meets the walls that are linear by constants, but those that the file leaves to rows; S falls alike along axes of fluxes and
// differences. The names of leaves are checked.
func TestSmoothLeaves(t *testing.T) {
	const plate = `
name: plate
time: none
axes: {y: {range: [0, 1], points: 9, boundary: nodes}, x: {range: [0, 2], points: 9, boundary: nodes}}
inputs: {k: {distribution: random-series, series: free, positive: exp}}
unknown: u
terms: {flow_x: {flux: k, axis: x}, flow_y: {flux: k, axis: y}, u_x: {axis: x, derivative: 1}, u_y: {axis: y, derivative: 1}}
residual: {expression: flow_x + flow_y + 1}
conditions:
  cold: {at: {x: low}, expression: u}
  air: {at: {x: high}, expression: k*u_x + u}
  closed: {at: {y: low}, expression: u_y}
  heated: {at: {y: high}, expression: u_y - 2}
`
	for _, test := range []struct{ ansatz, met, wrong string }{
		{"{smooth: {x: 0.3, y: 0.3}}", "[closed cold heated]", ""},
		{"{smooth: {x: 0.3, y: 0.3}, leaves: [heated]}", "[closed cold]", ""},
		{"{smooth: {x: 0.3}}", "[cold]", ""},
		{"{smooth: {x: 0.3}, leaves: [heated]}", "", "ansatz: leaves: heated is at no end of an axis of smooth"},
		{"{smooth: {x: 0.3}, leaves: [cool]}", "", `ansatz: leaves: "cool" is no condition`},
		{"{leaves: [cold]}", "", "ansatz: leaves: cold is at no end of an axis of smooth"},
	} {
		p, err := Load("plate.yaml", []byte(plate+"ansatz: "+test.ansatz+"\n"))
		if test.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("%s: %v; want %q", test.ansatz, err, test.wrong)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		met := slices.Sorted(slices.Values(p.SmoothMet(0)))
		if fmt.Sprint(met) != test.met {
			t.Errorf("%s meets %v, want %s", test.ansatz, met, test.met)
		}
		g, err := p.Grid(nil)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := p.Discretize(g); err != nil {
			t.Fatal(err)
		} else if all, err := s.Smoothers(); err != nil || len(all[0]) != len(p.Unknowns[0].Ansatz.Smooth) {
			t.Errorf("%s: %d smoothers, %v", test.ansatz, len(all[0]), err)
		}
	}
}

// What S cannot be is said with its place.
func TestSmoothRefused(t *testing.T) {
	const fourth = "derivative: 4"
	supported := []string{"low: u", "low: u_xx", "high: u", "high: u_xx"}
	for _, test := range []struct {
		high, axis, length string
		conditions         []string
		want               string
	}{
		{fourth, "x", "0.1", supported[:3], "high wants 2 linear conditions on the whole of each end, and there are 2 at the low and 1 at the high one"},
		{fourth, "x", "0.1", []string{"low: u", "low: u_xx + u^2", "high: u", "high: u_xx"}, "1 at the low"},
		{fourth, "x", "0.1", []string{"low: u", "low: u_xx + t*u", "high: u", "high: u_xx"}, "1 at the low"},
		{fourth, "x", "0.1", []string{"low: u", "low: u_xx + v", "high: u", "high: u_xx"}, "1 at the low"},
		{fourth, "x", "0.1", []string{"low: u", "low: u_xt", "high: u", "high: u_xx"}, "1 at the low"},
		{fourth, "x", "0.1", []string{"low: u", "low: , rows: {t: [3, 0]} | u_xx", "high: u", "high: u_xx"}, "1 at the low"},
		{fourth, "x", "0", supported, "0: want a positive length"},
		{fourth, "t", "0.1", supported, "by itself"},
		{fourth, "z", "0.1", supported, `axis "z"`},
		{fourth, "y", "0.1", supported, "no difference of even order"},
		{"derivative: 3", "x", "0.1", supported, "no difference of even order"},
	} {
		_, err := smoothProblem("nodes", test.high, test.axis, test.length, test.conditions...)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "ansatz: smooth") {
			t.Errorf("%v: want %q", err, test.want)
		}
	}
	// The same condition twice is found on the grid.
	p, err := smoothProblem("nodes", fourth, "x", "0.1", "low: u", "low: 2*u", "high: u", "high: u_xx")
	if err != nil {
		t.Fatal(err)
	}
	g, _ := p.Grid(nil)
	s, err := p.Discretize(g)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Smoothers(); err == nil || !strings.Contains(err.Error(), "do not fit the derivative") {
		t.Error(err)
	}
}
