package report

import (
	"cmp"
	"math"
	"slices"

	"pihc/score"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// spectrumRange is how far below its largest value a spectrum is drawn.
const spectrumRange = 1e-11

// A spectrumLine is a line of the panels, one panel a time.
type spectrumLine struct {
	key
	style draw.LineStyle
	at    func(time int) []float64
}

// spectrumLines returns the spectra of the first method on a grid that has some, whose times
// are drawn, and the lines of all.
func (p *Page) spectrumLines(shape []int) (first *score.Spectra, lines []spectrumLine) {
	for _, m := range p.methods() {
		e := m.Evaluation.On(shape)
		if e == nil || e.Spectra == nil {
			continue
		}
		first = cmp.Or(first, e.Spectra)
		lines = append(lines, spectrumLine{key{m.Label, m.rgb(), nil}, line(m.rgb(), 1.3), func(i int) []float64 {
			if i < len(e.Spectra.At) {
				return e.Spectra.At[i].Prediction
			}
			return nil
		}})
	}
	if start := first.At[0].Truth; len(start) > 0 {
		lines = slices.Concat([]spectrumLine{
			{key{"initial condition", muted, nil}, line(muted, 1, 2, 2), func(int) []float64 { return start }},
			{key{p.TruthLabel(), ink, nil}, line(ink, 2.2), func(i int) []float64 { return first.At[i].Truth }},
		}, lines)
	}
	return first, lines
}

// spectrumFigure draws the spectra of classical solution and predictions at the
// middle and the last time, on the finest grid that all methods were scored on; ok
// is false without spectra.
func (p *Page) spectrumFigure() (f figure, ok bool) {
	shape := p.spectrumGrid()
	if shape == nil {
		return f, false
	}
	first, lines := p.spectrumLines(shape)
	largest := 0.0
	for _, at := range first.At {
		for _, list := range [][]float64{at.Truth, at.Prediction} {
			if n := min(first.Complete, len(list)); n > 1 {
				largest = max(largest, slices.Max(list[1:n]))
			}
		}
	}
	if !(largest > 0) {
		return f, false
	}
	var panels []*plot.Plot
	for i := 1; i < len(first.At); i++ {
		panels = append(panels, spectrumPanel(first.Complete, lines, i, largest, p.trainedWavenumber()))
	}
	var keys []key
	for _, l := range lines {
		keys = append(keys, l.key)
	}
	if keys[0].color == muted { // what all begin with comes last
		keys = append(keys[1:], keys[0])
	}
	quantity, symbol := "power of "+p.fieldName(), "P(k)"
	if first.Quantity == "energy" {
		quantity, symbol = "kinetic energy", "E(k)"
	}
	caption := "Spectrum of the " + quantity + " over isotropic wavenumbers, mean over the test samples, on " + p.gridLabel(shape) + " points"
	if p.trainedWavenumber() < float64(first.Complete-1) {
		caption += "; the dotted upright line is the largest wavenumber of the training grid"
	}
	const width, height = 300, 250
	total := vg.Length(width * len(panels))
	return figure{Name: "spectrum", Caption: caption, Width: total, Height: height, draw: func(c draw.Canvas) {
		top := max(22, drawKeys(draw.Crop(c, 4, 0, 0, 0), panels[0], keys))
		style := textStyle(labelSize, ink, draw.XCenter, draw.YBottom)
		for i, g := range panels {
			panel := draw.Crop(c, vg.Length(i*width)+18, vg.Length((i+1)*width)-total-10, 15, -16-top)
			g.Draw(panel)
			// Labels are set here: the plot would leave room for them as if they
			// stood at the middle value, which is not the middle of a logarithmic axis.
			inner := g.DataCanvas(panel)
			middle := vg.Point{X: (inner.Min.X + inner.Max.X) / 2, Y: (inner.Min.Y + inner.Max.Y) / 2}
			c.FillText(style, vg.Point{X: middle.X, Y: inner.Max.Y + 5}, p.timeLabel(first.At[1+i].Time))
			c.FillText(style, vg.Point{X: middle.X, Y: c.Min.Y + 4}, "wavenumber k (periods across the domain)")
			aside := style
			aside.Rotation = math.Pi / 2
			c.FillText(aside, vg.Point{X: c.Min.X + vg.Length(i*width) + 14, Y: middle.Y}, quantity+" "+symbol)
		}
	}}, true
}

// spectrumPanel draws so many wavenumbers of the lines at one time.
func spectrumPanel(complete int, lines []spectrumLine, time int, largest, trained float64) *plot.Plot {
	g := newPlot("", "", "")
	addGrid(g, true, true)
	lo := math.Inf(1)
	for _, l := range lines {
		var points plotter.XYs
		list := l.at(time)
		for k := 1; k < min(complete, len(list)); k++ {
			if v := list[k]; v > largest*spectrumRange {
				points = append(points, plotter.XY{X: float64(k), Y: v})
				lo = min(lo, v)
			}
		}
		if len(points) > 1 {
			addLine(g, points, l.style)
		}
	}
	logAxis(&g.X, 1, 2, false)
	g.X.Min, g.X.Max = 1, float64(max(complete-1, 2))
	logAxis(&g.Y, lo, largest, false)
	if trained > 0 && trained < g.X.Max {
		g.Add(upright(trained))
	}
	return g
}

// spectrumGrid returns the finest grid with spectra of every method that has any,
// nil without.
func (p *Page) spectrumGrid() []int {
	for _, g := range p.grids() {
		all, any := true, false
		for i := range p.Methods {
			m := &p.Methods[i].Evaluation
			if m.Spectra == nil {
				continue
			}
			e := m.On(g)
			has := e != nil && e.Spectra != nil && len(e.Spectra.At) > 1
			all, any = all && has, any || has
		}
		if all && any {
			return g
		}
	}
	return nil
}

// trainedWavenumber is the largest wavenumber of the grid of training.
func (p *Page) trainedWavenumber() float64 {
	for i := range p.Methods {
		if s := p.Methods[i].Evaluation.Spectra; s != nil {
			return float64(s.Complete - 1)
		}
	}
	return 0
}

// upright is a dotted line at x.
type upright float64

// Plot implements plot.Plotter.
func (u upright) Plot(c draw.Canvas, p *plot.Plot) {
	trX, _ := p.Transforms(&c)
	x := trX(float64(u))
	c.StrokeLine2(line(muted, 0.9, 1, 2), x, c.Min.Y, x, c.Max.Y)
}
