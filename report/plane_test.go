package report

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg/draw"

	"pihc/internal/check"
	"pihc/score"
)

func TestRoundTimes(t *testing.T) {
	axis := func(hi float64, n int) FieldAxis {
		a := FieldAxis{Name: "t"}
		for i := range n {
			a.Values = append(a.Values, hi*float64(i)/float64(n-1))
		}
		return a
	}
	for _, c := range []struct {
		axis FieldAxis
		want []float64
	}{
		{axis(5, 11), []float64{1, 2, 3, 4, 5}},
		{axis(5, 6), []float64{1, 2, 3, 4, 5}},
		{axis(500, 101), []float64{100, 200, 300, 400, 500}},
		{axis(1, 21), []float64{0.2, 0.4, 0.6, 0.8, 1}},
		{axis(0.03, 31), []float64{0.005, 0.01, 0.015, 0.02, 0.025, 0.03}},
		{axis(5, 3), []float64{2.5, 5}},
		{axis(5, 2), []float64{5}},
		{FieldAxis{Name: "t", Values: []float64{3}}, []float64{3}},
	} {
		var got []float64
		for _, i := range roundTimes(c.axis) {
			got = append(got, c.axis.Values[i])
		}
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
			t.Errorf("%d times up to %g: %v, want %v", len(c.axis.Values), c.axis.Values[len(c.axis.Values)-1], got, c.want)
		}
	}
	// 64 times do not hit whole seconds: the nearest are taken.
	for k, i := range roundTimes(axis(5, 64)) {
		if got := 5 * float64(i) / 63; math.Abs(got-float64(k+1)) > 2.5/63 {
			t.Errorf("time %g for %d", got, k+1)
		}
	}
}

// Cubic convolution: exact at points and for straight lines, of third order for a
// smooth field, and right in orientation.
func TestRaster(t *testing.T) {
	axis := func(n int, periodic bool) FieldAxis {
		a := FieldAxis{Periodic: periodic}
		for i := range n {
			a.Values = append(a.Values, float64(i)/float64(n))
		}
		return a
	}
	wave := func(n int) (u []float64) {
		for i := range n {
			for j := range n {
				u = append(u, math.Sin(2*math.Pi*float64(i)/float64(n))+math.Cos(2*math.Pi*float64(j)/float64(n)))
			}
		}
		return u
	}
	const pixels = 60
	worst := func(n int) (e float64) {
		for k, v := range raster(wave(n), axis(n, true), axis(n, true), pixels, pixels) {
			x, y := (float64(k%pixels)+0.5)/pixels, 1-(float64(k/pixels)+0.5)/pixels
			e = max(e, math.Abs(v-math.Sin(2*math.Pi*x)-math.Cos(2*math.Pi*y)))
		}
		return e
	}
	if a, b := worst(10), worst(20); a > 0.05 || b > a/6 {
		t.Errorf("errors %g and %g of 10 and 20 points", a, b)
	}
	line := []float64{0, 1, 2, 3, 10, 11, 12, 13} // x/step*10 + y/step on 2 x 4 points
	got := raster(line, axis(2, false), axis(4, false), 2, 4)
	if want := []float64{3, 13, 2, 12, 1, 11, 0, 10}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Colours belong to methods, not to places.
func TestColorsFollowMethods(t *testing.T) {
	method := func(name string) Method { return Method{Evaluation: score.Evaluation{Method: name}} }
	p := Page{Methods: []Method{method("moe"), method("hard"), method("soft"), method("hard"), method("moe")}}
	for i, want := range []int{2, 1, 0, 3, 4} {
		if got := p.colorOf(i); got != want {
			t.Errorf("method %d has colour %d, want %d", i, got, want)
		}
	}
	for range 20 {
		p.Methods = append(p.Methods, method("moe"))
	}
	for i := range p.Methods {
		if c := p.colorOf(i); c >= len(series) || i > 2 && c < 3 {
			t.Errorf("method %d has colour %d", i, c)
		}
	}
}

func TestGridTables(t *testing.T) {
	p := planePage()
	check.Golden(t, "grids.txt", []byte(p.GridTable().String()))
	for i := range p.GridTable().Rows { // of a page, the third of a method is of its own grid
		h := p.GridTable().head(i)
		if (h.Note != "") != (i%3 == 2 && i < 9) || (h.Color < 0) != (i >= 9) {
			t.Errorf("row %d: %+v", i, h)
		}
	}
	p.Methods[0].Evaluation.Grids[0].Grid[0] = 21
	if got := p.gridLabel(p.grids()[0]); got != "21 × 96 × 96" {
		t.Errorf("label %q of a grid with other times", got)
	}
	if one := samplePage(); one.GridTable() != nil {
		t.Error("a table of one grid")
	}
}

// Where a grid has fewer samples than the page's own, tables and the caption of the figure say so.
func TestFewerSamplesOnGrids(t *testing.T) {
	p := planePage()
	if f, ok := p.gridFigure(); !ok || strings.Contains(f.Caption, "only the first") {
		t.Errorf("%v, %q", ok, f.Caption)
	}
	for i := range p.Methods {
		for k, n := range []int{4, 20} { // on 96 × 96 and 48 × 48
			g := &p.Methods[i].Evaluation.Grids[k]
			g.PerSample = g.PerSample[:n]
			g.Summarize()
		}
	}
	var got []string
	for _, row := range p.GridTable().Rows[:3] {
		got = append(got, row[1]+": "+row[2])
	}
	if want := []string{"96 × 96: the first 4", "48 × 48: the first 20", "24 × 24: 60"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if f, ok := p.gridFigure(); !ok || !strings.HasSuffix(f.Caption, "; on 96 × 96 only the first 4 samples; on 48 × 48 only the first 20 samples") {
		t.Errorf("%v, %q", ok, f.Caption)
	}
}

func TestPlanesHTML(t *testing.T) {
	p := planePage()
	dir := t.TempDir()
	path := filepath.Join(dir, "report.html")
	if err := p.Write(path); err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"test sample 4", "t = 5 s", "96 × 96", "its training grid", "kinetic energy",
		`<a href="report-figures/case_1.npz">Data</a>`,
	} {
		if !strings.Contains(string(src), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(string(src), "ZgotmplZ") {
		t.Error("the template refused a value")
	}
	for _, name := range []string{"case_1.png", "spectrum.svg", "errors_by_grid.svg"} {
		if _, err := os.Stat(filepath.Join(figuresOf(path), name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.Cases[0].Truth = p.Cases[0].Truth[1:]
	if err := p.Write(path); err == nil {
		t.Error("a field of the wrong size passed")
	}
	p = planePage()
	for i := range p.Methods {
		p.Methods[i].Evaluation.Spectra = nil
	}
	var b bytes.Buffer
	if err := p.writeHTML(&b, ""); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "kinetic") {
		t.Error("a spectrum of nothing")
	}
	p.Methods[1].Evaluation.Spectra = planePage().Methods[1].Evaluation.Spectra
	p.Methods[1].Evaluation.Spectra.Quantity = "power"
	if f, ok := p.spectrumFigure(); !ok || !strings.Contains(f.Caption, "power of w") || !strings.Contains(f.Caption, "24 × 24") {
		t.Errorf("%v %s", ok, f.Caption)
	}
}

// Where no initial condition has a mean, errors are not drawn over it.
func TestInitialFigureNeedsMeans(t *testing.T) {
	p := samplePage()
	if _, ok := p.initialFigure(); !ok {
		t.Error("no figure of errors over means")
	}
	for _, m := range p.Methods {
		for i := range m.Evaluation.PerSample {
			m.Evaluation.PerSample[i].InitialMean = 1e-17
		}
	}
	if _, ok := p.initialFigure(); ok {
		t.Error("errors are drawn over means that are rounding")
	}
}

// The drawing of a case makes room for the longest name of a method.
func TestPlaneLabelsFit(t *testing.T) {
	p := planePage()
	narrow := p.planeFigure("case", p.Cases[0]).Width
	p.Methods[0].Label = "PI-HC (1 expert, 10 000 points), one pass"
	text := textStyle(labelSize, ink, draw.XRight, draw.YCenter).Width(p.Methods[0].Label)
	if grown := p.planeFigure("case", p.Cases[0]).Width - narrow; grown < text-54 {
		t.Errorf("a label of %.0f points got %.0f more than the 54 there are", text, grown)
	}
}
