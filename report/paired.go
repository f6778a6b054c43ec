package report

import (
	"fmt"
	"math"
)

// A Difference compares two methods on the same samples.
type Difference struct {
	Method string  `json:"method"`
	Than   string  `json:"than"`
	Mean   float64 `json:"mean"`           // of the differences of relative_l2: negative where Method is better
	Error  float64 `json:"standard_error"` // of that mean, over samples
	Better int     `json:"better"`         // samples on which Method is better
	Of     int     `json:"of"`
}

// Differences compares every method with those before it, sample by sample. Methods
// without errors, or with other samples, are left out.
func (p *Page) Differences() []Difference {
	var out []Difference
	for i := range p.Methods {
		for j := range i {
			a, b := p.Methods[i].Evaluation.PerSample, p.Methods[j].Evaluation.PerSample
			if len(a) < 2 || len(a) != len(b) {
				continue
			}
			d := Difference{Method: p.Methods[i].Key, Than: p.Methods[j].Key, Of: len(a)}
			square := 0.0
			for k := range a {
				x := a[k].RelativeL2 - b[k].RelativeL2
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

// differenceNotes says so in lines: whether one method is ahead is seen here, over
// samples, and over seeds, not in the two means.
func (p *Page) differenceNotes() []string {
	labels := map[string]string{}
	for _, m := range p.Methods {
		labels[m.Key] = m.Label
	}
	var out []string
	for _, d := range p.Differences() {
		out = append(out, fmt.Sprintf("%s less %s, by sample: %s (standard error), better on %d of %d; one seed", labels[d.Method], labels[d.Than], PercentPoints(d.Mean, d.Error), d.Better, d.Of))
	}
	return out
}
