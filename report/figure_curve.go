package report

import (
	"math"
	"slices"
	"strings"

	"pihc/internal/words"
	"pihc/score"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A curve is one quantity logged while training, of the methods that have it.
type curve struct {
	name, label string
	lines       []curveLine
}

type curveLine struct {
	row
	noisy, points plotter.XYs // noisy is what points are the running median of, nil without
}

// curves lists the quantities of all methods in order of first appearance.
func (p *Page) curves() []curve {
	var out []curve
	for _, m := range p.methods() {
		for _, s := range m.Curves {
			l := curveLine{row: m, points: s.drawn()}
			if len(l.points) == 0 {
				continue
			}
			if s.Raw && len(l.points) >= 50 {
				l.noisy, l.points = l.points, smooth(l.points)
			}
			at := slices.IndexFunc(out, func(c curve) bool { return c.name == s.Name })
			if at < 0 {
				at = len(out)
				out = append(out, curve{name: s.Name, label: label(s.Name, s.Unit)})
			}
			out[at].lines = append(out[at].lines, l)
		}
	}
	return out
}

// drawn returns the points that can be drawn.
func (s Series) drawn() plotter.XYs {
	var out plotter.XYs
	for i, v := range s.Values {
		if i < len(s.Steps) && drawable(v) {
			out = append(out, plotter.XY{X: s.Steps[i], Y: v})
		}
	}
	return out
}

// drawable reports whether a value has a place on a logarithmic axis.
func drawable(v float64) bool { return v > 0 && !math.IsInf(v, 0) }

// visible reports whether an error has a place on a logarithmic axis, on which rounding has none.
func visible(v float64) bool { return v > 1e-12 && !math.IsInf(v, 0) }

// smooth returns the running median of points over a window of about 1/40 of
// them: it follows steps and ignores spikes.
func smooth(points plotter.XYs) plotter.XYs {
	half := max(2, len(points)/80)
	out := make(plotter.XYs, len(points))
	window := make([]float64, 0, 2*half+1)
	for i, p := range points {
		window = window[:0]
		for _, q := range points[max(0, i-half):min(len(points), i+half+1)] {
			window = append(window, q.Y)
		}
		slices.Sort(window)
		out[i] = plotter.XY{X: p.X, Y: score.Quantile(window, 0.5)}
	}
	return out
}

// curveFigure draws one logged quantity of all methods against the step.
func (p *Page) curveFigure(c curve) figure {
	g := newPlot("", "step", c.label)
	addGrid(g, true, true)
	lo, hi := math.Inf(1), math.Inf(-1)
	var keys []key
	for _, l := range c.lines {
		addLine(g, evenly(l.noisy, 800), line(faded(l.rgb(), 0x48), 0.6))
		for _, q := range slices.Concat(l.noisy, l.points) {
			lo, hi = min(lo, q.Y), max(hi, q.Y)
		}
		addLine(g, evenly(l.points, 800), line(l.rgb(), 1.5))
		keys = append(keys, key{l.Label, l.rgb(), nil})
	}
	levels := p.curveLevels(c.name)
	for _, l := range levels {
		lo, hi = min(lo, l.Value), max(hi, l.Value)
		g.Add(flat(l))
	}
	g.X.Min = min(g.X.Min, 0)
	logAxis(&g.Y, lo, hi, false)
	f := plotFigure(fileName(c.name), c.name+" against the training step"+levelText(levels, func(v float64) string { return words.Percent(v / 100) }), 400, 240, g, keys...)
	f.part, f.title, f.data = "Curves", c.label, "curves.csv"
	return f
}

// flat is a level as a dashed line from side to side, with its label at the left, where curves
// have not begun.
type flat Level

// Plot implements plot.Plotter.
func (l flat) Plot(c draw.Canvas, p *plot.Plot) {
	_, trY := p.Transforms(&c)
	y := trY(l.Value)
	c.StrokeLine2(line(muted, 1, 4, 3), c.Min.X, y, c.Max.X, y)
	style, at := textStyle(tickSize, muted, draw.XLeft, draw.YBottom), vg.Point{X: c.Min.X + 4, Y: y + 2}
	if at.Y+12 > c.Max.Y {
		style.YAlign, at.Y = draw.YTop, y-2
	}
	c.FillText(style, at, l.Label)
}

// curveLevels are the levels of relative_l2 for the curve of that error, in its unit.
func (p *Page) curveLevels(name string) []Level {
	if name != p.ErrorCurve {
		return nil
	}
	out := slices.DeleteFunc(p.errorLevels(), func(l Level) bool { return math.IsInf(l.Value, 0) || math.IsNaN(l.Value) })
	for i := range out {
		out[i].Value *= 100
	}
	return out
}

// levelText names the dashed lines of a figure.
func levelText(levels []Level, format func(float64) string) string {
	if len(levels) == 0 {
		return ""
	}
	var parts []string
	for _, l := range levels {
		parts = append(parts, l.Label+" "+format(l.Value))
	}
	return "; dashed: " + strings.Join(parts, ", ")
}

// addLine draws a line if it has points.
func addLine(p *plot.Plot, points plotter.XYs, style draw.LineStyle) {
	if len(points) > 0 {
		p.Add(&plotter.Line{XYs: points, LineStyle: style})
	}
}

// dots is the largest number of samples drawn one by one.
const dots = 250

// evenly keeps at most limit elements, evenly chosen, with both ends.
func evenly[T any](all []T, limit int) []T {
	if len(all) <= limit {
		return all
	}
	out := make([]T, limit)
	for i := range out {
		out[i] = all[i*(len(all)-1)/(limit-1)]
	}
	return out
}

// meansDiffer reports whether the means of initial conditions differ beyond rounding, whatever
// their unit: those of vorticities do not, nor those of series, which have none but their offset.
func (p *Page) meansDiffer() bool {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, m := range p.Methods {
		for _, s := range m.Evaluation.PerSample {
			if !math.IsNaN(s.InitialMean) {
				lo, hi = min(lo, s.InitialMean), max(hi, s.InitialMean)
			}
		}
	}
	return hi-lo > 1e-6*max(math.Abs(lo), math.Abs(hi))
}

// initialFigure draws relative_l2 of every sample against the mean of its
// initial condition; ok is false without both.
func (p *Page) initialFigure() (f figure, ok bool) {
	if !p.meansDiffer() {
		return f, false
	}
	of := "initial condition"
	if p.Steady {
		of = "first input"
	}
	g := newPlot("", "mean of the "+of, "relative L² error")
	addGrid(g, true, true)
	var keys []key
	for i, r := range p.rows() {
		shape := draw.GlyphDrawer(draw.CircleGlyph{})
		if r.color < 0 {
			shape = []draw.GlyphDrawer{draw.RingGlyph{}, draw.CrossGlyph{}, draw.TriangleGlyph{}}[(i-len(p.Methods))%3]
		}
		var points plotter.XYs
		for _, s := range evenly(r.Evaluation.PerSample, dots) {
			if !math.IsNaN(s.InitialMean) && drawable(s.RelativeL2) {
				points = append(points, plotter.XY{X: s.InitialMean, Y: s.RelativeL2})
			}
		}
		if len(points) < 2 {
			continue
		}
		s := &plotter.Scatter{XYs: points, GlyphStyle: draw.GlyphStyle{Color: faded(r.rgb(), 0xa0), Radius: 1.5, Shape: shape}}
		g.Add(s)
		keys = append(keys, key{r.Label, r.rgb(), shape})
		ok = true
	}
	if !ok || !(g.X.Max > g.X.Min) {
		return figure{}, false
	}
	margin := 0.02 * (g.X.Max - g.X.Min)
	g.X.Min, g.X.Max = g.X.Min-margin, g.X.Max+margin
	logAxis(&g.Y, g.Y.Min, g.Y.Max, true)
	return plotFigure("errors_by_initial", "Error of each sample against the mean of its "+of, 400, 270, g, keys...), true
}
