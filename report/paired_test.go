package report

import (
	"math"
	"strings"
	"testing"

	"pihc/score"
)

func TestDifferences(t *testing.T) {
	method := func(key string, errors ...float64) Method {
		m := Method{Key: key, Label: key}
		for i, e := range errors {
			s := score.NewSample(i)
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
	if d.Method != "hard" || d.Metric != "relative_l2" || d.Than != "soft" || math.Abs(d.Mean+0.1) > 1e-12 || math.Abs(d.Error-0.3/math.Sqrt(3)) > 1e-12 || d.Better != 2 || d.Of != 3 {
		t.Errorf("%+v", d)
	}
	if notes := p.differenceNotes(); len(notes) != 1 || notes[0] != "hard less soft, by sample: −10.00 ± 17.32 points (standard error), better on 2 of 3; one seed" {
		t.Errorf("%q", notes)
	}
}

// Methods that were trained on the first times alone are compared beyond them: by all times soft
// is ahead of hard here, beyond training hard of soft.
func TestComparedBeyondTraining(t *testing.T) {
	method := func(key string, all, beyond []float64) Method {
		m := Method{Key: key, Label: key}
		for i := range all {
			s := score.NewSample(i)
			s.RelativeL2, s.Persistence = all[i], 0.9
			if beyond != nil {
				s.Unseen = beyond[i]
			}
			m.Evaluation.PerSample = append(m.Evaluation.PerSample, s)
		}
		m.Evaluation.Summarize()
		return m
	}
	soft := method("soft", []float64{0.1, 0.2}, []float64{0.6, 0.4})
	hard := method("hard", []float64{0.3, 0.3}, []float64{0.1, 0.3})
	p := Page{Methods: []Method{soft, hard}, Levels: []Level{{"floor", 0.01}}}
	// Differences -0.5, -0.1: mean -0.3, variance 0.08 (divisor 1).
	got := p.Differences()
	if len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	if d := got[0]; d.Metric != "unseen_l2" || math.Abs(d.Mean+0.3) > 1e-12 || math.Abs(d.Error-0.2) > 1e-12 || d.Better != 2 {
		t.Errorf("%+v", d)
	}
	if notes := p.differenceNotes(); len(notes) != 1 || notes[0] != "hard less soft, by sample, error beyond training: −30.00 ± 20.00 points (standard error), better on 2 of 2; one seed" {
		t.Errorf("%q", notes)
	}
	// The levels are of all times, and no measure of these errors.
	const want = "On 2 initial conditions not seen in training, the mean relative L² error against the classical solution at the times beyond training is: hard\u00a020.00\u00a0%, soft\u00a050.00\u00a0%."
	if claim := p.claim(); claim != want {
		t.Errorf("claim %q, want %q", claim, want)
	}
	if f, ok := p.errorFigure(); !ok || !strings.Contains(f.Caption, "beyond training") {
		t.Errorf("box plot: %q", f.Caption)
	}
	// One that has errors, but none beyond training, is compared by those that all have.
	p.Methods[0] = method("soft", []float64{0.1, 0.2}, nil)
	if got := p.Differences(); p.BeyondTraining() || len(got) != 1 || got[0].Metric != "relative_l2" || math.Abs(got[0].Mean-0.15) > 1e-12 || got[0].Better != 0 {
		t.Errorf("%+v", got)
	}
	if claim := p.claim(); !strings.Contains(claim, "is: soft\u00a015.00\u00a0%, hard\u00a030.00\u00a0% (floor 1.00\u00a0%, persistence 90.00\u00a0%)") {
		t.Errorf("claim %q", claim)
	}
	p.Methods[0] = Method{Key: "untested", Label: "untested"} // without errors it compares with none
	if !p.BeyondTraining() {
		t.Error("a method without errors hides those of the others beyond training")
	}
	if (&Page{}).BeyondTraining() {
		t.Error("a page without methods compares them beyond training")
	}
}
