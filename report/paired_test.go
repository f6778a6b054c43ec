package report

import (
	"math"
	"testing"
)

func TestDifferences(t *testing.T) {
	method := func(key string, errors ...float64) Method {
		m := Method{Key: key, Label: key}
		for i, e := range errors {
			s := NewSample(i)
			s.RelativeL2 = e
			m.Evaluation.PerSample = append(m.Evaluation.PerSample, s)
		}
		return m
	}
	p := Page{Methods: []Method{method("soft", 0.3, 0.5, 0.1), method("hard", 0.2, 0.1, 0.3), method("moe", math.NaN(), 1, 1), method("short", 1)}}
	got := p.Differences()
	if len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	// Differences -0.1, -0.4, 0.2: mean -0.1, variance 0.09 (divisor 2).
	d := got[0]
	if d.Method != "hard" || d.Than != "soft" || math.Abs(d.Mean+0.1) > 1e-12 || math.Abs(d.Error-0.3/math.Sqrt(3)) > 1e-12 || d.Better != 2 || d.Of != 3 {
		t.Errorf("%+v", d)
	}
	if notes := p.differenceNotes(); len(notes) != 1 || notes[0] != "hard less soft, by sample: −10.00 ± 17.32 points (standard error), better on 2 of 3; one seed" {
		t.Errorf("%q", notes)
	}
}
