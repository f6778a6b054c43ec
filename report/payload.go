package report

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"

	"gonum.org/v1/plot/plotter"
)

// payload is what the scripts of the page draw from.
type payload struct {
	Curves []chart    `json:"curves"`
	Axes   []mapAxis  `json:"axes,omitempty"` // of the fields
	Value  string     `json:"value"`          // name of the unknown with its unit
	Colors mapColours `json:"colors"`
	Cases  []mapCase  `json:"cases"`
}

type chart struct {
	Series []chartLines `json:"series"`
	Levels []Level      `json:"levels"`
}

type chartLines struct {
	Label string    `json:"label"`
	Color int       `json:"color"`
	Raw   bool      `json:"raw"`
	X     []float64 `json:"x"`
	Y     []float64 `json:"y"`
}

// mapColours are the colours of the maps, six hexadecimal digits each.
type mapColours struct {
	Value      string `json:"value"`
	Difference string `json:"difference"`
}

type mapAxis struct {
	Name   string    `json:"name"`
	Label  string    `json:"label"`
	Unit   string    `json:"unit"`
	Values []float64 `json:"values"`
}

type mapCase struct {
	Title  string     `json:"title"`
	Value  string     `json:"value,omitempty"` // what it shows where that is not the page's
	Truth  bool       `json:"truth"`           // the first field is the classical solution
	Lo     float64    `json:"lo"`
	Hi     float64    `json:"hi"`
	Inputs []mapInput `json:"inputs,omitempty"`
	Fields []mapField `json:"fields"`
}

type mapInput struct {
	Label string  `json:"label"`
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
	Data  string  `json:"data"` // as that of a mapField, above Lo
}

type mapField struct {
	Label   string      `json:"label"`
	Color   int         `json:"color"` // of the method; -1 for the classical solution
	Borders [][]float64 `json:"borders,omitempty"`
	// Data is, as float32, little endian, base64, what the field is above the lowest value of the case's scale; of a prediction
	// beside a solution its difference from that, so that neither is rounding where fields vary little about a mean.
	Data string `json:"data"`
}

func (p *Page) payload() payload {
	out := payload{Value: p.fieldName(), Colors: mapColours{hexDigits(viridis), hexDigits(diverging)}}
	for _, curve := range p.curves() {
		var c chart
		add := func(l curveLine, raw bool, points plotter.XYs) {
			out := chartLines{Label: l.Label, Color: l.color, Raw: raw}
			for _, q := range evenly(points, 1500) {
				out.X, out.Y = append(out.X, q.X), append(out.Y, round(q.Y))
			}
			c.Series = append(c.Series, out)
		}
		for _, l := range curve.lines {
			if l.noisy != nil {
				add(l, true, l.noisy)
			}
			add(l, false, l.points)
		}
		for _, l := range p.curveLevels(curve.name) {
			c.Levels = append(c.Levels, Level{l.Label, round(l.Value)})
		}
		out.Curves = append(out.Curves, c)
	}
	if len(p.Cases) == 0 {
		return out
	}
	kept := p.mapPoints()
	for i, a := range p.Axes {
		m := mapAxis{Name: a.Name, Label: a.label(), Unit: a.Unit}
		for _, j := range kept[i] {
			m.Values = append(m.Values, a.Values[j])
		}
		out.Axes = append(out.Axes, m)
	}
	for _, c := range p.Cases {
		out.Cases = append(out.Cases, p.mapCase(c, kept))
	}
	return out
}

// mapPoints returns the indices of the points that the maps have along each axis: at most 101
// times and 200 points of one axis of space; the times of the drawing and at most 96 points of
// each of two axes of space.
func (p *Page) mapPoints() [][]int {
	if !p.overPlanes() {
		return [][]int{evenly(indices(len(p.Axes[0].Values)), 101), evenly(indices(len(p.Axes[1].Values)), 200)}
	}
	out := [][]int{roundTimes(p.Axes[0])}
	for _, a := range p.Axes[1:] {
		var kept []int
		for i, step := 0, (len(a.Values)+95)/96; i < len(a.Values); i += step {
			kept = append(kept, i)
		}
		out = append(out, kept)
	}
	return out
}

func (p *Page) mapCase(c Case, kept [][]int) mapCase {
	out := mapCase{Title: c.Title, Value: c.Field, Truth: c.Truth != nil}
	out.Lo, out.Hi, _ = caseScales(c)
	encode := func(u []float64, above func(at int) float64) string {
		raw := make([]byte, 0, 4*len(kept[0])*len(kept[1]))
		var walk func(axis, at int)
		walk = func(axis, at int) {
			if axis == len(kept) {
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(u[at]-above(at))))
				return
			}
			for _, i := range kept[axis] {
				walk(axis+1, at*len(p.Axes[axis].Values)+i)
			}
		}
		walk(0, 0)
		return base64.StdEncoding.EncodeToString(raw)
	}
	for _, in := range c.Inputs {
		lo, hi := scaleOf(in.Values)
		out.Inputs = append(out.Inputs, mapInput{in.Name, lo, hi, encode(in.Values, func(int) float64 { return lo })})
	}
	above := func(int) float64 { return out.Lo }
	add := func(label string, color int, borders [][]float64, u []float64) {
		out.Fields = append(out.Fields, mapField{label, color, borders, encode(u, above)})
	}
	if c.Truth != nil {
		add(p.TruthLabel(), -1, nil, c.Truth)
		above = func(at int) float64 { return c.Truth[at] }
	}
	for i, u := range c.Predictions {
		if u != nil {
			add(p.Methods[i].Label, p.colorOf(i), p.Methods[i].Borders, u)
		}
	}
	return out
}

func hexDigits(m colorMap) string {
	var raw []byte
	for _, c := range m {
		raw = append(raw, c.R, c.G, c.B)
	}
	return hex.EncodeToString(raw)
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// round keeps five significant digits.
func round(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 5, 64), 64)
	if err != nil {
		return v
	}
	return r
}
