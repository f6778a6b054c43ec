package report

import (
	"fmt"
	"math"
)

// planeTimes is at how many times a field over time and two axes of space is
// drawn, evenly up to the last.
const planeTimes = 4

// planes returns the page as it is drawn: fields over time and two axes of space
// become one case per sample and time, over the axes of space alone; any other
// page is itself.
func (p *Page) planes() *Page {
	if len(p.Axes) != 3 {
		return p
	}
	q := *p
	q.Axes, q.Cases, q.Methods, q.plane = p.Axes[1:], nil, nil, true
	for _, m := range p.Methods {
		if len(m.Borders) == 3 {
			m.Borders = m.Borders[1:]
		}
		q.Methods = append(q.Methods, m)
	}
	t := p.Axes[0]
	width := len(q.Axes[0].Values) * len(q.Axes[1].Values)
	at := func(u []float64, i int) []float64 {
		if u == nil {
			return nil
		}
		return u[i*width : (i+1)*width]
	}
	for _, c := range p.Cases {
		for k := range planeTimes {
			i := int(math.Round(float64((k+1)*(len(t.Values)-1)) / planeTimes))
			if k > 0 && i == int(math.Round(float64(k*(len(t.Values)-1))/planeTimes)) {
				continue // fewer times than planes
			}
			s := Case{Title: fmt.Sprintf("%s, %s = %s", c.Title, t.Name, Number(t.Values[i])), Truth: at(c.Truth, i)}
			if t.Unit != "" {
				s.Title += " " + t.Unit
			}
			for _, u := range c.Predictions {
				s.Predictions = append(s.Predictions, at(u, i))
			}
			q.Cases = append(q.Cases, s)
		}
	}
	return &q
}
