package report

import (
	"math"

	"gonum.org/v1/plot/plotter"

	"pihc/internal/words"
)

// timeFigure draws the error of every method over time, on the grid of the page; ok is false
// where no method has it.
func (p *Page) timeFigure() (f figure, ok bool) {
	x := "time"
	if len(p.Axes) > 0 {
		x = p.Axes[0].label()
	}
	g := newPlot("", x, "relative L² error")
	addGrid(g, true, true)
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, m := range p.Methods {
		if e := m.Evaluation.ErrorOverTime; e != nil {
			for i, v := range e.RelativeL2 {
				if !visible(v) {
					continue
				}
				hi = max(hi, v)
				// An ansatz that keeps the initial condition leaves rounding at the first time, which
				// would stretch the scale over decades.
				if i > 0 {
					lo = min(lo, v)
				}
			}
		}
	}
	least, _ := logRange(lo, hi)
	var keys []key
	caption := "Relative L² error over time, mean over the test samples"
	for _, m := range p.methods() {
		e := m.Evaluation.ErrorOverTime
		if e == nil {
			continue
		}
		var points plotter.XYs
		for j, v := range e.RelativeL2 {
			if visible(v) && v >= least {
				points = append(points, plotter.XY{X: e.Times[j], Y: v})
			}
		}
		if len(points) < 2 {
			continue
		}
		if len(keys) == 0 && len(p.grids()) > 1 {
			caption += ", on " + p.gridLabel(m.Evaluation.Grid) + " points"
		}
		addLine(g, points, line(m.rgb(), 1.5))
		g.X.Min, g.X.Max = min(g.X.Min, e.Times[0]), max(g.X.Max, e.Times[len(e.Times)-1])
		keys = append(keys, key{m.Label, m.rgb(), nil})
	}
	if len(keys) == 0 {
		return f, false
	}
	logAxis(&g.Y, lo, hi, true)
	return plotFigure("error_over_time", caption, 400, 270, g, keys...), true
}

// overTimeRows has a row for every time, on every grid.
func (p *Page) overTimeRows() [][]string {
	rows := [][]string{{"method", "grid", "time", "relative_l2"}}
	for _, m := range p.Methods {
		for _, e := range m.Evaluation.OnGrids() {
			if e.ErrorOverTime == nil {
				continue
			}
			for j, t := range e.ErrorOverTime.Times {
				rows = append(rows, []string{m.key(), words.Shape(e.Grid), exact(t), exact(e.ErrorOverTime.RelativeL2[j])})
			}
		}
	}
	return rows
}
