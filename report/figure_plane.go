package report

import (
	"image"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// shown is one field of the drawing of a case.
type shown struct {
	label, sublabel string
	of              string // what its colour bar shows
	field           []float64
	colors          colorMap
	lo, hi          float64
	borders         [][]float64 // by axis
}

// difference reports whether the field is a difference, which is drawn close to its prediction.
func (s shown) difference() bool { return s.colors[0] == diverging[0] }

// title is the label in one line.
func (s shown) title() string { return strings.TrimSpace(s.label + " " + s.sublabel) }

// shown lists what is drawn of a case: the fields it was given, each on a scale of its own, the
// classical solution, and every prediction with its difference from it.
func (p *Page) shown(c Case) []shown {
	lo, hi, worst := caseScales(c)
	name := p.fieldOf(c)
	var out []shown
	for _, in := range c.Inputs {
		lo, hi := scaleOf(in.Values)
		out = append(out, shown{label: "input", sublabel: in.Name, of: in.Name, field: in.Values, colors: viridis, lo: lo, hi: hi})
	}
	if c.Truth != nil {
		out = append(out, shown{label: "classical", sublabel: "solution", of: name, field: c.Truth, colors: viridis, lo: lo, hi: hi})
	}
	for i, u := range c.Predictions {
		if u == nil {
			continue
		}
		m := &p.Methods[i]
		out = append(out, shown{label: m.Label, of: name, field: u, colors: viridis, lo: lo, hi: hi, borders: m.Borders})
		if c.Truth != nil {
			out = append(out, shown{label: m.Label, sublabel: "− classical", of: "difference", field: subtract(u, c.Truth), colors: diverging, lo: -worst, hi: worst, borders: m.Borders})
		}
	}
	return out
}

// textStyle is the house style of a text.
func textStyle(size vg.Length, c color.Color, x draw.XAlignment, y draw.YAlignment) draw.TextStyle {
	return draw.TextStyle{Color: c, Font: font.From(sans, size), Handler: plot.DefaultTextHandler, XAlign: x, YAlign: y}
}

// planeFigure sets a case over time and two axes of space in one drawing: times to
// the right, the classical solution, predictions and differences downwards, one
// colour bar for values and one for differences.
func (p *Page) planeFigure(name string, c Case) figure {
	const (
		side, pixels   = 100, 160
		gap, group     = 5, 9
		top            = 20
		barGap, barEnd = 12, 62
	)
	times := roundTimes(p.Axes[0])
	rows := p.shown(c)
	style := textStyle(labelSize, ink, draw.XRight, draw.YCenter)
	left := 54
	for _, r := range rows {
		left = max(left, int(math.Ceil(float64(style.Width(r.label)))))
	}
	left += 12
	w, h := p.planeSize(side)
	pw, ph := p.planeSize(pixels)
	width := vg.Length(left + len(times)*w + (len(times)-1)*gap + barGap + barEnd)
	tops := make([]vg.Length, len(rows))
	y := vg.Length(top)
	for i, r := range rows {
		if i > 0 {
			if y += group; r.difference() {
				y += gap - group
			}
		}
		tops[i] = y
		y += vg.Length(h)
	}
	height := y + 4
	caption := c.caption() + "; " + p.Axes[1].Name + " to the right, " + p.Axes[2].Name + " upwards"
	return figure{Name: name, Caption: caption, Width: width, Height: height, draw: func(dc draw.Canvas) {
		at := func(x, y vg.Length) vg.Point { return vg.Point{X: dc.Min.X + x, Y: dc.Max.Y - y} }
		for k, i := range times {
			dc.FillText(textStyle(labelSize, ink, draw.XCenter, draw.YCenter), at(vg.Length(left+k*(w+gap)+w/2), top/2), p.timeLabel(p.Axes[0].Values[i]))
		}
		for j, r := range rows {
			middle := tops[j] + vg.Length(h)/2
			if r.sublabel == "" {
				dc.FillText(style, at(vg.Length(left-8), middle), r.label)
			} else {
				dc.FillText(style, at(vg.Length(left-8), middle-6), r.label)
				dc.FillText(style, at(vg.Length(left-8), middle+6), r.sublabel)
			}
			for k, i := range times {
				x := vg.Length(left + k*(w+gap))
				box := vg.Rectangle{Min: at(x, tops[j]+vg.Length(h)), Max: at(x+vg.Length(w), tops[j])}
				dc.DrawImage(box, planeImage(p.slice(r.field, i), p.Axes[1], p.Axes[2], pw, ph, r.colors, r.lo, r.hi))
				if len(r.borders) == 3 {
					strokeBorders(dc, box, r.borders[1:], 1, p.Axes[1].span, p.Axes[2].span)
				}
			}
		}
		x := vg.Length(left+len(times)*w+(len(times)-1)*gap) + barGap
		drawn := map[string]bool{}
		for j, r := range rows {
			if drawn[r.of] {
				continue
			}
			drawn[r.of] = true
			columnBar(dc, vg.Rectangle{Min: at(x, tops[j]+vg.Length(h)), Max: at(x+9, tops[j])}, r)
		}
	}}
}

// strokeBorders draws the borders between experts on a plane: a light line under a dark dashed
// one shows on every colour.
func strokeBorders(dc draw.Canvas, box vg.Rectangle, borders [][]float64, width vg.Length, spans ...func() (lo, hi float64)) {
	for a, ends := range borders {
		lo, hi := spans[a]()
		for i := 1; i < len(ends)-1; i++ {
			f := vg.Length((ends[i] - lo) / (hi - lo))
			from, to := box.Min, box.Max
			if a == 0 {
				from.X = box.Min.X + f*(box.Max.X-box.Min.X)
				to.X = from.X
			} else {
				from.Y = box.Min.Y + f*(box.Max.Y-box.Min.Y)
				to.Y = from.Y
			}
			dc.StrokeLine2(line(borderLight, width), from.X, from.Y, to.X, to.Y)
			dc.StrokeLine2(line(borderDark, width/2, 3, 2), from.X, from.Y, to.X, to.Y)
		}
	}
}

// columnBar draws an upright colour bar with its scale and what it shows to the right.
func columnBar(dc draw.Canvas, box vg.Rectangle, r shown) {
	img := image.NewNRGBA(image.Rect(0, 0, 2, 128))
	for i := range 256 {
		img.SetNRGBA(i%2, i/2, r.colors.at(1-float64(i/2)/127))
	}
	dc.DrawImage(box, img)
	style := textStyle(tickSize, ink, draw.XLeft, draw.YCenter)
	for _, t := range (linearTicks{4}).Ticks(r.lo, r.hi) {
		y := box.Min.Y + vg.Length((t.Value-r.lo)/(r.hi-r.lo))*(box.Max.Y-box.Min.Y)
		dc.StrokeLine2(line(muted, 0.6), box.Max.X, y, box.Max.X+3, y)
		dc.FillText(style, vg.Point{X: box.Max.X + 5, Y: y}, t.Label)
	}
	upright := textStyle(labelSize, ink, draw.XCenter, draw.YBottom)
	upright.Rotation = math.Pi / 2
	dc.FillText(upright, vg.Point{X: box.Max.X + 44, Y: (box.Min.Y + box.Max.Y) / 2}, r.of)
}

// subtract is a - b, of equal length.
func subtract(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return d
}
