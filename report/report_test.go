package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pihc/internal/check"
	"pihc/internal/words"
	"pihc/score"
)

func TestFormats(t *testing.T) {
	for got, want := range map[string]string{
		words.Percent(0.036): "3.60 %", words.Percent(0.00021): "0.021 %", words.Percent(0): "0.00 %", words.Percent(-0.5): "−50.00 %", words.Percent(math.NaN()): "- %",
		words.Percent(3e-8): "3.00×10⁻⁶ %", words.Percent(2.45e-16): "0.00 %", words.PercentOf(0.0755, 0.081): "7.55 ± 8.10 %", words.PercentOf(0.1, math.NaN()): "10.00 %",
		words.PercentPoints(-0.0148, 0.0026): "−1.48 ± 0.26 points", words.PercentPoints(0.2316, 8.3e-4): "+23.160 ± 0.083 points", words.PercentPoints(0, 0): "+0.00 ± 0.00 points", words.PercentPoints(-1.2e-5, 9.96e-4): "−0.00 ± 0.10 points",
		words.Number(0.9999): "1.00", words.Number(12345.6): "12300", words.Number(1.2e-5): "1.20×10⁻⁵", words.Number(-7): "−7", words.Number(math.Inf(1)): "∞",
		words.Number(99999.9): "1.00×10⁵", words.Number(0.00123): "0.00123", words.Number(0): "0",
		words.Count(1234567): "1\u202f234\u202f567", words.Count(1234): "1234", words.Count(-12345): "−12\u202f345",
		words.Duration(0.0123): "12 ms", words.Duration(3.44): "3.4 s", words.Duration(59.7): "1 min 00 s", words.Duration(125): "2 min 05 s", words.Duration(4020): "1 h 07 min", words.Duration(math.NaN()): "-",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTicks(t *testing.T) {
	labels := func(ticks []string) string { return strings.Join(ticks, " ") }
	for _, c := range []struct {
		lo, hi  float64
		log     bool
		percent bool
		want    string
	}{
		{0, 1, false, false, "0 0.2 0.4 0.6 0.8 1.0"},
		{-1e-6, 1e-6, false, false, "−1.0e−6 −5e−7 0 5e−7 1.0e−6"},
		{0, 500, false, false, "0 100 200 300 400 500"},
		{3, 3, false, false, "3"},
		{1e-6, 1, true, false, "1e−6 1e−5 1e−4 1e−3 0.01 0.1 1"},
		{0.01, 0.2, true, true, "1 % 2 % 5 % 10 % 20 %"},
		{1e-12, 1, true, false, "1e−12 1e−10 1e−8 1e−6 1e−4 0.01 1"},
	} {
		ticks := linearTicks{}.Ticks(c.lo, c.hi)
		if c.log {
			ticks = logTicks{c.percent}.Ticks(c.lo, c.hi)
		}
		var got []string
		for _, k := range ticks {
			if k.Label != "" {
				got = append(got, k.Label)
			}
		}
		if labels(got) != c.want {
			t.Errorf("[%g, %g]: %s, want %s", c.lo, c.hi, labels(got), c.want)
		}
	}
}

func TestTable(t *testing.T) {
	p := samplePage()
	text := p.Table().String() + "\n" + p.RemainderTable().String() + "\n" + p.Cost.Table().String() + "\n" + p.Cost.UsesTable().String()
	check.Golden(t, "table.txt", []byte(text))
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(line); n > 160 {
			t.Errorf("%d characters: %s", n, line)
		}
		if strings.TrimRight(line, " \n") != strings.TrimRight(line, "\n") {
			t.Errorf("trailing blanks in %q", line)
		}
	}
}

// TestVendored pins the files of npm uplot 1.6.32.
func TestVendored(t *testing.T) {
	for name, want := range map[string]string{
		"uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
		"uPlot.min.css":     "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
		"LICENSE":           "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
	} {
		sum := sha256.Sum256([]byte(asset("uplot/" + name)))
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s has SHA-256 %s", name, got)
		}
	}
}

func TestPageIsSelfContained(t *testing.T) {
	dir := t.TempDir()
	p := samplePage()
	p.Title = `<img src=x onerror=alert(1)> & "quotes"`
	path := filepath.Join(dir, "new", "a: b.html") // a colon would end a scheme in a link
	if err := p.Write(path); err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := string(src)
	if m := regexp.MustCompile(`(?i)<link|@import|(src|href)="?(https?:)?//|url\(\s*["']?(https?:)?//|fetch\(|XMLHttpRequest`).FindString(page); m != "" {
		t.Errorf("the page refers to something outside: %s", m)
	}
	if strings.Contains(page, "<img src=x") || strings.Contains(page, `<script>alert("&")`) {
		t.Error("text is not escaped")
	}
	if strings.Contains(page, "ZgotmplZ") {
		t.Error("the template refused a value")
	}
	for _, want := range []string{"85.93 ± 5.07 %", "PI-HC-MoE", "interpolation in u₀", "modes: [8, 8]", "u<sub>xx</sub>", "var(--m2)", "converged 198", "Permission is hereby granted"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	for _, c := range append(series, ink, muted, rule) {
		for _, alpha := range []uint8{0xff, 0x80, 0x48} {
			if h := "fill:" + hexOf(faded(c, alpha)); strings.Contains(page, h) {
				t.Errorf("%s does not follow the colour scheme", h)
			}
		}
	}
	if n := len(src); n > 3<<20 {
		t.Errorf("the page has %d bytes", n)
	}
	if !strings.Contains(page, `-figures/cost.csv">Data`) {
		t.Error("no link to the numbers of the comparison")
	}
	cost, err := os.ReadFile(filepath.Join(figuresOf(path), "cost.csv"))
	if want := "hard,,32,0.062,0.012,,2500,64,638404\n"; err != nil || !strings.Contains(string(cost), want) || strings.Count(string(cost), "\n") != 1+len(p.Cost.Methods)+len(p.Cost.Classical) {
		t.Errorf("cost.csv: %v: %s", err, cost)
	}
	for _, f := range p.figures() {
		for _, ext := range []string{".png", ".svg"} {
			if info, err := os.Stat(filepath.Join(figuresOf(path), f.Name+ext)); err != nil || info.Size() < 500 {
				t.Errorf("figure %s%s: %v", f.Name, ext, err)
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*", ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestSparsePages: parts that are missing are left out, and odd numbers do no harm.
func TestSparsePages(t *testing.T) {
	full := samplePage()
	nan := math.NaN()
	noTruth := samplePage()
	for i := range noTruth.Cases {
		noTruth.Cases[i].Truth = nil
		noTruth.Cases[i].Predictions[1] = nil
	}
	odd := samplePage()
	odd.Cases[0].Truth[5], odd.Cases[0].Predictions[0][7] = nan, math.Inf(1)
	odd.Cases[1].Predictions[2] = make([]float64, len(odd.Cases[1].Truth))
	odd.Methods[0].Curves = []Series{{Name: "Loss", Steps: []float64{1, 2, 3}, Values: []float64{nan, -1, math.Inf(1)}}, {Name: "One", Steps: []float64{1}, Values: []float64{4}}}
	odd.Methods[1].Evaluation.PerSample = []score.Sample{score.NewSample(0)}
	odd.Methods[1].Evaluation.Summarize()
	for name, p := range map[string]Page{
		"empty":     {Title: "nothing yet"},
		"one":       {Title: "one", Methods: full.Methods[:1]},
		"training":  {Title: "t", Methods: []Method{{Label: "soft", Curves: full.Methods[0].Curves}}},
		"odd":       odd,
		"no truth":  noTruth,
		"constant":  {Title: "c", Methods: full.Methods[:1], Axes: full.Axes, Cases: []Case{{Title: "0", Truth: make([]float64, 101*128), Predictions: [][]float64{make([]float64, 101*128)}}}},
		"baselines": {Title: "b", Baselines: full.Baselines},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := p.writeHTML(&b, ""); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(b.String(), "NaN") && strings.Contains(b.String(), `="NaN`) {
				t.Error("NaN in a drawing")
			}
			for _, f := range p.figures() {
				if _, err := f.png(40); err != nil {
					t.Error(err)
				}
			}
			if p.Table().String() == "" || len(p.Methods) > 0 && (p.RemainderTable() == nil || p.claim() == "" && p.Methods[0].Evaluation.RelativeL2 != nil) {
				t.Error("no table")
			}
		})
	}
	bad := samplePage()
	bad.Cases[1].Predictions[0] = bad.Cases[1].Predictions[0][1:]
	if err := bad.Write(filepath.Join(t.TempDir(), "r.html")); err == nil || !strings.Contains(err.Error(), "u₀ = 0.11") {
		t.Errorf("a field of the wrong size: %v", err)
	}
	bad = samplePage()
	bad.Axes = bad.Axes[:1]
	if err := bad.Write(filepath.Join(t.TempDir(), "r.html")); err == nil {
		t.Error("one axis is accepted")
	}
}

// TestFigures compares drawings with those of testdata; rewrite them with
// go test -regenerate and look at the difference. Machines may round the last
// bit of a coordinate differently, so a few pixels at edges may differ.
func TestFigures(t *testing.T) {
	plain, planes := samplePage(), planePage()
	for prefix, p := range map[string]*Page{"": &plain, "plane_": &planes} {
		for _, f := range p.figures() {
			if f.Name == "case_2" || f.Name == "case_3" || f.Name == "validation_residual" || prefix != "" && f.Name == "errors" {
				continue
			}
			got, err := f.png(72)
			if err != nil {
				t.Fatal(err)
			}
			compareImage(t, prefix+f.Name+".png", got)
			if f.Name != "validation_error" {
				continue
			}
			text, err := f.SVG()
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range p.errorLevels() {
				if !bytes.Contains(text, []byte(">"+l.Label+"<")) {
					t.Errorf("%s%s does not name its line %q", prefix, f.Name, l.Label)
				}
			}
		}
	}
}

// compareImage compares a PNG image with that of testdata, up to a few pixels.
func compareImage(t *testing.T, name string, got []byte) {
	t.Helper()
	if check.Regenerating() {
		check.Golden(t, name, got)
		return
	}
	want, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatalf("%v (write it with go test -regenerate)", err)
	}
	mean, share, err := imageDifference(got, want)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	} else if mean > 0.003 || share > 0.01 {
		t.Errorf("%s: mean difference %.2g of full scale, %.2g of the pixels differ clearly", name, mean, share)
	}
}

// TestFiguresDiffer: the comparison of TestFigures sees a different drawing.
func TestFiguresDiffer(t *testing.T) {
	a, err := os.ReadFile("testdata/training_loss.png")
	if err != nil {
		t.Fatal(err)
	}
	p := samplePage()
	p.Methods[2].Curves[0].Values = p.Methods[1].Curves[0].Values
	b, err := p.curveFigure(p.curves()[0]).png(72)
	if err != nil {
		t.Fatal(err)
	}
	if mean, share, err := imageDifference(a, b); err != nil || mean < 0.003 && share < 0.01 {
		t.Errorf("mean difference %g, share %g, %v", mean, share, err)
	}
}

// imageDifference returns the mean absolute difference of two PNG images of one
// size as a fraction of full scale, and the share of clearly different pixels.
func imageDifference(a, b []byte) (mean, share float64, err error) {
	x, err := png.Decode(bytes.NewReader(a))
	if err != nil {
		return 0, 0, err
	}
	y, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return 0, 0, err
	}
	if x.Bounds() != y.Bounds() {
		return 0, 0, &sizeError{x.Bounds(), y.Bounds()}
	}
	size := x.Bounds().Size()
	for i := range size.X {
		for j := range size.Y {
			r, g, b, _ := x.At(i, j).RGBA()
			s, h, c, _ := y.At(i, j).RGBA()
			d := (math.Abs(float64(r)-float64(s)) + math.Abs(float64(g)-float64(h)) + math.Abs(float64(b)-float64(c))) / 3 / 65535
			mean += d
			if d > 0.1 {
				share++
			}
		}
	}
	pixels := float64(size.X * size.Y)
	return mean / pixels, share / pixels, nil
}

type sizeError struct{ got, want image.Rectangle }

func (e *sizeError) Error() string { return "size " + e.got.String() + ", want " + e.want.String() }

func TestColorMaps(t *testing.T) {
	if len(viridis) != 256 || viridis.at(0) != viridis[0] || viridis.at(1) != viridis[255] || viridis.at(-3) != viridis[0] || viridis.at(9) != viridis[255] {
		t.Error("viridis")
	}
	// Brightness must rise all the way: that is what makes the map readable in grey.
	last := -1.0
	for _, c := range viridis {
		y := 0.2126*float64(c.R) + 0.7152*float64(c.G) + 0.0722*float64(c.B)
		if y <= last-0.5 {
			t.Fatalf("brightness falls at %v", c)
		}
		last = y
	}
	mid := diverging.at(0.5)
	if d := int(mid.R) - int(mid.B); d < -12 || d > 12 {
		t.Errorf("zero is not grey: %v", mid)
	}
}

func TestAverage(t *testing.T) {
	data := make([]float64, 500*300)
	for i := range data {
		data[i] = float64(i/300) + 1000*float64(i%300)
	}
	out, n, m := average(data, 500, 300, 100)
	if n != 100 || m != 100 || math.Abs(out[0]-(2+1000*1)) > 1e-9 || math.Abs(out[n*m-1]-(497+1000*298)) > 1e-6 {
		t.Errorf("%d x %d: %g ... %g", n, m, out[0], out[n*m-1])
	}
}

// systemPage is samplePage of two unknowns and residuals.
func systemPage() Page {
	p := samplePage()
	for i := range p.Methods {
		e := &p.Methods[i].Evaluation
		for k := range e.PerSample {
			e.PerSample[k].Unknowns = map[string]float64{"v": 0.25, "u": 0.125}
			e.PerSample[k].Residuals = map[string]float64{"first": 3}
		}
		e.Summarize()
	}
	other := p.Cases[0]
	other.Field = "v"
	p.Cases = []Case{p.Cases[0], other}
	return p
}

// A page of two unknowns has their errors side by side, and a case for each.
func TestSeveralUnknowns(t *testing.T) {
	p := systemPage()
	var table, page strings.Builder
	p.Table().WriteTo(&table)
	p.RemainderTable().WriteTo(&table)
	for _, want := range []string{"error in u", "error in v", "12.5", "25.0", "rms of first"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("no %q in\n%s", want, table.String())
		}
	}
	if err := p.writeHTML(&page, ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"value":"v"`, "error in v"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page has no %s", want)
		}
	}
	rows := p.sampleRows()
	at := slices.Index(rows[0], "relative_l2_v")
	if at < 0 || rows[1][at] != "0.25" || len(rows[len(rows)-1]) != len(rows[0]) {
		t.Errorf("columns %v", rows[0])
	}
}
