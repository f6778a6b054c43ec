package report

import (
	"strings"

	"pihc/score"
)

// methodNotes has a line for every method of the page that does not beat a trivial
// prediction, and for those whose error may be the grid's or the reference's.
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
