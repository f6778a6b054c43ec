package report

import (
	"fmt"
	"slices"
	"strings"

	"pihc/internal/words"
	"pihc/score"
)

// unbroken keeps a number and its unit in one line.
func unbroken(text string) string { return strings.ReplaceAll(text, " ", "\u00a0") }

// claim says in a few sentences what the figures of the page show, and no more than they
// show; "" without methods.
func (p *Page) claim() string {
	reliable := func(key string) bool {
		return !slices.ContainsFunc(p.Methods, func(m Method) bool { return m.Key == key && len(m.Evaluation.Warnings) > 0 })
	}
	parts := []string{p.errorClaim(), p.estimateClaim(), p.residualClaim(), p.Cost.claim(reliable)}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// sorted returns the methods that have a summary, the least mean first.
func (p *Page) sorted(get func(e *score.Evaluation) *score.Summary) []*Method {
	var out []*Method
	for i := range p.Methods {
		if get(&p.Methods[i].Evaluation) != nil {
			out = append(out, &p.Methods[i])
		}
	}
	slices.SortStableFunc(out, func(a, b *Method) int {
		return get(&a.Evaluation).Compare(*get(&b.Evaluation))
	})
	return out
}

// listed writes "PI-HC 0.34 %, PI-SC 2.38 %".
func listed(methods []*Method, get func(e *score.Evaluation) *score.Summary) string {
	var parts []string
	for _, m := range methods {
		parts = append(parts, unbroken(strings.ReplaceAll(m.Label, "-", "\u2011")+" "+words.Percent(get(&m.Evaluation).Mean)))
	}
	return strings.Join(parts, ", ")
}

func (p *Page) errorClaim() string {
	get, times := func(e *score.Evaluation) *score.Summary { return e.RelativeL2 }, ""
	levels := p.errorLevels()
	if p.BeyondTraining() {
		get, times = func(e *score.Evaluation) *score.Summary { return e.Unseen }, " at the times beyond training"
		levels = nil // they are of all times
	}
	methods := p.sorted(get)
	if len(methods) == 0 {
		return ""
	}
	e := &methods[0].Evaluation
	text := fmt.Sprintf("On %s %s not seen in training, the mean relative L² error against the %s%s is: %s", words.Count(e.Samples), p.Sampled(), p.TruthName(), times, listed(methods, get))
	if len(levels) > 0 {
		var parts []string
		for _, l := range levels {
			parts = append(parts, l.Label+" "+unbroken(words.Percent(l.Value)))
		}
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	return text + "."
}

// estimateClaim says what errors from solutions of references leave out, where there are such errors and estimates of the whole.
func (p *Page) estimateClaim() string {
	get := func(e *score.Evaluation) *score.Summary { return e.ErrorEstimate }
	methods := p.sorted(get)
	if len(methods) == 0 || methods[0].Evaluation.RelativeL2 == nil {
		return ""
	}
	text := fmt.Sprintf("The %s may have an error itself, that of its grid. From the solution of the equation the mean error%s is estimated at: %s", p.TruthLabel(), map[bool]string{false: " over all times"}[p.Steady], listed(methods, get))
	if s := methods[0].Evaluation.GridError; s != nil {
		text += "; the solution of the rows on this grid is " + unbroken(words.Percent(s.Mean)) + " from it"
	}
	return text + "."
}

func (p *Page) residualClaim() string {
	get := func(e *score.Evaluation) *score.Summary { return e.RelativeResidual }
	methods := p.sorted(get)
	if len(methods) == 0 {
		return ""
	}
	text := "The root mean square of the residual, over that of " + p.Rate() + ", is: " + listed(methods, get)
	if s := methods[0].Evaluation.TruthResidual; s != nil {
		text += "; the " + p.TruthLabel() + " itself has " + unbroken(words.Percent(s.Mean)) + " on this grid"
	}
	return text + "."
}

// verdicts are those on evaluations, after the names of their methods.
func (p *Page) verdicts() []string {
	var out []string
	for i := range p.Methods {
		if e := &p.Methods[i].Evaluation; e.Verdict != "" {
			out = append(out, p.Methods[i].Label+": "+e.VerdictLine())
		}
	}
	return out
}

// methodWarnings are what evaluations warn of, after the names of their methods.
func (p *Page) methodWarnings() []string {
	var out []string
	for i := range p.Methods {
		for _, line := range p.Methods[i].Evaluation.AllWarnings() {
			out = append(out, p.Methods[i].Label+": "+line)
		}
	}
	return out
}

// methodNotes returns a line for every method whose loss is no better than that of a trivial prediction, and for methods whose error may be the discretisation error of the grid or of the reference.
func (p *Page) methodNotes() []string {
	var notes []string
	note := func(line string, labels ...string) {
		if line != "" {
			notes = append(notes, strings.Join(labels, ", ")+": "+line)
		}
	}
	var labels []string
	var fine []*score.Evaluation // with a GridNote, which have one truth on a page
	for i := range p.Methods {
		m, e := &p.Methods[i], &p.Methods[i].Evaluation
		note(e.UnbeatenNote(), m.Label)
		note(e.ReferenceNote(), m.Label)
		if e.GridNote() != "" {
			labels, fine = append(labels, m.Label), append(fine, e)
		}
	}
	if len(fine) > 0 {
		note(fine[0].GridNote(fine[1:]...), labels...)
	}
	return notes
}
