package report

import (
	"bytes"
	"strings"
	"testing"
)

// planePage has fields over time and two axes of space, 10·t + x + y/10 in
// indices.
func planePage() Page {
	p := Page{Title: "planes", Field: "w", Methods: []Method{{Key: "moe", Label: "PI-HC-MoE", Borders: [][]float64{{0, 5}, {0, 0.5, 1}, {0, 0.5, 1}}}}}
	shape := []int{9, 6, 4}
	for a, n := range shape {
		axis := Axis{Name: []string{"t", "x", "y"}[a]}
		for i := range n {
			axis.Values = append(axis.Values, float64(i))
		}
		p.Axes = append(p.Axes, axis)
	}
	p.Axes[0].Unit = "s"
	u := make([]float64, 9*6*4)
	for i := range u {
		u[i] = 10*float64(i/24) + float64(i/4%6) + float64(i%4)/10
	}
	p.Cases = []Case{{Title: "sample", Truth: u, Predictions: [][]float64{u}}, {Title: "other", Predictions: [][]float64{nil}}}
	return p
}

func TestPlanes(t *testing.T) {
	p := planePage()
	q := p.planes()
	if len(q.Cases) != 2*planeTimes || len(q.Axes) != 2 || len(q.Methods[0].Borders) != 2 || len(p.Methods[0].Borders) != 3 {
		t.Fatalf("%d cases over %d axes", len(q.Cases), len(q.Axes))
	}
	for i, want := range []float64{2, 4, 6, 8} {
		c := q.Cases[i]
		if c.Truth[0] != 10*want || c.Predictions[0][5] != 10*want+1.1 || len(c.Truth) != 24 {
			t.Errorf("plane %d starts at %g", i, c.Truth[0])
		}
	}
	if got := q.Cases[3].Title; got != "sample, t = 8 s" {
		t.Errorf("title %q", got)
	}
	if two := samplePage(); two.planes() != &two {
		t.Error("a page over two axes changed")
	}
	p.Axes[0].Values = p.Axes[0].Values[:3]
	p.Cases[0].Truth, p.Cases[0].Predictions[0] = p.Cases[0].Truth[:72], p.Cases[0].Predictions[0][:72]
	if n := len(p.planes().Cases); n != 4 { // three times, the first of which is the initial one
		t.Errorf("%d cases of 2 samples at 3 times", n)
	}
}

func TestPlanesHTML(t *testing.T) {
	p := planePage()
	p.Cases = p.Cases[:1]
	var b bytes.Buffer
	if err := p.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"sample, t = 2 s", "sample, t = 8 s"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := len(p.Figures()); n != planeTimes {
		t.Errorf("%d figures", n)
	}
	p.Cases[0].Truth = p.Cases[0].Truth[1:]
	if err := p.WriteHTML(&b); err == nil {
		t.Error("a field of the wrong size passed")
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
