package report

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strconv"

	"gonum.org/v1/plot/plotter"
)

// payload is what the scripts of the page draw from.
type payload struct {
	Curves []chart    `json:"curves"`
	Cases  []profiles `json:"cases"`
}

type chart struct {
	Linear bool         `json:"linear"`
	Series []chartLines `json:"series"`
}

type chartLines struct {
	Label string    `json:"label"`
	Color int       `json:"color"`
	Raw   bool      `json:"raw"`
	X     []float64 `json:"x"`
	Y     []float64 `json:"y"`
}

type profiles struct {
	Time      string         `json:"time"`
	TimeUnit  string         `json:"timeUnit"`
	Space     string         `json:"space"`
	SpaceName string         `json:"spaceName"`
	Value     string         `json:"value"`
	T         []float64      `json:"t"`
	X         []float64      `json:"x"`
	Lo        float64        `json:"lo"`
	Hi        float64        `json:"hi"`
	Fields    []profileField `json:"fields"`
}

type profileField struct {
	Label string `json:"label"`
	Color int    `json:"color"` // of the method; -1 for the truth
	Data  string `json:"data"`  // float32, little endian, base64, (t, x)
}

func (p *Page) payload() payload {
	var out payload
	for _, name := range p.curveNames() {
		var c chart
		add := func(label string, color int, raw bool, points plotter.XYs) {
			l := chartLines{Label: label, Color: color, Raw: raw}
			for _, q := range points {
				l.X, l.Y = append(l.X, q.X), append(l.Y, round(q.Y))
			}
			c.Series = append(c.Series, l)
		}
		for i := range p.Methods {
			s, ok := p.Methods[i].curve(name)
			if !ok {
				continue
			}
			c.Linear = s.Linear
			points := s.usable()
			if s.Raw && len(points) >= 50 {
				add(p.Methods[i].Label, p.colorOf(i), true, evenly(points, 1500))
				points = smooth(points)
			}
			add(p.Methods[i].Label, p.colorOf(i), false, evenly(points, 1500))
		}
		out.Curves = append(out.Curves, c)
	}
	for _, c := range p.Cases {
		if p.overPlanes() {
			out.Cases = append(out.Cases, profiles{}) // a tab without profiles
		} else {
			out.Cases = append(out.Cases, p.profiles(c))
		}
	}
	return out
}

// profiles thins a case to at most 51 times and 128 points in space.
func (p *Page) profiles(c Case) profiles {
	t, x := p.Axes[0], p.Axes[1]
	rows, columns := evenly(indices(len(t.Values)), 51), evenly(indices(len(x.Values)), 128)
	name := p.Field
	if name == "" {
		name = "u"
	}
	out := profiles{Time: t.Name, TimeUnit: t.Unit, Space: x.label(), SpaceName: x.Name, Value: label(name, p.Unit)}
	for _, i := range rows {
		out.T = append(out.T, t.Values[i])
	}
	for _, j := range columns {
		out.X = append(out.X, x.Values[j])
	}
	out.Lo, out.Hi, _ = caseScales(Case{Predictions: append([][]float64{c.Truth}, c.Predictions...)})
	add := func(label string, color int, u []float64) {
		raw := make([]byte, 0, 4*len(rows)*len(columns))
		for _, i := range rows {
			for _, j := range columns {
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(u[i*len(x.Values)+j])))
			}
		}
		out.Fields = append(out.Fields, profileField{label, color, base64.StdEncoding.EncodeToString(raw)})
	}
	if c.Truth != nil {
		add("classical solution", -1, c.Truth)
	}
	for i, u := range c.Predictions {
		if u != nil {
			add(p.Methods[i].Label, p.colorOf(i), u)
		}
	}
	return out
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
