package report

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pihc/internal/words"
	"pihc/score"
)

// grids lists the grids that methods were scored on, finest first.
func (p *Page) grids() [][]int {
	var all []*score.Evaluation
	for i := range p.Methods {
		all = append(all, p.Methods[i].Evaluation.OnGrids()...)
	}
	slices.SortStableFunc(all, func(a, b *score.Evaluation) int { return b.Points() - a.Points() })
	var out [][]int
	for _, e := range all {
		if len(e.Grid) > 0 && !slices.ContainsFunc(out, func(g []int) bool { return slices.Equal(g, e.Grid) }) {
			out = append(out, e.Grid)
		}
	}
	return out
}

// gridLabel writes a grid by the axes in which grids differ: all but the first, as
// a rule.
func (p *Page) gridLabel(g []int) string {
	for _, other := range p.grids() {
		if other[0] != g[0] {
			return gridText(g)
		}
	}
	return gridText(g[1:])
}

// gridText writes numbers of points, as in "101 × 128".
func gridText(shape []int) string { return strings.ReplaceAll(words.Shape(shape), "x", "×") }

// fewerOn is the number of samples on a grid if it is smaller than on the grid of the page, else 0.
func (p *Page) fewerOn(g []int) int {
	for i := range p.Methods {
		if e := &p.Methods[i].Evaluation; e.On(g) != nil {
			return e.FewerOn(g)
		}
	}
	return 0
}

// theFirst names samples that are not all of the split.
func theFirst(n int) string { return "the first " + words.Count(n) }

// gridFigure draws the distribution of relative_l2 over samples on every grid, a
// box for each method and baseline; ok is false with one grid alone.
func (p *Page) gridFigure() (f figure, ok bool) {
	grids := p.grids()
	if len(grids) < 2 {
		return f, false
	}
	g := newPlot("", "evaluation grid", "relative L² error")
	addGrid(g, false, true)
	lo, hi := math.Inf(1), math.Inf(-1)
	var keys []key
	var boxes []standing
	column := 0
	for _, r := range p.onGrids() {
		found := false
		for i, shape := range grids {
			x := r.Evaluation.On(shape)
			if x == nil {
				continue
			}
			values := slices.DeleteFunc(x.Values(func(s score.Sample) float64 { return s.RelativeL2 }), func(v float64) bool { return !drawable(v) })
			if len(values) == 0 {
				continue
			}
			found = true
			slices.Sort(values)
			lo, hi = min(lo, score.Quantile(values, 0.05)), max(hi, score.Quantile(values, 0.95))
			boxes = append(boxes, standing{group: i, column: column, values: values, color: r.rgb()})
		}
		if found {
			keys = append(keys, key{r.Label, r.rgb(), draw.BoxGlyph{}})
			column++
		}
	}
	if len(boxes) == 0 {
		return f, false
	}
	var ticks []plot.Tick
	for i, shape := range grids {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: p.gridLabel(shape)})
	}
	for _, b := range boxes {
		b.columns = column
		g.Add(b)
	}
	g.X.Min, g.X.Max = -0.5, float64(len(grids))-0.5
	g.X.Tick.Marker = plot.ConstantTicks(ticks)
	g.X.Tick.LineStyle.Width = 0
	logAxis(&g.Y, lo, hi, true)
	caption := "Errors of the samples on every evaluation grid" + boxText
	for _, shape := range grids {
		if n := p.fewerOn(shape); n > 0 {
			caption += fmt.Sprintf("; on %s only %s samples", p.gridLabel(shape), theFirst(n))
		}
	}
	return plotFigure("errors_by_grid", caption, 400, 270, g, keys...), true
}

// standing is an upright box of a group of columns.
type standing struct {
	group, column, columns int
	values                 []float64 // sorted
	color                  color.NRGBA
}

// Plot implements plot.Plotter.
func (b standing) Plot(c draw.Canvas, p *plot.Plot) {
	trX, y := p.Transforms(&c)
	pitch := (trX(1) - trX(0)) * 0.84 / vg.Length(b.columns)
	x := trX(float64(b.group)) + pitch*(vg.Length(b.column)-vg.Length(b.columns-1)/2)
	half := min(pitch*0.36, 13)
	drawBox(c, b.values, b.color, half, func(v float64, aside vg.Length) vg.Point { return vg.Point{X: x + aside, Y: y(v)} })
}

// GridTable returns the errors on every grid, nil if there is one grid alone.
func (p *Page) GridTable() *Table {
	grids := p.grids()
	if len(grids) < 2 {
		return nil
	}
	t := &Table{Title: "By evaluation grid", Columns: []Column{{"method", false}, {"grid", true}, {"samples", true}, {"relative L² error", true}, {"median", true}, {"max", true}}}
	for _, r := range p.onGrids() {
		name := r.Label
		for _, g := range grids {
			if x := r.Evaluation.On(g); x != nil && x.RelativeL2 != nil {
				l2, samples := x.RelativeL2, words.Count(x.Samples)
				if n := r.Evaluation.FewerOn(g); n > 0 {
					samples = theFirst(n)
				}
				h := head{Color: r.color}
				if r.color >= 0 && slices.Equal(g, r.Evaluation.Grid) {
					h.Note = "its training grid"
				}
				t.addHead(h, name, p.gridLabel(g), samples, words.PercentOf(l2.Mean, l2.Std), words.Percent(l2.Median), words.Percent(l2.Max))
				name = ""
			}
		}
	}
	return t
}

// onGrids lists methods, and the baselines that are scored on several grids.
func (p *Page) onGrids() []row {
	return slices.DeleteFunc(p.rows(), func(r row) bool { return r.color < 0 && len(r.Evaluation.Grids) == 0 })
}
