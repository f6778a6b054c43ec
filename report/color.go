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

// colorOf returns the place in series of the colour of method i: the first of each
// of soft, hard and moe has its own, whatever the order, and others follow.
func (p *Page) colorOf(i int) int {
	own := []string{"soft", "hard", "moe"}
	seen := map[string]bool{}
	others, place := len(own), 0
	for _, m := range p.Methods[:i+1] {
		place = slices.Index(own, m.Evaluation.Method)
		if place < 0 || seen[m.Evaluation.Method] {
			place = others
			others++
		}
		seen[m.Evaluation.Method] = true
	}
	if place >= len(series) {
		place = len(own) + (place-len(own))%(len(series)-len(own))
	}
	return place
}

// methodColor returns the colour of method i.
func (p *Page) methodColor(i int) color.NRGBA { return series[p.colorOf(i)] }

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
// (2015), in the public domain (CC0).
var viridis = parseColors(
	"44015444025645045745055946075a46085c460a5d460b5e470d60470e61471063471164471365481467481668481769" +
		"48186a481a6c481b6d481c6e481d6f481f70482071482173482374482475482576482677482878482979472a7a472c7a" +
		"472d7b472e7c472f7d46307e46327e46337f463480453581453781453882443983443a83443b84433d84433e85423f85" +
		"4240864241864142874144874045884046883f47883f48893e49893e4a893e4c8a3d4d8a3d4e8a3c4f8a3c508b3b518b" +
		"3b528b3a538b3a548c39558c39568c38588c38598c375a8c375b8d365c8d365d8d355e8d355f8d34608d34618d33628d" +
		"33638d32648e32658e31668e31678e31688e30698e306a8e2f6b8e2f6c8e2e6d8e2e6e8e2e6f8e2d708e2d718e2c718e" +
		"2c728e2c738e2b748e2b758e2a768e2a778e2a788e29798e297a8e297b8e287c8e287d8e277e8e277f8e27808e26818e" +
		"26828e26828e25838e25848e25858e24868e24878e23888e23898e238a8d228b8d228c8d228d8d218e8d218f8d21908d" +
		"21918c20928c20928c20938c1f948c1f958b1f968b1f978b1f988b1f998a1f9a8a1e9b8a1e9c891e9d891f9e891f9f88" +
		"1fa0881fa1881fa1871fa28720a38620a48621a58521a68522a78522a88423a98324aa8325ab8225ac8226ad8127ad81" +
		"28ae8029af7f2ab07f2cb17e2db27d2eb37c2fb47c31b57b32b67a34b67935b77937b87838b9773aba763bbb753dbc74" +
		"3fbc7340bd7242be7144bf7046c06f48c16e4ac16d4cc26c4ec36b50c46a52c56954c56856c66758c7655ac8645cc863" +
		"5ec96260ca6063cb5f65cb5e67cc5c69cd5b6ccd5a6ece5870cf5773d05675d05477d1537ad1517cd2507fd34e81d34d" +
		"84d44b86d54989d5488bd6468ed64590d74393d74195d84098d83e9bd93c9dd93ba0da39a2da37a5db36a8db34aadc32" +
		"addc30b0dd2fb2dd2db5de2bb8de29bade28bddf26c0df25c2df23c5e021c8e020cae11fcde11dd0e11cd2e21bd5e21a" +
		"d8e219dae319dde318dfe318e2e418e5e419e7e419eae51aece51befe51cf1e51df4e61ef6e620f8e621fbe723fde725")

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
