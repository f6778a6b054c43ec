package report

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gonum.org/v1/plot/palette/moreland"
)

// Colours of a figure. The page replaces each by a style variable, so that
// figures follow the light or dark scheme; each must differ from all others.
var (
	ink    = color.NRGBA{0x1d, 0x23, 0x30, 0xff} // text, axes
	muted  = color.NRGBA{0x6a, 0x72, 0x82, 0xff} // baselines, ticks
	rule   = color.NRGBA{0xe3, 0xe6, 0xeb, 0xff} // grid lines
	series = []color.NRGBA{                      // methods: soft, hard, moe, others
		{0xd9, 0x77, 0x06, 0xff},
		{0x25, 0x63, 0xeb, 0xff},
		{0x05, 0x96, 0x69, 0xff},
		{0x93, 0x33, 0xea, 0xff},
		{0xdb, 0x27, 0x77, 0xff},
		{0x08, 0x91, 0xb2, 0xff},
		{0x65, 0xa3, 0x0d, 0xff},
		{0xb4, 0x53, 0x09, 0xff},
	}
)

// Border lines lie on heat maps, which are the same in both schemes.
var (
	borderLight = color.NRGBA{0xff, 0xff, 0xff, 0xb0}
	borderDark  = color.NRGBA{0x11, 0x18, 0x27, 0xff}
)

// colorOf returns the index in series of the colour of method i. The first method of each kind
// has the colour of that kind, whatever the order; further methods have the colours after these.
func (p *Page) colorOf(i int) int {
	kinds := []string{"soft", "hard", "moe"}
	seen := map[string]bool{}
	others, place := len(kinds), 0
	for _, m := range p.Methods[:i+1] {
		place = slices.Index(kinds, m.Evaluation.Method)
		if place < 0 || seen[m.Evaluation.Method] {
			place = others
			others++
		}
		seen[m.Evaluation.Method] = true
	}
	if place >= len(series) {
		place = len(kinds) + (place-len(kinds))%(len(series)-len(kinds))
	}
	return place
}

func faded(c color.NRGBA, alpha uint8) color.NRGBA {
	c.A = alpha
	return c
}

// variables replaces each colour, as an SVG file writes it, by a style variable.
// A translucent colour is written with rounding errors that depend on its
// opacity, so every opacity is listed.
var variables = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	add := func(c color.NRGBA, name string) {
		seen := map[string]bool{}
		for alpha := 255; alpha > 0; alpha-- {
			if h := hexOf(faded(c, uint8(alpha))); !seen[h] && alpha >= 0x20 {
				seen[h] = true
				pairs = append(pairs, h, "var(--"+name+")")
			}
		}
	}
	add(ink, "ink")
	add(muted, "muted")
	add(rule, "rule")
	for i, c := range series {
		add(c, "m"+strconv.Itoa(i))
	}
	return strings.NewReplacer(pairs...)
})

// hexOf writes a colour as package vgsvg does, from premultiplied values.
func hexOf(c color.NRGBA) string {
	r, g, b, a := c.RGBA()
	f := 255 / float64(a)
	return fmt.Sprintf("#%02X%02X%02X", int(float64(r)*f), int(float64(g)*f), int(float64(b)*f))
}

// A colorMap maps [0, 1] to colours; values outside are clamped, NaN is grey.
type colorMap []color.NRGBA

func (m colorMap) at(x float64) color.NRGBA {
	if math.IsNaN(x) {
		return color.NRGBA{0x9c, 0xa3, 0xaf, 0xff}
	}
	x = min(max(x, 0), 1) * float64(len(m)-1)
	i := min(int(x), len(m)-2)
	f := x - float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + f*(float64(b)-float64(a)))) }
	return color.NRGBA{mix(m[i].R, m[i+1].R), mix(m[i].G, m[i+1].G), mix(m[i].B, m[i+1].B), 0xff}
}

// diverging is the smooth cool-warm map of Moreland (2009), for signed values
// on a scale symmetric about zero.
var diverging = func() colorMap {
	source := moreland.SmoothBlueRed()
	source.SetMin(0)
	source.SetMax(1)
	m := make(colorMap, 129)
	for i := range m {
		c, err := source.At(float64(i) / float64(len(m)-1))
		if err != nil {
			panic("report: colour map without a colour")
		}
		m[i] = color.NRGBAModel.Convert(c).(color.NRGBA)
	}
	return m
}()

// viridis is the perceptually uniform map by Smith, van der Walt and Firing
// (2015), in the public domain (CC0): six hexadecimal digits a colour.
var viridis = parseColors(strings.Join(strings.Fields(asset("viridis.txt")), ""))

func parseColors(digits string) colorMap {
	m := make(colorMap, len(digits)/6)
	for i := range m {
		v, err := strconv.ParseUint(digits[6*i:6*i+6], 16, 32)
		if err != nil {
			panic("report: not a colour table")
		}
		m[i] = color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 0xff}
	}
	return m
}
