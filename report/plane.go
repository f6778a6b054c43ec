package report

import (
	"cmp"
	"image"
	"image/color"
	"math"
	"slices"
	"strings"

	"pihc/internal/words"
)

// planeTimes is about the number of times at which a field over time and two axes of space
// is drawn.
const planeTimes = 5

// overPlanes reports whether the cases are fields over time and two axes of space.
func (p *Page) overPlanes() bool { return len(p.Axes) == 3 }

// roundTimes returns the points of t nearest to round numbers after its start, as
// many as come nearest to planeTimes: 1, 2, 3, 4 and 5 of an axis from 0 to 5.
func roundTimes(t FieldAxis) []int {
	n := len(t.Values)
	lo, hi := t.Values[0], t.Values[n-1]
	if n == 1 || !(hi > lo) {
		return []int{n - 1}
	}
	var best []int
	distance := math.Inf(1)
	power := math.Pow(10, math.Floor(math.Log10((hi-lo)/planeTimes)))
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		step := m * power
		var at []int
		for k := math.Floor(lo/step+1e-9) + 1; k <= hi/step+1e-9; k++ {
			i := int(math.Round((k*step - lo) / (hi - lo) * float64(n-1)))
			if i > 0 && !slices.Contains(at, i) {
				at = append(at, i)
			}
		}
		if d := math.Abs(float64(len(at) - planeTimes)); len(at) > 0 && d < distance {
			best, distance = at, d
		}
	}
	return best
}

// span returns the ends of what is drawn of an axis: a period, or half a step
// outside the first and last points.
func (a FieldAxis) span() (lo, hi float64) {
	n := len(a.Values)
	if !a.Periodic || n < 2 {
		return a.extent()
	}
	step := (a.Values[n-1] - a.Values[0]) / float64(n-1)
	return a.Values[0], a.Values[0] + float64(n)*step
}

// tap is the cubic convolution (Keys 1981) that gives the value at one pixel.
type tap struct {
	at     [4]int
	weight [4]float64
}

// taps returns what each of count pixels along an axis is made of.
func (a FieldAxis) taps(count int) []tap {
	n := len(a.Values)
	out := make([]tap, count)
	for i := range out {
		x := (float64(i) + 0.5) / float64(count) * float64(n)
		if !a.Periodic {
			x = min(max(x-0.5, 0), float64(n-1))
		}
		j := int(math.Floor(x))
		f := x - float64(j)
		t := &out[i]
		t.weight = [4]float64{
			f * (-1 + f*(2-f)) / 2, 1 + f*f*(-5+3*f)/2, f * (1 + f*(4-3*f)) / 2, f * f * (f - 1) / 2,
		}
		for k := range t.at {
			t.at[k] = j + k - 1
			if a.Periodic {
				t.at[k] = (t.at[k]%n + n) % n
			} else {
				t.at[k] = min(max(t.at[k], 0), n-1)
			}
		}
	}
	return out
}

// raster interpolates a field over x and y, (x, y) in memory, at width x height
// pixels, row by row from the top; x runs to the right, y upwards.
func raster(u []float64, x, y FieldAxis, width, height int) []float64 {
	m := len(y.Values)
	columns := make([]float64, width*m) // (pixel, y)
	for i, t := range x.taps(width) {
		dst := columns[i*m : (i+1)*m]
		for k, at := range t.at {
			for j := range dst {
				dst[j] += t.weight[k] * u[at*m+j]
			}
		}
	}
	out := make([]float64, width*height)
	for j, t := range y.taps(height) {
		row := out[(height-1-j)*width:][:width]
		for i := range row {
			c := columns[i*m:]
			row[i] = t.weight[0]*c[t.at[0]] + t.weight[1]*c[t.at[1]] + t.weight[2]*c[t.at[2]] + t.weight[3]*c[t.at[3]]
		}
	}
	return out
}

// planeImage draws a field on the scale [lo, hi] in 255 colours of a map, and grey
// for NaN.
func planeImage(u []float64, x, y FieldAxis, width, height int, colors colorMap, lo, hi float64) image.Image {
	const levels = 255
	palette := make(color.Palette, levels+1)
	for i := range levels {
		palette[i] = colors.at(float64(i) / (levels - 1))
	}
	palette[levels] = colors.at(math.NaN())
	img := image.NewPaletted(image.Rect(0, 0, width, height), palette)
	for i, v := range raster(u, x, y, width, height) {
		img.Pix[i] = level((v-lo)/(hi-lo), levels)
	}
	return img
}

// level returns which of count colours stands for x in [0, 1], count for NaN.
func level(x float64, count int) uint8 {
	if math.IsNaN(x) {
		return uint8(count)
	}
	return uint8(math.Round(min(max(x, 0), 1) * float64(count-1)))
}

// timeLabel writes a time with its unit.
func (p *Page) timeLabel(t float64) string {
	axis := FieldAxis{Name: "t"}
	if len(p.Axes) > 0 {
		axis = p.Axes[0]
	}
	return strings.TrimSpace(axis.Name + " = " + words.Number(t) + " " + axis.Unit)
}

// fieldName is the name of the solution.
func (p *Page) fieldName() string { return cmp.Or(p.Field, "u") }

// fieldOf is the name of what a case shows.
func (p *Page) fieldOf(c Case) string { return cmp.Or(c.Field, p.fieldName()) }

// slice returns the values of a case's field at time i.
func (p *Page) slice(u []float64, i int) []float64 {
	n := len(p.Axes[1].Values) * len(p.Axes[2].Values)
	return u[i*n : (i+1)*n]
}

// planeSize returns the pixels of a plane whose longer side has limit.
func (p *Page) planeSize(limit int) (width, height int) {
	xlo, xhi := p.Axes[1].span()
	ylo, yhi := p.Axes[2].span()
	longer := max(xhi-xlo, yhi-ylo)
	scale := func(d float64) int { return max(int(math.Round(float64(limit)*d/longer)), limit/4) }
	return scale(xhi - xlo), scale(yhi - ylo)
}
