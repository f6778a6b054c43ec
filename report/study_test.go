package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func sampleStudy() Study {
	table := &Table{Title: "Times", Columns: []Column{{"points", true}, {"PI-HC", true}}, Notes: []string{"two cores"}}
	table.Add("100", "1 < 2 ms")
	return Study{
		Title: "Scaling", Summary: []string{"What is seen."}, Tables: []*Table{table}, Generated: "today",
		Charts: []Chart{{Name: "time", Caption: "Time of a step", X: "points", Y: "s", LogX: true, LogY: true, Lines: []ChartLine{
			{Label: "PI-HC", Color: 1, X: []float64{100, 1000, 1e4}, Y: []float64{0.1, 0.3, 1}, Marks: true},
			{Label: "PI-HC-MoE", Color: 2, X: []float64{100, 1000, 1e4}, Y: []float64{0.1, 0, 0.5}, Dashed: true},
		}}},
	}
}

func TestStudy(t *testing.T) {
	dir := t.TempDir()
	path, err := new(sampleStudy()).Write(dir, "scaling")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<h1>Scaling</h1>", "1 &lt; 2 ms", "<svg viewBox=", "Time of a step.", "two cores"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q", want)
		}
	}
	for _, name := range []string{"time.png", "time.svg"} {
		if s, err := os.Stat(filepath.Join(figuresOf(path), name)); err != nil || s.Size() < 1000 {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	numbers, err := os.ReadFile(filepath.Join(figuresOf(path), "time.csv"))
	if want := "line,points,s\nPI-HC,100,0.1\n"; err != nil || !strings.HasPrefix(string(numbers), want) {
		t.Errorf("%q, %v", numbers, err)
	}
}
