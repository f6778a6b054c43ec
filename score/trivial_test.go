package score

import (
	"math"
	"strings"
	"testing"

	"pihc/engine"
)

// A method is compared with the best trivial prediction, by its error and by its loss; the
// loss of one that the ansatz cannot give says nothing.
func TestUnbeaten(t *testing.T) {
	one := func(v float64) *Summary { return &Summary{Mean: v} }
	trivial := func(outside bool) []engine.Trivial {
		return []engine.Trivial{
			{Name: "zero", Losses: []float64{0}, Errors: []float64{1}, OutsideAnsatz: outside},
			{Name: "persistence", Losses: []float64{2}, Errors: []float64{0.5}},
		}
	}
	for _, c := range []struct {
		err     *Summary
		loss    float64
		outside bool
		want    string
	}{
		{one(0.4), 1, true, ""},
		{one(0.4), 1, false, "this run does not beat zero: loss 1 against 0"},
		{one(0.4), 0, false, ""}, // a control, whose rows have no weight
		{one(0.4), 3, true, "this run does not beat persistence: loss 3 against 2"},
		{one(0.6), 1, true, "this run does not beat persistence: relative_l2 60.00 % against 50.00 %"},
		{nil, 1, true, ""},
	} {
		e := Evaluation{RelativeL2: c.err}
		e.compare([]float64{c.loss}, trivial(c.outside))
		if e.Unbeaten != c.want {
			t.Errorf("error %v, loss %g, outside %v: %q, want %q", c.err, c.loss, c.outside, e.Unbeaten, c.want)
		}
		if note := e.TrivialNote(); (note != "") != c.outside {
			t.Errorf("outside %v: note %q", c.outside, note)
		}
	}
}

func TestGridNote(t *testing.T) {
	one := func(v float64) *Summary { return &Summary{Median: v} }
	for _, c := range []struct {
		own, truth *Summary
		want       string
	}{
		{one(0.012), one(0.031), "(1.20 % against 3.10 % in the median)"},
		{one(0.031), one(0.012), ""},
		{one(0.01), one(0.01), ""},
		{one(math.NaN()), one(0.01), ""},
		{one(0.01), nil, ""},
		{nil, nil, ""},
	} {
		e := Evaluation{Verdict: Trusted, RelativeL2: &Summary{}, RelativeResidual: c.own, TruthResidual: c.truth}
		if got := e.GridNote(); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%v against %v: %q", c.own, c.truth, got)
		}
	}
}

// Nothing is said of the grid of a run that is not trusted, where conditions do not hold, or a prediction without training is
// nearly as good.
func TestGridNoteOfHeldOnly(t *testing.T) {
	mean := func(v float64) *Summary { return &Summary{Mean: v, Median: v} }
	sound := func() *Evaluation {
		return &Evaluation{
			Verdict: Trusted, RelativeL2: mean(0.01), RelativeResidual: mean(0.01), TruthResidual: mean(0.03), Persistence: mean(0.5), Interpolation: mean(0.03),
			ConditionsOverSize: mean(0.005), TruthConditions: mean(0), Trivial: []Trivial{{Name: "zero", RelativeL2: mean(1)}},
		}
	}
	if sound().GridNote() == "" {
		t.Fatal("nothing is said of a sound run")
	}
	for name, spoil := range map[string]func(e *Evaluation){
		"doubtful":      func(e *Evaluation) { e.Verdict = Doubtful },
		"conditions":    func(e *Evaluation) { e.ConditionsOverSize = mean(0.02) },
		"infinite":      func(e *Evaluation) { e.ConditionsOverSize = mean(math.Inf(1)) },
		"trivial":       func(e *Evaluation) { e.Trivial[0].RelativeL2 = mean(0.02) },
		"persistence":   func(e *Evaluation) { e.Persistence = mean(0.01) },
		"interpolation": func(e *Evaluation) { e.Interpolation = mean(0.015) },
		"no error":      func(e *Evaluation) { e.RelativeL2 = nil },
	} {
		e := sound()
		if spoil(e); e.GridNote() != "" {
			t.Errorf("%s: %q", name, e.GridNote())
		}
	}
	e := sound()
	if e.ConditionsOverSize, e.TruthConditions = mean(0.02), mean(0.03); e.GridNote() == "" {
		t.Error("conditions that solutions miss by more are held against the run")
	}
}

// A reference that is hardly better known than the error is named, one that is much better is not.
func TestReferenceNote(t *testing.T) {
	for _, c := range []struct {
		reference float64
		want      bool
	}{{0, false}, {0.004, false}, {0.006, true}} {
		e := Evaluation{RelativeL2: &Summary{Mean: 0.02}, ReferenceError: c.reference}
		if note := e.ReferenceNote(); (note != "") != c.want {
			t.Errorf("error 2 %%, reference %g: %q", c.reference, note)
		}
	}
	if note := (&Evaluation{ReferenceError: 1}).ReferenceNote(); note != "" {
		t.Errorf("without errors: %q", note)
	}
}
