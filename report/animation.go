package report

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"math"

	"pihc/score"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// animation is a GIF of one method: classical solution, prediction and difference
// side by side over time.
type animation struct {
	name, caption string
	of            string // figure of the same fields
	gif           []byte
	width, height int // at which it is shown
}

const (
	animationSide   = 224     // pixels of the longer side of a plane
	animationFrames = 64      // at most
	animationBytes  = 2000000 // at most, while more than a quarter of the frames is left
	animationTime   = 640     // hundredths of a second for all frames
)

// The 128 colours of a frame, few so that files stay small: each map, greys for
// text, and what stays as in the frame before.
const (
	mapColors  = 56
	firstGrey  = 2 * mapColors
	greyColors = 15
	unchanged  = firstGrey + greyColors
)

// animationPalette holds viridis, the diverging map, greys from black to white and
// no colour.
var animationPalette = func() color.Palette {
	var out color.Palette
	for _, m := range []colorMap{viridis, diverging} {
		for i := range mapColors {
			out = append(out, m.at(float64(i)/(mapColors-1)))
		}
	}
	for i := range greyColors {
		v := uint8(math.Round(255 * float64(i) / (greyColors - 1)))
		out = append(out, color.NRGBA{v, v, v, 0xff})
	}
	return append(out, color.NRGBA{})
}()

// animations returns an animation of the case in the middle for every method that
// has it, none unless fields are over time and two axes of space with a truth.
func (p *Page) animations() []animation {
	if !p.overPlanes() || len(p.Cases) == 0 || len(p.Axes[0].Values) < 2 {
		return nil
	}
	middle := len(p.Cases) / 2
	c := p.Cases[middle]
	if c.Truth == nil {
		return nil
	}
	var out []animation
	for i, u := range c.Predictions {
		if u != nil {
			a := p.animate(c, i)
			a.of = caseName(middle)
			out = append(out, a)
		}
	}
	return out
}

// animate draws fewer frames until the file is small enough.
func (p *Page) animate(c Case, method int) animation {
	m := &p.Methods[method]
	key := fileName(m.Key)
	if m.Key == "" {
		key = fileName(m.Label)
	}
	out := animation{
		name:    "animation_" + key,
		caption: c.Title + ": classical solution, " + m.Label + " and difference over time",
	}
	film := newFilm(p, c, method)
	out.width, out.height = film.width, film.height
	times := indices(len(p.Axes[0].Values))
	frames := min(len(times), animationFrames)
	for least := max(frames/4, 2); ; frames = max(least, min(frames-1, int(0.95*animationBytes*float64(frames)/float64(len(out.gif))))) {
		out.gif = film.encode(evenly(times, frames))
		if len(out.gif) <= animationBytes || frames <= least {
			return out
		}
	}
}

// film draws the frames of one animation.
type film struct {
	page          *Page
	fields        []planeRow
	w, h          int // pixels of a plane
	width, height int
	chrome        *image.Paletted // all that stands still
}

// Places in a frame, in pixels.
const (
	filmMargin = 14
	filmGap    = 12
	filmTop    = 62
	filmBottom = 48
)

func newFilm(p *Page, c Case, method int) *film {
	lo, hi, worst := caseScales(c)
	u := c.Predictions[method]
	f := &film{page: p, fields: []planeRow{
		{label: "classical solution", field: c.Truth, colors: viridis, lo: lo, hi: hi},
		{label: p.Methods[method].Label, field: u, colors: viridis, lo: lo, hi: hi},
		{label: "difference", field: score.Subtract(u, c.Truth), colors: diverging, lo: -worst, hi: worst},
	}}
	f.w, f.h = p.planeSize(animationSide)
	f.width = 2*filmMargin + len(f.fields)*f.w + (len(f.fields)-1)*filmGap
	f.height = filmTop + f.h + filmBottom
	f.chrome = image.NewPaletted(image.Rect(0, 0, f.width, f.height), animationPalette)
	f.text(f.chrome, f.chrome.Rect, func(dc draw.Canvas) {
		for i, r := range f.fields {
			x := vg.Length(f.left(i))
			dc.FillText(textStyle(14, color.Black, draw.XCenter, draw.YCenter), vg.Point{X: x + vg.Length(f.w)/2, Y: vg.Length(f.height - filmTop + 13)}, r.label)
			for _, t := range (linearTicks{4}).Ticks(r.lo, r.hi) {
				at := x + vg.Length((t.Value-r.lo)/(r.hi-r.lo)*float64(f.w-1)) + 0.5
				dc.StrokeLine2(line(color.Black, 1), at, 26, at, 30)
				dc.FillText(textStyle(12, color.Black, draw.XCenter, draw.YTop), vg.Point{X: at, Y: 24}, t.Label)
			}
		}
	})
	// Colour bars.
	for i, r := range f.fields {
		for x := range f.w {
			for y := range 10 {
				f.chrome.SetColorIndex(f.left(i)+x, f.height-filmBottom+8+y, f.index(r, r.lo+(r.hi-r.lo)*float64(x)/float64(f.w-1)))
			}
		}
	}
	return f
}

// left is the first column of plane i.
func (f *film) left(i int) int { return filmMargin + i*(f.w+filmGap) }

// index returns the colour of a value in the palette.
func (f *film) index(r planeRow, v float64) uint8 {
	x := (v - r.lo) / (r.hi - r.lo)
	switch {
	case math.IsNaN(x):
		return firstGrey + greyColors/2
	case r.colors[0] == diverging[0]:
		return mapColors + level(x, mapColors)
	}
	return level(x, mapColors)
}

// text draws with points as pixels on the rectangle of a white image and keeps the
// brightness.
func (f *film) text(dst *image.Paletted, area image.Rectangle, paint func(dc draw.Canvas)) {
	w, h := vg.Length(area.Dx()), vg.Length(area.Dy())
	c := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(72), vgimg.UseBackgroundColor(color.White))
	paint(draw.New(c))
	src := c.Image()
	for y := range area.Dy() {
		for x := range area.Dx() {
			v := color.GrayModel.Convert(src.At(x, y)).(color.Gray).Y
			dst.SetColorIndex(area.Min.X+x, area.Min.Y+y, firstGrey+level(float64(v)/255, greyColors))
		}
	}
}

// frame draws one time on what stands still.
func (f *film) frame(time int) *image.Paletted {
	img := image.NewPaletted(f.chrome.Rect, animationPalette)
	copy(img.Pix, f.chrome.Pix)
	x, y := f.page.Axes[1], f.page.Axes[2]
	for i, r := range f.fields {
		for k, v := range raster(f.page.slice(r.field, time), x, y, f.w, f.h) {
			img.SetColorIndex(f.left(i)+k%f.w, filmTop+k/f.w, f.index(r, v))
		}
	}
	t := f.page.Axes[0]
	header := image.Rect(filmMargin, 8, f.width-filmMargin, 34)
	f.text(img, header, func(dc draw.Canvas) {
		dc.FillText(textStyle(17, color.Black, draw.XLeft, draw.YCenter), vg.Point{X: 0, Y: 15}, f.page.timeLabel(t.Values[time]))
		// How much of the time has passed.
		from, to := vg.Length(150), vg.Length(header.Dx())
		share := vg.Length((t.Values[time] - t.Values[0]) / (t.Values[len(t.Values)-1] - t.Values[0]))
		dc.StrokeLine2(line(color.Gray{0xdd}, 4), from, 14, to, 14)
		dc.StrokeLine2(line(color.Gray{0x55}, 4), from, 14, from+share*(to-from), 14)
	})
	return img
}

// encode returns the GIF of some of the times.
func (f *film) encode(times []int) []byte {
	g := &gif.GIF{Config: image.Config{ColorModel: animationPalette, Width: f.width, Height: f.height}}
	var last *image.Paletted
	for _, i := range times {
		next := f.frame(i)
		g.Image = append(g.Image, changes(last, next))
		g.Delay = append(g.Delay, max(4, animationTime/len(times)))
		g.Disposal = append(g.Disposal, gif.DisposalNone)
		last = next
	}
	g.Delay[len(times)-1] += 120
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		panic("report: a film that does not encode")
	}
	return b.Bytes()
}

// changes returns next without the pixels that are those of last, which may be nil.
func changes(last, next *image.Paletted) *image.Paletted {
	if last == nil {
		return next
	}
	out := image.NewPaletted(next.Rect, next.Palette)
	for i, c := range next.Pix {
		if out.Pix[i] = c; c == last.Pix[i] {
			out.Pix[i] = unchanged
		}
	}
	return out
}
