package report

import (
	"fmt"
	"math"

	"pihc/internal/words"
	"pihc/score"
)

// A Difference compares two methods on the same samples.
type Difference struct {
	Method string  `json:"method"`
	Than   string  `json:"than"`
	Metric string  `json:"metric"`         // relative_l2, or unseen_l2 where methods are compared beyond training
	Mean   float64 `json:"mean"`           // of the differences of that metric: negative where Method is better
	Error  float64 `json:"standard_error"` // of that mean, over samples
	Better int     `json:"better"`         // samples on which Method is better
	Of     int     `json:"of"`
}

// BeyondTraining reports whether the page compares methods by their errors at the times after
// training.window alone, as it does if every method that has errors has these. Errors over all
// times would mix them with errors at times seen in training.
func (p *Page) BeyondTraining() bool {
	beyond := false
	for i := range p.Methods {
		e := &p.Methods[i].Evaluation
		if e.RelativeL2 != nil && e.Unseen == nil {
			return false
		}
		beyond = beyond || e.Unseen != nil
	}
	return beyond
}

// Differences compares every method with those before it, sample by sample, at all times or
// beyond training. Methods without errors, or with other samples, are left out.
func (p *Page) Differences() []Difference {
	metric, get := "relative_l2", func(s score.Sample) float64 { return s.RelativeL2 }
	if p.BeyondTraining() {
		metric, get = "unseen_l2", func(s score.Sample) float64 { return s.Unseen }
	}
	var out []Difference
	for i := range p.Methods {
		for j := range i {
			a, b := p.Methods[i].Evaluation.PerSample, p.Methods[j].Evaluation.PerSample
			if len(a) < 2 || len(a) != len(b) {
				continue
			}
			d := Difference{Method: p.Methods[i].Key, Than: p.Methods[j].Key, Metric: metric, Of: len(a)}
			square := 0.0
			for k := range a {
				x := get(a[k]) - get(b[k])
				d.Mean += x / float64(len(a))
				square += x * x
				if x < 0 {
					d.Better++
				}
			}
			n := float64(len(a))
			d.Error = math.Sqrt(max(0, square-n*d.Mean*d.Mean) / (n - 1) / n)
			if !math.IsNaN(d.Mean) && !math.IsInf(d.Mean, 0) {
				out = append(out, d)
			}
		}
	}
	return out
}

// differenceNotes writes the differences in lines. They tell whether one method is ahead better
// than two means do, though of one seed alone.
func (p *Page) differenceNotes() []string {
	labels := map[string]string{}
	for _, m := range p.Methods {
		labels[m.Key] = m.Label
	}
	of := "by sample"
	if p.BeyondTraining() {
		of += ", error beyond training"
	}
	var out []string
	for _, d := range p.Differences() {
		out = append(out, fmt.Sprintf("%s less %s, %s: %s (standard error), better on %d of %d; one seed", labels[d.Method], labels[d.Than], of, words.PercentPoints(d.Mean, d.Error), d.Better, d.Of))
	}
	return out
}
