package report

import (
	"image"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// heat draws a field over two axes, the first (time) to the right, the second
// upwards, with the expert borders on top.
type heat struct {
	shown
	axes []FieldAxis
}

// extent returns the ends of an axis, half a step outside its first and last
// points.
func (a FieldAxis) extent() (lo, hi float64) {
	n := len(a.Values)
	if n < 2 {
		return a.Values[0] - 0.5, a.Values[0] + 0.5
	}
	half := (a.Values[n-1] - a.Values[0]) / float64(n-1) / 2
	return a.Values[0] - half, a.Values[n-1] + half
}

// DataRange implements plot.DataRanger.
func (h heat) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax = h.axes[0].extent()
	ymin, ymax = h.axes[1].extent()
	return xmin, xmax, ymin, ymax
}

// Plot implements plot.Plotter.
func (h heat) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	xmin, xmax, ymin, ymax := h.DataRange()
	box := vg.Rectangle{Min: vg.Point{X: x(xmin), Y: y(ymin)}, Max: vg.Point{X: x(xmax), Y: y(ymax)}}
	c.DrawImage(box, h.image())
	strokeBorders(c, box, h.borders, 1.4, h.axes[0].extent, h.axes[1].extent)
}

// widest is the largest number of pixels along an axis; finer fields are
// averaged, so that a page stays small.
const widest = 220

func (h heat) image() image.Image {
	nt, nx := len(h.axes[0].Values), len(h.axes[1].Values)
	data, w, v := average(h.field, nt, nx, widest)
	// Every value is at least two pixels wide, so that viewers that smooth
	// images blur less than half a cell.
	scaleX, scaleY := 1+(widest-1)/w, 1+(widest-1)/v
	img := image.NewNRGBA(image.Rect(0, 0, w*scaleX, v*scaleY))
	for i := range w {
		for j := range v {
			c := h.colors.at((data[i*v+j] - h.lo) / (h.hi - h.lo))
			for a := range scaleX {
				for b := range scaleY {
					img.SetNRGBA(i*scaleX+a, (v-1-j)*scaleY+b, c)
				}
			}
		}
	}
	return img
}

// average reduces an (n, m) field to at most limit points along each axis by
// means over blocks of nearly equal size.
func average(data []float64, n, m, limit int) ([]float64, int, int) {
	if n <= limit && m <= limit {
		return data, n, m
	}
	w, v := min(n, limit), min(m, limit)
	out := make([]float64, w*v)
	for i := range w {
		for j := range v {
			sum, count := 0.0, 0
			for a := i * n / w; a < (i+1)*n/w; a++ {
				for b := j * m / v; b < (j+1)*m/v; b++ {
					sum += data[a*m+b]
					count++
				}
			}
			out[i*v+j] = sum / float64(count)
		}
	}
	return out, w, v
}

// panel returns the plot of one field.
func panel(h heat) *plot.Plot {
	p := newPlot(h.title(), h.axes[0].label(), h.axes[1].label())
	p.Add(h)
	p.X.Tick.Marker = linearTicks{4}
	p.Y.Tick.Marker = linearTicks{4}
	return p
}

// bar is the colour bar of a field, below it.
type bar shown

// DataRange implements plot.DataRanger.
func (b bar) DataRange() (xmin, xmax, ymin, ymax float64) { return b.lo, b.hi, 0, 1 }

// Plot implements plot.Plotter.
func (b bar) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	img := image.NewNRGBA(image.Rect(0, 0, 256, 2))
	for i := range 512 {
		img.SetNRGBA(i%256, i/256, b.colors.at(float64(i%256)/255))
	}
	c.DrawImage(vg.Rectangle{Min: vg.Point{X: x(b.lo), Y: y(0)}, Max: vg.Point{X: x(b.hi), Y: y(1)}}, img)
}

func barPlot(label string, s shown) *plot.Plot {
	p := newPlot("", label, "")
	p.Add(bar(s))
	p.HideY()
	p.X.Tick.Marker = linearTicks{4}
	return p
}

// caseScales returns the shared scale of the values of a case and, symmetric
// about zero, of the differences from the truth.
func caseScales(c Case) (lo, hi, difference float64) {
	seen := [][]float64{c.Truth}
	if c.Truth == nil {
		seen = c.Predictions
	}
	lo, hi = scaleOf(seen...)
	for _, u := range c.Predictions {
		for i := range min(len(u), len(c.Truth)) {
			if d := math.Abs(u[i] - c.Truth[i]); !math.IsNaN(d) && !math.IsInf(d, 0) {
				difference = max(difference, d)
			}
		}
	}
	if difference == 0 {
		difference = 1
	}
	return lo, hi, difference
}

// scaleOf returns a scale on which all finite values of fields are, one of some length.
func scaleOf(fields ...[]float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, x := range fields {
		for _, v := range x {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	if !(hi > lo) { // one value: as far above zero as below what the scale ends with
		if lo, hi = min(2*lo, 0), max(2*lo, 0); lo == hi {
			hi = 1
		}
		if math.IsInf(lo, 0) || math.IsInf(hi, 0) {
			lo, hi = 0, 1
		}
	}
	return lo, hi
}

// caption says what the drawing of a case shows.
func (c Case) caption() string {
	shown := "predictions"
	switch {
	case c.Truth != nil && len(c.Predictions) == 0:
		shown = "solution"
	case c.Truth != nil:
		shown = "solution, predictions and differences from it, on shared scales"
	}
	if len(c.Inputs) > 0 {
		shown = "inputs, each on its own scale, " + shown
	}
	return c.Title + ": " + shown
}

// caseFigure sets all panels of a case in one drawing: values above, differences
// below, colour bars where there are none.
func (p *Page) caseFigure(name string, c Case) figure {
	const width, height, barHeight = 168, 150, 52
	var values, differences, bars []*plot.Plot // differences[i] is of values[i] or nil; bars of the first columns
	var errorBar *plot.Plot
	for _, s := range p.shown(c) {
		if s.difference() {
			differences[len(differences)-1] = panel(heat{s, p.Axes})
			errorBar = barPlot("difference in "+p.fieldOf(c), s)
			continue
		}
		if len(bars) <= len(c.Inputs) {
			bars = append(bars, barPlot(s.of, s))
		}
		values, differences = append(values, panel(heat{s, p.Axes})), append(differences, nil)
	}
	columns, rows := len(values), [][]*plot.Plot{values}
	if errorBar != nil {
		rows = append(rows, differences)
	}
	for _, row := range rows {
		labelled := false
		for _, q := range row {
			if q != nil && labelled {
				q.Y.Label.Text = ""
			}
			labelled = labelled || q != nil
		}
	}
	bottom := vg.Length(0)
	if errorBar == nil {
		bottom = barHeight
	}
	total := vg.Length(height*len(rows)) + bottom
	return figure{Name: name, Caption: c.caption(), Width: vg.Length(width * columns), Height: total, draw: func(dc draw.Canvas) {
		top := draw.Crop(dc, 2, -8, bottom, -2)
		tiles := draw.Tiles{Rows: len(rows), Cols: columns, PadX: 10, PadY: 8}
		canvases := plot.Align(rows, tiles, top)
		for j, row := range rows {
			for i, q := range row {
				if q != nil {
					q.Draw(canvases[j][i])
				}
			}
		}
		// under draws a bar so far above the lower edge of a column.
		under := func(column int, above vg.Length, bar *plot.Plot) {
			x := vg.Length(column * width)
			bar.Draw(draw.Crop(dc, x+20, -dc.Max.X+dc.Min.X+x+width-10, above, -(total - above - 44)))
		}
		high := vg.Length(4)
		if errorBar != nil {
			high = 80
		}
		if errorBar != nil {
			under(len(bars)-1, 18, errorBar)
		}
		for i, bar := range slices.Backward(bars) {
			under(i, high, bar)
		}
	}}
}
