package report

import (
	"strings"

	"pihc/score"
)

// methodNotes returns a line for every method that is no better than a trivial prediction, and for
// methods whose error may be the discretisation error of the grid or of the reference.
func (p *Page) methodNotes() []string {
	var notes []string
	note := func(line string, labels ...string) {
		if line != "" {
			notes = append(notes, strings.Join(labels, ", ")+": "+line)
		}
	}
	var fine, residuals []string // methods with a GridNote, which have one truth on a page
	var truth string
	for _, m := range p.Methods {
		e := &m.Evaluation
		note(e.Unbeaten, m.Label)
		note(e.ReferenceNote(), m.Label)
		if e.GridNote() != "" {
			fine, residuals = append(fine, m.Label), append(residuals, score.Percent(e.RelativeResidual.Median))
			truth = score.Percent(e.TruthResidual.Median)
		}
	}
	if len(fine) > 0 {
		note(score.GridNoteOf(strings.Join(residuals, ", "), truth), fine...)
	}
	return notes
}
