package report

import (
	"image/color"
	"math"
	"slices"

	"pihc/internal/words"
	"pihc/score"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// band is a horizontal strip of a chart whose rows are methods: a box of the
// quartiles with whiskers to the 5th and 95th percentile, the samples as dots,
// and the published mean with its standard deviation under it.
type band struct {
	name      string
	y         float64
	values    []float64 // sorted
	color     color.NRGBA
	published *Score
}

// Plot implements plot.Plotter.
func (b band) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	x := func(v float64) vg.Length { return trX(min(max(v, p.X.Min), p.X.Max)) }
	y := trY(b.y)
	if len(b.values) > 0 {
		for i, v := range evenly(b.values, dots) {
			// A low-discrepancy sequence scatters the dots without randomness.
			_, f := math.Modf(float64(i) * 0.6180339887498949)
			at := vg.Point{X: x(v), Y: y - 15 + vg.Length(f-0.5)*7}
			c.DrawGlyph(draw.GlyphStyle{Color: faded(b.color, 0x80), Radius: 1.2, Shape: draw.CircleGlyph{}}, at)
		}
		drawBox(c, b.values, b.color, 7, func(v float64, aside vg.Length) vg.Point { return vg.Point{X: x(v), Y: y + aside} })
	}
	if s := b.published; s != nil {
		at := vg.Point{X: x(s.Mean), Y: y + 14}
		if !math.IsNaN(s.Std) {
			low := max(s.Mean-s.Std, p.X.Min)
			c.StrokeLine2(line(ink, 0.8), x(low), at.Y, x(s.Mean+s.Std), at.Y)
		}
		c.DrawGlyph(draw.GlyphStyle{Color: ink, Radius: 3.2, Shape: diamond{}}, at)
	}
}

// boxText says what drawBox draws.
const boxText = ": box from the first to the third quartile with the median, whiskers from the 5th to the 95th percentile"

// drawBox draws the box and the whiskers of sorted values, so wide to either side; at is where
// a value is, so far from its axis.
func drawBox(c draw.Canvas, sorted []float64, color color.NRGBA, half vg.Length, at func(v float64, aside vg.Length) vg.Point) {
	q := func(f float64, aside vg.Length) vg.Point { return at(score.Quantile(sorted, f), aside) }
	stroke := func(width vg.Length, a, b vg.Point) { c.StrokeLine2(line(color, width), a.X, a.Y, b.X, b.Y) }
	stroke(1.1, q(0.05, 0), q(0.25, 0))
	stroke(1.1, q(0.75, 0), q(0.95, 0))
	for _, f := range []float64{0.05, 0.95} {
		stroke(1.1, q(f, -half*3/7), q(f, half*3/7))
	}
	box := []vg.Point{q(0.25, -half), q(0.75, -half), q(0.75, half), q(0.25, half), q(0.25, -half)}
	c.FillPolygon(faded(color, 0x38), box)
	c.StrokeLines(line(color, 1.1), box)
	stroke(2.2, q(0.5, -half), q(0.5, half))
}

// diamond is a filled rhombus.
type diamond struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (diamond) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, p vg.Point) {
	c.FillPolygon(s.Color, []vg.Point{{X: p.X - s.Radius, Y: p.Y}, {X: p.X, Y: p.Y + s.Radius}, {X: p.X + s.Radius, Y: p.Y}, {X: p.X, Y: p.Y - s.Radius}})
}

// standard is an upright dashed line, with its label at the top.
type standard struct {
	Level
	row int // of the label, from the top
}

// Plot implements plot.Plotter.
func (s standard) Plot(c draw.Canvas, p *plot.Plot) {
	trX, _ := p.Transforms(&c)
	x := trX(s.Value)
	c.StrokeLine2(line(muted, 1, 4, 3), x, c.Min.Y, x, c.Max.Y)
	style := textStyle(tickSize, muted, draw.XLeft, draw.YTop)
	at := vg.Point{X: x + 3, Y: c.Max.Y - vg.Length(s.row)*11}
	if width := style.Width(s.Label); at.X+width > c.Max.X {
		at.X -= width + 8
	}
	c.FillText(style, at, s.Label)
}

// bandFigure draws the distribution over samples of a metric for every row, with the published
// scores if they are of that metric; ok is false if no row has it.
func bandFigure(name, title, caption string, rows []row, get func(score.Sample) float64, published bool, levels []Level) (f figure, ok bool) {
	g := newPlot("", title, "")
	addGrid(g, true, false)
	lo, hi := math.Inf(1), math.Inf(-1)
	see := func(v float64) bool {
		if visible(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
		return visible(v)
	}
	var bands []band
	for _, r := range rows {
		b := band{name: r.Label, values: slices.DeleteFunc(r.Evaluation.Values(get), func(v float64) bool { return !see(v) }), color: r.rgb()}
		if published {
			b.published = r.Published
		}
		if len(b.values) == 0 && b.published == nil {
			continue
		}
		slices.Sort(b.values)
		if s := b.published; s != nil {
			see(s.Mean)
			see(s.Mean + max(s.Std, 0))
		}
		bands = append(bands, b)
	}
	if len(bands) == 0 {
		return figure{}, false
	}
	levels = slices.DeleteFunc(slices.Clone(levels), func(l Level) bool { return !see(l.Value) })
	for i, l := range levels {
		g.Add(standard{l, i})
	}
	var ticks []plot.Tick
	published = false
	for i, b := range bands {
		b.y = float64(len(bands) - 1 - i)
		ticks = append(ticks, plot.Tick{Value: b.y, Label: b.name})
		published = published || b.published != nil
		g.Add(b)
	}
	logAxis(&g.X, lo, hi, true)
	g.Y.Min, g.Y.Max = -0.6, float64(len(bands))-0.4+0.24*float64(len(levels))
	g.Y.Tick.Marker = plot.ConstantTicks(ticks)
	g.Y.LineStyle.Width, g.Y.Tick.LineStyle.Width = 0, 0
	g.Y.Tick.Label.Font.Size = labelSize
	caption += boxText + ", samples as dots"
	if published {
		caption += "; diamonds with a line: published mean ± standard deviation, of another set-up"
	}
	caption += levelText(levels, words.Percent)
	widest := vg.Length(0)
	for _, b := range bands {
		widest = max(widest, g.Y.Tick.Label.Width(b.name))
	}
	return plotFigure(name, caption, 400+max(0, widest-110), vg.Length(36+46*len(bands)+11*len(levels)), g), true
}

// errorFigure draws relative_l2 of the samples for methods and baselines.
func (p *Page) errorFigure() (figure, bool) {
	rows := p.rows()
	if p.BeyondTraining() { // as the published figures are; baselines have errors of all times alone
		return bandFigure("errors", "relative L² error of a sample beyond training", "Errors of the samples at the times beyond training", p.methods(), func(s score.Sample) float64 { return s.Unseen }, true, nil)
	}
	levels := slices.DeleteFunc(p.errorLevels(), func(l Level) bool { // one that has a row of its own
		return slices.ContainsFunc(rows, func(r row) bool { return r.Label == l.Label })
	})
	return bandFigure("errors", "relative L² error of a sample", "Errors of the samples", rows, func(s score.Sample) float64 { return s.RelativeL2 }, true, levels)
}

// residualFigure draws the relative residual of the samples.
func (p *Page) residualFigure() (figure, bool) {
	return bandFigure("residuals", "relative residual of a sample", "Residuals without weights over "+p.Rate(), p.methods(),
		func(s score.Sample) float64 { return s.RelativeResidual }, false, p.residualLevels())
}
