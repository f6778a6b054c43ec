package report

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// givenPage is samplePage, or planePage, with a field among the inputs of its first sample.
func givenPage(p Page) Page {
	size := 1
	for _, a := range p.Axes {
		size *= len(a.Values)
	}
	values := make([]float64, size)
	for i := range values {
		values[i] = 100 + 5*math.Sin(float64(i)/40)
	}
	p.Cases[0].Inputs = []CaseInput{{Name: "a", Values: values}}
	return p
}

// A field that a sample is given is drawn before the rest on a scale of its own, and is among
// the numbers of the drawing.
func TestCaseInputs(t *testing.T) {
	p := givenPage(samplePage())
	in := p.Cases[0].Inputs[0].Values
	cases := p.payload().Cases
	if len(cases[0].Inputs) != 1 || cases[1].Inputs != nil {
		t.Fatalf("inputs of cases: %v, %v", cases[0].Inputs, cases[1].Inputs)
	}
	got := cases[0].Inputs[0]
	raw, err := base64.StdEncoding.DecodeString(got.Data)
	if err != nil || got.Label != "a" || got.Lo != slices.Min(in) || got.Hi != slices.Max(in) {
		t.Errorf("%v, %s of %g to %g", err, got.Label, got.Lo, got.Hi)
	}
	if first := math.Float32frombits(binary.LittleEndian.Uint32(raw)); first != float32(in[0]-got.Lo) {
		t.Errorf("the first value is %g above the lowest, want %g", first, in[0]-got.Lo)
	}
	if cases[0].Hi > 10 {
		t.Errorf("the scale of the solution goes to %g: that of the input", cases[0].Hi)
	}
	names := []string{}
	for _, a := range p.caseArrays(p.Cases[0]) {
		names = append(names, a.Name)
	}
	if want := []string{"t", "x", "input_a", "reference"}; !slices.Equal(names[:4], want) {
		t.Errorf("arrays %v, want %v first", names, want)
	}
	with, without := p.caseFigure("", p.Cases[0]), p.caseFigure("", p.Cases[1])
	if columns := len(p.Methods) + 1; with.Width*vg.Length(columns) != without.Width*vg.Length(columns+1) {
		t.Errorf("a drawing of %g points with an input, %g without", with.Width, without.Width)
	}
	if !strings.Contains(with.Caption, "inputs") || strings.Contains(without.Caption, "inputs") {
		t.Errorf("captions %q, %q", with.Caption, without.Caption)
	}
	if _, err := with.png(60); err != nil {
		t.Error(err)
	}

	planes := givenPage(planePage())
	rows := planes.shown(planes.Cases[0])
	if r := rows[0]; r.of != "a" || r.lo < 90 || r.hi < 104 || rows[1].of == "a" {
		t.Errorf("rows of planes: %q from %g to %g, then %q", r.of, r.lo, r.hi, rows[1].of)
	}
	if _, err := planes.planeFigure("", planes.Cases[0]).png(60); err != nil {
		t.Error(err)
	}

	p.Cases[0].Inputs[0].Values = in[1:]
	if err := p.Write(filepath.Join(t.TempDir(), "r.html")); err == nil || !strings.Contains(err.Error(), p.Cases[0].Title) {
		t.Errorf("an input of the wrong size: %v", err)
	}
}

// Fields that vary little about a mean keep their differences, and a persistence that is infinite leaves the page without its level.
func TestPayloadOfOffsets(t *testing.T) {
	p := samplePage()
	c := &p.Cases[0]
	for i := range c.Truth {
		c.Truth[i] += 101325
		for _, u := range c.Predictions {
			if u != nil {
				u[i] = c.Truth[i] + 1e-3
			}
		}
	}
	for i := range p.Methods {
		p.Methods[i].Evaluation.Persistence.Mean = math.Inf(1)
	}
	payload := p.payload()
	if _, err := json.Marshal(payload); err != nil {
		t.Fatal(err)
	}
	fields := payload.Cases[0].Fields
	raw, err := base64.StdEncoding.DecodeString(fields[1].Data)
	if err != nil {
		t.Fatal(err)
	}
	for ; len(raw) > 0; raw = raw[4:] {
		if d := math.Float32frombits(binary.LittleEndian.Uint32(raw)); math.Abs(float64(d)-1e-3) > 1e-9 {
			t.Fatalf("a difference of %g, want 1e-3", d)
		}
	}
	for want, u := range map[[2]float64][]float64{{0, 2e-12}: {1e-12, 1e-12}, {-6, 0}: {-3}, {0, 1}: {0, 0}, {1, 2}: {1, 2}} {
		if lo, hi := scaleOf(u); lo != want[0] || hi != want[1] {
			t.Errorf("%v: a scale from %g to %g, want %v", u, lo, hi, want)
		}
	}
}
