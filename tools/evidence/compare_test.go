package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Mean and standard error are those of the laboratory notes, which another program computed from
// the samples; the interval is that by printed tables of Student's t, and p its closed form for two
// degrees of freedom, 1 - t/√(t² + 2).
func TestCompare(t *testing.T) {
	runs, err := readRuns(filepath.Join("..", "..", "docs", "runs", "runs.csv"))
	if err != nil {
		t.Fatal(err)
	}
	tables := map[int]float64{2: 4.3027, 4: 2.7764}
	for _, c := range []struct {
		a, b        string
		temporal    bool
		mean, error float64 // in percentage points, as printed
	}{
		{"diffusion-sorption-demo hard", "diffusion-sorption-demo soft", false, -0.27, 0.03},
		{"diffusion-sorption-small hard", "diffusion-sorption-small soft", false, -0.34, 0.17},
		{"diffusion-sorption-small moe", "diffusion-sorption-small hard", false, 0.035, 0.054},
		{"diffusion-sorption-published-256 moe", "diffusion-sorption-published-256 soft", false, 0.37, 0.07},
		{"navier-stokes-small hard", "navier-stokes-small soft", false, -0.864, 0.027},
		{"navier-stokes-small moe-one-pass", "navier-stokes-small hard-one-pass", false, 0.25, 0.04},
		{"navier-stokes-demo moe-one-pass", "navier-stokes-demo hard-one-pass", false, 1.35, 0.12},
		{"diffusion-sorption-demo-temporal moe", "diffusion-sorption-demo-temporal soft", true, 0.2, 1.4},
	} {
		s := set{}
		if c.temporal {
			s.table = "-temporal"
		}
		got, err := compare(s.bySeed(runs[c.a]), s.bySeed(runs[c.b]))
		if err != nil {
			t.Fatal(err)
		}
		digit := 0.006
		if c.temporal {
			digit = 0.06
		}
		quantile := tables[got.n-1]
		e := (got.high - got.low) / 2 / quantile
		if math.Abs(got.mean-c.mean) > digit || math.Abs(e-c.error) > digit {
			t.Errorf("%s less %s: %+.3f with an error of %.3f, want %+.3f and %.3f", c.a, c.b, got.mean, e, c.mean, c.error)
		}
		if x := math.Abs(got.mean) / e; got.n == 3 && math.Abs(got.p-(1-x/math.Sqrt(x*x+2))) > 1e-4*got.p+1e-6 {
			t.Errorf("%s less %s: p = %g, want %g", c.a, c.b, got.p, 1-x/math.Sqrt(x*x+2))
		}
	}
}

func TestCompareRefusesOtherSeeds(t *testing.T) {
	one := map[string]float64{"0": 1, "1": 2}
	for _, other := range []map[string]float64{{"0": 1, "2": 2}, {"0": 1}, {"0": 1, "1": 2, "2": 3}} {
		if c, err := compare(one, other); err == nil {
			t.Errorf("seeds of %v were paired with those of %v: %v", one, other, c)
		}
	}
	// of one seed nothing follows
	if c, err := compare(map[string]float64{"0": 1}, map[string]float64{"0": 2}); err != nil || c.p != 1 || !math.IsInf(c.high, 1) {
		t.Errorf("one seed: %v, %v", c, err)
	}
}

// The steps of Holm's procedure on a small family by hand: 0.05/4 = 0.0125, 0.05/3 = 0.0167, 0.05/2, 0.05.
func TestHolm(t *testing.T) {
	for _, c := range []struct {
		p    []float64
		want []bool
	}{
		{[]float64{0.01, 0.04, 0.03, 0.005}, []bool{true, false, false, true}},
		{[]float64{0.013, 0.001, 0.001, 0.02}, []bool{true, true, true, true}},
		{[]float64{0.02, 0.02, 0.02, 0.02}, []bool{false, false, false, false}}, // each alone would
		{[]float64{0.04}, []bool{true}},
		{nil, nil},
	} {
		family := make([]comparison, len(c.p))
		for i, p := range c.p {
			family[i].p = p
		}
		if got := holm(family); !slices.Equal(got, c.want) && len(c.p) > 0 {
			t.Errorf("%v: %v, want %v", c.p, got, c.want)
		}
	}
}

// Holm's test of families by themselves and together, by hand: with two degrees of freedom p = 1 - t/√(t² + 2), so that seeds m - 0.01, m and m + 0.01 apart
// have the p stated. Of two, 0.02 and 0.03 are within 0.025 and 0.05; of four, after 0.001, 0.02 is not within 0.05/3.
func TestDecided(t *testing.T) {
	folder := t.TempDir()
	runs, lines := "table,method,seed,relative_l2,worst,std,median,unseen_l2,relative_residual,truth_residual,passes\n", "family,problem,what,a,b\n"
	for _, c := range []struct {
		family, method string
		m              float64
	}{{"", "base", 0}, {"a", "p0.04", 0.027994}, {"b", "p0.02", 0.040209}, {"b", "p0.03", 0.032579}, {"c", "p0.001", 0.182437}} {
		for seed := range 3 {
			apart := 0.0
			if c.family != "" {
				apart = c.m + 0.01*float64(seed-1)
			}
			runs += fmt.Sprintf("t,%s,%d,%g,,,,,,,\n", c.method, seed, 1+apart)
		}
		if c.family != "" {
			lines += fmt.Sprintf("%s,,,runs t %s,runs t base\n", c.family, c.method)
		}
	}
	for name, text := range map[string]string{"runs.csv": runs, "comparisons.csv": lines} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		"decided a a": "1", "decided b b": "2", "decided all a b": "0", "decided all a b c": "1", "decided c a b c": "1", "decided b a b c": "0", "compared a b c": "4",
	} {
		if got, err := figure(folder, text); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"decided a b", "decided all d", "compared a d"} {
		if got, err := figure(folder, text); err == nil {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// The ratio of errors that are 2, 4 and 8 times others is their geometric mean, with the interval of the logarithms' t.
func TestRatioTable(t *testing.T) {
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "ratios"), 0o777); err != nil {
		t.Fatal(err)
	}
	text := "problem,arm,seed,mean\np,a,1,0.02\np,a,2,0.04\np,a,3,0.08\np,b,1,0.01\np,b,2,0.01\np,b,3,0.01\n"
	if err := os.WriteFile(filepath.Join(folder, "ratios", "x.csv"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := ratioTable(folder, "x mean")
	// log 2 is the standard deviation, 4.3027 the quantile, 1.7219 = 4.3027 log 2 / √3 the half width: 4 e^∓1.7219.
	if want := "| p | a, b | 3 | 4.67 %, 1 % | 4 (0.715 to 22.4) | 0.074 |\n"; err != nil || !strings.HasSuffix(got, want) {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

// A figure of a file is the mean of the lines that match, in the unit asked for; what is not there is an error.
func TestCellFigure(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "x.csv"), []byte("arm,seed,error,samples\na,1,0.02,8\na,2,0.04,8\nb,1,0.5,32\nc,1,-0.0003,6\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "y.csv"), []byte("arm,seed,e\na,1,0.02\na,2,0.04\nb,2,0.02\nb,1,0.02\nc,1,0.5\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "z.json"), []byte(`{"a": [1, {"b":0.25}]}`), 0o666); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"cell x.csv 100*error arm=a": "3.00", "cell x.csv error arm=b seed=1": "0.500", "cell x.csv seed arm=a": "1.50", "cell x.csv samples arm=b": "32", "cell x.csv 100*error arm=c": "-0.0300",
		"lowest x.csv 100*error:2 seed<3": "-0.030", "highest x.csv error:1 samples<10": "0.04", "count x.csv error>0.03": "2", "count x.csv error>1": "0", `quotient x.csv error "arm=b" / arm=a`: "16.7",
		"difference y.csv e arm=a / arm=b":    "+1.0 (-11.7 to +13.7)",
		"median-of x.csv samples:2 error<0.1": "8.0", "json z.json 100:2 a 1 b": "25", "number z.json 2:1 b.:([0-9.]+)": "0.5",
	} {
		if got, err := figure(folder, text); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"cell x.csv error arm=d", "cell x.csv other arm=a", "cell x.csv error other=a", "cell z.csv error arm=a", "json z.json 1 a 2", "json z.json 1 a", "number z.json 1 (a)", "difference y.csv e arm=a / arm=c", "difference y.csv e seed>0 / arm=b", "cell x.csv error arm", "count x.csv arm=d error>0", "count x.csv other>0", "count x.csv error>a", "quotient x.csv error arm=a arm=b"} {
		if got, err := figure(folder, text); err == nil {
			t.Errorf("%s: %q", text, got)
		}
	}
}
