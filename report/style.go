package report

import (
	"image/color"
	"math"
	"strconv"

	"pihc/internal/words"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var sans = font.Font{Typeface: "Liberation", Variant: "Sans"}

const (
	labelSize = 9
	tickSize  = 8
)

// newPlot returns an empty plot in the house style.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = color.Transparent
	p.Title.Text = title
	p.Title.TextStyle.Font = font.From(sans, labelSize)
	p.Title.TextStyle.Font.Weight = 2
	p.Title.TextStyle.Color = ink
	p.Title.Padding = 4
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = font.From(sans, labelSize)
		a.Label.TextStyle.Color = ink
		a.Label.Padding = 3
		a.Tick.Label.Font = font.From(sans, tickSize)
		a.Tick.Label.Color = ink
		a.Tick.Length = 3
		a.Tick.LineStyle = draw.LineStyle{Color: muted, Width: 0.6}
		a.LineStyle = draw.LineStyle{Color: muted, Width: 0.6}
		a.Padding = 0
		a.Tick.Marker = linearTicks{}
	}
	return p
}

// addGrid draws grid lines behind everything added later.
func addGrid(p *plot.Plot, vertical, horizontal bool) {
	g := plotter.NewGrid()
	g.Vertical = draw.LineStyle{Color: rule, Width: 0.6}
	g.Horizontal = g.Vertical
	if !vertical {
		g.Vertical.Color = nil
	}
	if !horizontal {
		g.Horizontal.Color = nil
	}
	p.Add(g)
}

// linearTicks places ticks at 1, 2, 2.5 or 5 times a power of ten.
type linearTicks struct{ count int }

// Ticks implements plot.Ticker.
func (l linearTicks) Ticks(lo, hi float64) []plot.Tick {
	count := l.count
	if count == 0 {
		count = 5
	}
	span := hi - lo
	if !(span > 0) || math.IsInf(span, 0) {
		return []plot.Tick{{Value: lo, Label: words.Number(lo)}}
	}
	power := math.Pow(10, math.Floor(math.Log10(span/float64(count))))
	step := 10 * power
	for _, m := range []float64{1, 2, 2.5, 5} {
		if span/(m*power) <= float64(count)*1.001 {
			step = m * power
			break
		}
	}
	var ticks []plot.Tick
	for i := math.Ceil(lo/step - 1e-9); i <= math.Floor(hi/step+1e-9); i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: tickLabel(i*step, step)})
	}
	return ticks
}

// tickLabel writes v with the digits that tell ticks step apart.
func tickLabel(v, step float64) string {
	if v == 0 {
		return "0"
	}
	if step >= 1e5 || step < 1e-4 {
		return scientificShort(v, step)
	}
	digits := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	if scaled := step * math.Pow(10, float64(digits)); math.Abs(scaled-math.Round(scaled)) > 1e-6 {
		digits++ // 2.5 of something
	}
	return words.Minus(formatFixed(v, digits))
}

// logTicks places labelled ticks at powers of ten, at 1-2-5 where the range is
// under two decades, and unlabelled ones between.
type logTicks struct{ percent bool }

// Ticks implements plot.Ticker.
func (l logTicks) Ticks(lo, hi float64) []plot.Tick {
	decades := math.Log10(hi / lo)
	every := max(1, int(math.Ceil(decades/7)))
	var ticks []plot.Tick
	for e := int(math.Floor(math.Log10(lo))); e <= int(math.Ceil(math.Log10(hi))); e++ {
		for m := 1; m < 10; m++ {
			v := float64(m) * math.Pow(10, float64(e))
			if v < lo*(1-1e-9) || v > hi*(1+1e-9) {
				continue
			}
			t := plot.Tick{Value: v}
			switch {
			case m == 1 && e%every == 0, decades < 2 && (m == 2 || m == 5), decades < 0.8:
				t.Label = l.label(v, m, e)
			}
			if every == 1 || m == 1 {
				ticks = append(ticks, t)
			}
		}
	}
	return ticks
}

func (l logTicks) label(v float64, m, e int) string {
	switch {
	case l.percent && v >= 1e-5 && v < 1000:
		return formatShortest(100*v) + " %"
	case e >= -2 && e <= 3:
		return formatShortest(v)
	case m == 1:
		return power(e)
	}
	return formatShortest(float64(m)) + power(e)[1:]
}

// logRange widens [lo, hi] to a range fit for a logarithmic axis.
func logRange(lo, hi float64) (float64, float64) {
	if !(lo > 0) || !(hi >= lo) || math.IsInf(hi, 0) {
		return 0.1, 1
	}
	if hi/lo < 1.5 {
		lo, hi = lo/1.5, hi*1.5
	}
	margin := math.Pow(hi/lo, 0.04)
	return lo / margin, hi * margin
}

// logAxis makes an axis logarithmic, for values from lo to hi.
func logAxis(a *plot.Axis, lo, hi float64, percent bool) {
	a.Min, a.Max = logRange(lo, hi)
	a.Scale, a.Tick.Marker = plot.LogScale{}, logTicks{percent}
}

func line(c color.Color, width vg.Length, dashes ...vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: width, Dashes: dashes}
}

// power writes a power of ten. The font of PNG files lacks a raised minus sign,
// so figures use the notation of programs.
func power(e int) string { return "1e" + words.Minus(strconv.Itoa(e)) }

func formatFixed(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }

// formatShortest writes v with at most six significant digits and no trailing zeros.
func formatShortest(v float64) string { return words.Minus(strconv.FormatFloat(v, 'g', 6, 64)) }

// scientificShort writes v as a multiple of a power of ten, with the digits
// that multiples of step need.
func scientificShort(v, step float64) string {
	e := int(math.Floor(math.Log10(math.Abs(v)) + 1e-9))
	digits := max(0, e-int(math.Floor(math.Log10(step)+1e-9)))
	if m := step / math.Pow(10, math.Floor(math.Log10(step)+1e-9)); math.Abs(m-2.5) < 1e-6 {
		digits++
	}
	return words.Minus(formatFixed(v/math.Pow(10, float64(e)), digits)) + power(e)[1:]
}
