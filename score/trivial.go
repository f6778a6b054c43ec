package score

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"pihc/engine"
	"pihc/internal/words"
)

// A Trivial is what a prediction that needs no training scores (model.Trivial).
type Trivial struct {
	Name          string   `json:"name"`                     // "zero", "persistence" or "mean"
	RelativeL2    *Summary `json:"relative_l2,omitempty"`    // nil without solutions
	Loss          Summary  `json:"loss"`                     // whole: conditions included, border terms not
	OutsideAnsatz bool     `json:"outside_ansatz,omitempty"` // no row holds the field to its initial condition: the loss is not compared
}

// compare fills Loss, Trivial and Unbeaten from the losses of the samples and the scores of
// trivial predictions.
func (e *Evaluation) compare(losses []float64, trivial []engine.Trivial) {
	loss := Summarize(losses)
	e.Loss, e.Trivial = &loss, nil
	for _, x := range trivial {
		t := Trivial{Name: x.Name, Loss: Summarize(x.Losses), OutsideAnsatz: x.OutsideAnsatz}
		if x.Errors != nil {
			s := Summarize(x.Errors)
			t.RelativeL2 = &s
		}
		e.Trivial = append(e.Trivial, t)
	}
	e.Unbeaten = Unbeaten(e.RelativeL2, e.Loss.Mean, "loss", e.Trivial)
}

// Unbeaten says in one line which trivial prediction a run is not better than, by
// the mean error against solutions, nil without, or besides by the mean of what is called
// name, as Trivial.Loss; "" if it is better than all.
func Unbeaten(relativeL2 *Summary, loss float64, name string, trivial []Trivial) string {
	better := func(a, b float64) bool { return a < b || math.IsNaN(b) }
	byError := func(a, b Trivial) int { return a.RelativeL2.Compare(*b.RelativeL2) }
	byLoss := func(a, b Trivial) int { return a.Loss.Compare(b.Loss) }
	if len(trivial) == 0 {
		return ""
	}
	if relativeL2 != nil && trivial[0].RelativeL2 != nil {
		if best := slices.MinFunc(trivial, byError); !better(relativeL2.Mean, best.RelativeL2.Mean) {
			return fmt.Sprintf("this run does not beat %s: relative_l2 %s against %s", best.Name, known(relativeL2.Mean, words.Percent), words.Percent(best.RelativeL2.Mean))
		}
	}
	like := slices.DeleteFunc(slices.Clone(trivial), func(t Trivial) bool { return t.OutsideAnsatz })
	if len(like) == 0 || loss == 0 { // nothing is less: all weights may be zero, as in a control on solutions
		return ""
	}
	if best := slices.MinFunc(like, byLoss); !better(loss, best.Loss.Mean) {
		return fmt.Sprintf("this run does not beat %s: %s %s against %s", best.Name, name, known(loss, words.Number), words.Number(best.Loss.Mean))
	}
	return ""
}

// known writes a number that may be none.
func known(v float64, write func(float64) string) string {
	if math.IsNaN(v) {
		return "not finite"
	}
	return write(v)
}

// TrivialNote says which losses of trivial predictions mean little, "" if none.
func (e *Evaluation) TrivialNote() string {
	var names []string
	for _, t := range e.Trivial {
		if t.OutsideAnsatz {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "the loss of " + strings.Join(names, " and ") + " is without the initial condition, which the ansatz keeps and no row holds them to: it is not compared"
}

// GridNote says that the residual, with those of others of which it may be said too, is below the classical
// solution's own on this grid: lowering it further need not lower the error. "" if it is not, or where something else
// may be wrong (held).
func (e *Evaluation) GridNote(others ...*Evaluation) string {
	r, truth := e.RelativeResidual, e.TruthResidual
	if r == nil || truth == nil || !(r.Median < truth.Median) || !e.held() {
		return ""
	}
	residuals := words.Percent(r.Median)
	for _, o := range others {
		residuals += ", " + words.Percent(o.RelativeResidual.Median)
	}
	return fmt.Sprintf("the residual is below what the classical solution leaves on this grid (%s against %s in the median): the error that is left may be the grid's, and fall on a finer one", residuals, words.Percent(truth.Median))
}

// ReferenceNote says that the solutions scored against are hardly better known than the error
// is large. "" if they are.
func (e *Evaluation) ReferenceNote() string {
	if e.RelativeL2 == nil || !(e.ReferenceError > e.RelativeL2.Mean/4) {
		return ""
	}
	return fmt.Sprintf("the solutions scored against are uncertain by about %s themselves (those on another grid differ so much): errors are known no better than that", words.Percent(e.ReferenceError))
}

// Compare orders summaries by their means, NaN last.
func (s Summary) Compare(t Summary) int {
	if math.IsNaN(s.Mean) || math.IsNaN(t.Mean) {
		return cmp.Compare(t.Mean, s.Mean)
	}
	return cmp.Compare(s.Mean, t.Mean)
}
