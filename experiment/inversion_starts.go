package experiment

import (
	"fmt"

	"pihc/internal/inverse"
	"pihc/internal/words"
)

// interruptedLines say where a fit was when it was interrupted.
func (v *Inversion) interruptedLines() []string {
	lines := []string{fmt.Sprintf("interrupted, not converged: numbers of the last step, with chi-squared %.4g on %s points, and no intervals", v.fit.ChiSquared, words.Shape(v.fit.Grid.Shape()))}
	width := 0
	for _, p := range v.parameters {
		width = max(width, len(p.Name))
	}
	for j, p := range v.parameters {
		e, _ := v.Estimate(j)
		lines = append(lines, fmt.Sprintf("%-*s  %.5g   not converged", width, p.Name, e.Value))
	}
	return lines
}

// startLines say what other starts led to.
func (v *Inversion) startLines() (lines []string) {
	s := v.fit.Starts
	if s.Tried == 0 {
		return nil
	}
	text := fmt.Sprintf("starts: %d of %d end at this fit", s.Agree, s.Tried)
	if s.Failed > 0 {
		text += fmt.Sprintf(", from %d there is no solution", s.Failed)
	}
	lines = append(lines, text)
	for _, m := range s.Others {
		var at []string
		for j, p := range v.parameters {
			at = append(at, fmt.Sprintf("%s = %.5g", p.Name, p.Value(m.Coordinates[j])))
		}
		lines = append(lines, fmt.Sprintf("a second fit is nearly as good: %s, chi-squared %.4g (%d of the starts); the data hardly tell which, and the intervals below leave it out",
			words.List(at), m.ChiSquared, m.Count))
	}
	return lines
}

// startsJSON is what other starts led to.
func (v *Inversion) startsJSON() map[string]any {
	s, others := v.fit.Starts, []any{}
	for _, m := range s.Others {
		others = append(others, map[string]any{"estimates": v.numbers(m), "chi_squared": m.ChiSquared, "starts": m.Count})
	}
	return map[string]any{"tried": max(1, s.Tried), "agree": max(1, s.Agree), "failed": s.Failed, "others": others}
}

// numbers are those of a minimum by name.
func (v *Inversion) numbers(m inverse.Minimum) map[string]float64 {
	all := map[string]float64{}
	for j, p := range v.parameters {
		all[p.Name] = p.Value(m.Coordinates[j])
	}
	return all
}
