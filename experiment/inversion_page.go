package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"pihc/internal/inverse"
	"pihc/internal/kernel"
	"pihc/internal/machine"
	"pihc/internal/words"
	"pihc/report"
)

// Page shows what was found, and the fitted solutions of the first experiments.
func (v *Inversion) Page() *report.Page {
	if v.Interrupted {
		return &report.Page{Title: v.Problem.Title, Notes: v.Lines()}
	}
	p := v.Problem
	page := &report.Page{Title: p.Title, Subtitle: "Fitted to observations", Steady: p.Steady, Field: p.Unknowns[0].Name, Axes: fieldAxes(p, v.Grid)}
	page.Equations, page.Constants = equations(p)
	page.Constants = slices.DeleteFunc(page.Constants, func(c report.Fact) bool {
		return slices.ContainsFunc(v.parameters, func(p inverse.Parameter) bool { return p.Name == c.Name })
	})
	page.Summary = v.Lines()
	for _, warning := range v.Warnings {
		page.Summary = append(page.Summary, "Warning: "+warning+".")
	}
	page.Facts = []report.Fact{
		{Name: "Observations", Value: words.Count(len(v.observations))},
		{Name: "Solved on", Value: axesText(v.fit.Grid)},
		{Name: "Solutions with derivatives", Value: words.Count(v.fit.Evaluations)},
		{Name: "Time", Value: words.Duration(v.Seconds)},
		{Name: "Machine", Value: kernel.Machine()},
	}
	page.Charts = v.charts()
	page.Generated = fmt.Sprintf("pihc %s, %s", machine.Version(), time.Now().Format("2 January 2006"))
	for e, field := range v.Fields[:min(len(v.Fields), mostDrawn)] {
		for c, u := range p.Unknowns {
			own := report.Case{Title: fmt.Sprintf("experiment %d, fitted", e), Truth: unknownOf(p, field, c)}
			if len(p.Unknowns) > 1 {
				own.Title, own.Field = u.Name+", "+own.Title, u.Name
			}
			page.Cases = append(page.Cases, own)
		}
	}
	return page
}

// observedCharts are the observations of unknown c against the fit with its band, and what is left of them; none without observations.
func observedCharts(name string, c int, first string, observations []inverse.Observation, predicted, spread []float64) []report.Chart {
	var order []int
	for i, o := range observations {
		if o.Unknown == c {
			order = append(order, i)
		}
	}
	if order == nil {
		return nil
	}
	fitted := func(i int) float64 { return predicted[i] }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(fitted(a), fitted(b)) })
	of := func(f func(i int) float64) (out []float64) {
		for _, i := range order {
			out = append(out, f(i))
		}
		return out
	}
	side := func(by float64) func(int) float64 {
		return func(i int) float64 { return fitted(i) + by*1.96*spread[i] }
	}
	x, left := of(fitted), of(func(i int) float64 { return (observations[i].Value - fitted(i)) / observations[i].Sigma })
	return []report.Chart{{
		Name: "observed_" + name, Caption: "Observations of " + name + " against the fit at their points; dashed, the 95 % band of the fit by Gauss and Newton", X: "fitted " + name, Y: "observed " + name,
		Lines: []report.ChartLine{
			{Label: "observations", X: x, Y: of(func(i int) float64 { return observations[i].Value }), Bare: true},
			{Label: "fit", Color: 1, X: x, Y: x},
			{Label: "95 % band, low", Color: 2, X: x, Y: of(side(-1)), Dashed: true},
			{Label: "high", Color: 2, X: x, Y: of(side(1)), Dashed: true},
		},
	}, {
		Name: "residuals_" + name, Caption: "What the fit leaves of the observations of " + name + ", in their standard deviations", X: first, Y: "(observed - fitted)/sigma",
		Lines: []report.ChartLine{{Label: "observations", X: of(func(i int) float64 { return observations[i].At[0] }), Y: left, Bare: true}},
	}}
}

// charts are data against the fit with its band, what is left of them, and the profile of every number.
func (v *Inversion) charts() []report.Chart {
	var all []report.Chart
	for c, u := range v.Problem.Unknowns {
		all = append(all, observedCharts(u.Name, c, v.Problem.Axes[0].Name, v.observations, v.fit.Predicted, v.fit.Spread)...)
	}
	for j, profile := range v.profiles {
		p := v.parameters[j]
		line, level := report.ChartLine{Label: "profile", Marks: true}, report.ChartLine{Label: "95 %", Color: 1, Dashed: true}
		for _, q := range profile {
			if q.Rise > 4*inverse.Quantile { // it would hide the rest
				continue
			}
			line.X, line.Y = append(line.X, q.Value), append(line.Y, q.Rise)
			level.X, level.Y = append(level.X, q.Value), append(level.Y, inverse.Quantile)
		}
		if line.X != nil {
			log := p.Log && line.X[len(line.X)-1] > 10*line.X[0]
			all = append(all, report.Chart{Name: "profile_" + strings.ReplaceAll(p.Name, ":", "_"), Caption: "Chi-squared above its least with " + p.Name + " held and all others fitted", X: p.Name, Y: "chi-squared - least", LogX: log, Lines: []report.ChartLine{line, level}})
		}
	}
	return all
}
