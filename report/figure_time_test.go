package report

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pihc/score"
)

// A page draws the errors over time where methods have them, with their numbers on every grid.
func TestTimeFigure(t *testing.T) {
	p := samplePage()
	p.Methods[1].Evaluation.ErrorOverTime = nil
	p.Methods[2].Evaluation.Grids = []score.Evaluation{{Grid: []int{3, 8}, ErrorOverTime: &score.ErrorOverTime{Times: []float64{5}, RelativeL2: []float64{math.Inf(1)}}}}
	f, ok := p.timeFigure()
	if !ok || !strings.Contains(f.Caption, "Relative L² error over time") || !strings.Contains(f.Caption, "on 101 × 128 points") {
		t.Fatalf("%v, %q", ok, f.Caption)
	}
	text, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	for want, has := range map[string]bool{">PI-SC<": true, ">PI-HC<": false, ">PI-HC-MoE<": true, ">t (days)<": true, ">1e−8<": false, ">10 %<": true} {
		if strings.Contains(string(text), want) != has {
			t.Errorf("%q in the drawing: %v, want %v", want, !has, has)
		}
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := p.Write(file); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), `<a href="report-figures/error_over_time.csv">Data</a>`) {
		t.Error("no link to the numbers")
	}
	numbers, err := os.ReadFile(filepath.Join(figuresOf(file), "error_over_time.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(numbers)), "\n")
	if len(lines) != 1+101+101+1 || lines[0] != "method,grid,time,relative_l2" || lines[1] != "soft,101 x 128,0,1e-08" || lines[203] != "moe,3 x 8,5,+Inf" {
		t.Errorf("%d lines: %q, %q, ... %q", len(lines), lines[0], lines[1], lines[len(lines)-1])
	}

	// Steady problems and metrics from before there were such errors have no figure.
	for i := range p.Methods {
		p.Methods[i].Evaluation.ErrorOverTime, p.Methods[i].Evaluation.Grids = nil, nil
	}
	file = filepath.Join(t.TempDir(), "report.html")
	if err := p.Write(file); err != nil {
		t.Fatal(err)
	}
	if page, err = os.ReadFile(file); err != nil || strings.Contains(string(page), "error_over_time") || strings.Contains(string(page), "error over time") {
		t.Errorf("a figure of errors over time, or %v", err)
	}
	if _, err := os.Stat(filepath.Join(figuresOf(file), "error_over_time.csv")); !os.IsNotExist(err) {
		t.Errorf("numbers of errors over time: %v", err)
	}
	// One time makes no line, and errors that no axis can show none either.
	for _, e := range []score.ErrorOverTime{{Times: []float64{1}, RelativeL2: []float64{0.1}}, {Times: []float64{1, 2, 3}, RelativeL2: []float64{0, math.Inf(1), 1e-17}}} {
		p.Methods[0].Evaluation.ErrorOverTime = &e
		if _, ok := p.timeFigure(); ok {
			t.Errorf("a drawing of %v", e)
		}
	}
}
