package report

import (
	"image/color"
	"math"

	"pihc/score"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// spectrumRange is how far below its largest value a spectrum is drawn.
const spectrumRange = 1e-11

// spectrumFigure draws the spectra of classical solution and predictions at the
// middle and the last time, on the finest grid that all methods were scored on; ok
// is false without spectra.
func (p *Page) spectrumFigure() (f Figure, ok bool) {
	shape := p.spectrumGrid()
	if shape == nil {
		return f, false
	}
	spectra := make([]*score.Spectra, len(p.Methods))
	var first *score.Spectra
	for i := range p.Methods {
		if e := p.Methods[i].Evaluation.On(shape); e != nil {
			spectra[i] = e.Spectra
		}
		if first == nil {
			first = spectra[i]
		}
	}
	quantity, symbol := "power of "+p.fieldName(), "P(k)"
	if first.Quantity == "energy" {
		quantity, symbol = "kinetic energy", "E(k)"
	}
	var keys []key
	if len(first.At[0].Truth) > 0 {
		keys = append(keys, key{"classical solution", ink, nil})
	}
	for i, s := range spectra {
		if s != nil {
			keys = append(keys, key{p.Methods[i].Label, p.methodColor(i), nil})
		}
	}
	start := first.At[0].Truth
	if start != nil {
		keys = append(keys, key{"initial condition", muted, nil})
	}
	largest := 0.0
	for _, at := range first.At {
		for _, list := range [][]float64{at.Truth, at.Prediction} {
			for k := 1; k < min(first.Complete, len(list)); k++ {
				largest = max(largest, list[k])
			}
		}
	}
	if !(largest > 0) {
		return f, false
	}
	var panels []*plot.Plot
	var titles []string
	for i := 1; i < len(first.At); i++ {
		titles = append(titles, p.timeLabel(first.At[i].Time))
		g := newPlot("", "", "")
		addGrid(g, true, true)
		lo := math.Inf(1)
		add := func(list []float64, style draw.LineStyle) {
			var points plotter.XYs
			for k := 1; k < min(first.Complete, len(list)); k++ {
				if v := list[k]; v > largest*spectrumRange {
					points = append(points, plotter.XY{X: float64(k), Y: v})
					lo = min(lo, v)
				}
			}
			if len(points) > 1 {
				addLine(g, points, style)
			}
		}
		add(start, line(muted, 1, 2, 2))
		add(first.At[i].Truth, line(ink, 2.2))
		for j, s := range spectra {
			if s != nil && i < len(s.At) {
				add(s.At[i].Prediction, line(p.methodColor(j), 1.3))
			}
		}
		g.X.Min, g.X.Max = 1, float64(max(first.Complete-1, 2))
		useLog(&g.X, false)
		g.Y.Min, g.Y.Max = logRange(lo, largest)
		useLog(&g.Y, false)
		if own := p.trainedWavenumber(); own > 0 && own < g.X.Max {
			g.Add(upright{own, muted})
		}
		panels = append(panels, g)
	}
	if len(panels) == 0 {
		return f, false
	}
	caption := "Spectrum of the " + quantity + " over isotropic wavenumbers, mean over the test samples, on " + p.gridLabel(shape) + " points"
	if p.trainedWavenumber() < float64(first.Complete-1) {
		caption += "; the dotted upright line is the largest wavenumber of the training grid"
	}
	const width, height = 300, 250
	total := vg.Length(width * len(panels))
	return Figure{Name: "spectrum", Caption: caption, Width: total, Height: height, draw: func(c draw.Canvas) {
		drawKeys(draw.Crop(c, 4, 0, height-16, 0), panels[0], keys)
		for i, g := range panels {
			panel := draw.Crop(c, vg.Length(i*width)+18, vg.Length((i+1)*width)-total-10, 15, -38)
			g.Draw(panel)
			// Labels are set here: the plot would leave room for them as if they
			// stood at the middle value, which is not the middle of a logarithmic axis.
			inner := g.DataCanvas(panel)
			middle := vg.Point{X: (inner.Min.X + inner.Max.X) / 2, Y: (inner.Min.Y + inner.Max.Y) / 2}
			c.FillText(textStyle(labelSize, ink, draw.XCenter, draw.YBottom), vg.Point{X: middle.X, Y: inner.Max.Y + 5}, titles[i])
			c.FillText(textStyle(labelSize, ink, draw.XCenter, draw.YBottom), vg.Point{X: middle.X, Y: c.Min.Y + 4}, "wavenumber k (periods across the domain)")
			aside := textStyle(labelSize, ink, draw.XCenter, draw.YBottom)
			aside.Rotation = math.Pi / 2
			c.FillText(aside, vg.Point{X: c.Min.X + vg.Length(i*width) + 14, Y: middle.Y}, quantity+" "+symbol)
		}
	}}, true
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
type upright struct {
	x     float64
	color color.NRGBA
}

// Plot implements plot.Plotter.
func (u upright) Plot(c draw.Canvas, p *plot.Plot) {
	trX, _ := p.Transforms(&c)
	c.StrokeLine2(line(u.color, 0.9, 1, 2), trX(u.x), c.Min.Y, trX(u.x), c.Max.Y)
}
