package report

import (
	"bytes"
	"fmt"
	"html/template"
	"math"
	"path/filepath"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Study is a page of tables and charts about trained runs.
type Study struct {
	Title     string
	Summary   []string // paragraphs
	Tables    []*Table
	Charts    []Chart
	Specs     []Spec
	Data      string // file beside the page with all numbers
	Generated string
}

// A Chart draws lines over numbers.
type Chart struct {
	Name, Caption string // of the file, and under the drawing
	X, Y          string // what the axes show
	LogX, LogY    bool
	Percent       bool // labels of the logarithmic axis Y in percent
	Lines         []ChartLine
}

// A ChartLine is one line of a chart; a point with a number that the axis cannot show is
// left out.
type ChartLine struct {
	Label  string
	Color  int // place among the colours: 0 soft, 1 hard, 2 moe, then others
	X, Y   []float64
	Dashed bool
	Marks  bool // marks at the points as well
	Bare   bool // marks alone
}

// figure draws the chart.
func (c Chart) figure() Figure {
	g := newPlot("", c.X, c.Y)
	addGrid(g, true, true)
	xlo, xhi, ylo, yhi := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	var keys []key
	fits := func(v float64, log bool) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) && (!log || v > 0) }
	for _, l := range c.Lines {
		var points plotter.XYs
		for i, x := range l.X {
			if fits(x, c.LogX) && fits(l.Y[i], c.LogY) {
				points = append(points, plotter.XY{X: x, Y: l.Y[i]})
				xlo, xhi, ylo, yhi = min(xlo, x), max(xhi, x), min(ylo, l.Y[i]), max(yhi, l.Y[i])
			}
		}
		if len(points) == 0 {
			continue
		}
		color := series[l.Color%len(series)]
		style := line(color, 1.5)
		if l.Dashed {
			style = line(color, 1.2, vg.Points(4), vg.Points(3))
		}
		if !l.Bare {
			addLine(g, points, style)
		}
		if l.Marks || l.Bare {
			g.Add(&plotter.Scatter{XYs: points, GlyphStyle: draw.GlyphStyle{Color: color, Radius: 2.5, Shape: draw.CircleGlyph{}}})
		}
		keys = append(keys, key{l.Label, color, nil})
	}
	if c.LogX {
		g.X.Min, g.X.Max = logRange(xlo, xhi)
		useLog(&g.X, false)
	}
	if c.LogY {
		g.Y.Min, g.Y.Max = logRange(ylo, yhi)
		useLog(&g.Y, c.Percent)
	}
	return plotFigure(c.Name, c.Caption, 440, 260, g, keys...)
}

var studyTemplate = template.Must(template.New("study").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="generator" content="pihc"><title>{{.Title}}</title><style>{{.Style}}</style></head>
<body><header><div class="bar"><span class="mark">pihc</span></div><h1>{{.Title}}</h1>
{{range .Summary}}<p class="lead">{{.}}</p>{{end}}</header><main>
{{range .Tables}}<section><h2>{{.Title}}</h2><div class="scroll"><table>
<thead><tr>{{range .Columns}}<th{{if .Right}} class="n"{{end}}>{{.Title}}</th>{{end}}</tr></thead>
<tbody>{{$columns := .Columns}}{{range .Rows}}{{if .}}<tr>{{range $i, $c := .}}<td{{if (index $columns $i).Right}} class="n"{{end}}>{{$c}}</td>{{end}}</tr>{{end}}
{{end}}</tbody></table></div>{{range .Notes}}<p class="fine">{{.}}</p>{{end}}</section>{{end}}
<section><div class="pair">{{range .Charts}}<figure>{{.SVG}}<figcaption>{{.Caption}}. <a href="{{.Data}}">Data</a></figcaption></figure>{{end}}</div></section>
{{with .Data}}<p class="fine"><a href="{{.}}">All numbers</a></p>{{end}}
{{range .Specs}}<details><summary>{{.Title}}</summary><pre>{{.Text}}</pre></details>{{end}}
</main><footer>{{.Generated}}</footer></body></html>
`))

// rows are the numbers of the chart.
func (c Chart) rows() [][]string {
	out := [][]string{{"line", c.X, c.Y}}
	for _, l := range c.Lines {
		for i, x := range l.X {
			out = append(out, []string{l.Label, exact(x), exact(l.Y[i])})
		}
	}
	return out
}

// WriteStudy writes the page dir/NAME.html, which needs nothing from elsewhere, and its
// charts as PNG, SVG and CSV to the folder named after it ([FiguresOf]).
func WriteStudy(dir, name string, s Study) (path string, err error) {
	path = filepath.Join(dir, name+".html")
	files := FiguresOf(path)
	d := &drawer{}
	var charts []drawing
	var figures []Figure
	var numbers []dataFile
	for _, c := range s.Charts {
		f := c.figure()
		content, err := encodeCSV(c.rows())
		if err != nil {
			return "", err
		}
		chart := d.figure(f)
		chart.Data = linkTo(files) + "/" + c.Name + ".csv"
		figures, charts, numbers = append(figures, f), append(charts, chart), append(numbers, dataFile{c.Name + ".csv", content})
	}
	if d.err != nil {
		return "", d.err
	}
	var b bytes.Buffer
	err = studyTemplate.Execute(&b, map[string]any{
		"Title": s.Title, "Summary": s.Summary, "Tables": s.Tables, "Charts": charts, "Specs": s.Specs, "Data": s.Data, "Generated": s.Generated,
		"Style": template.CSS(asset("page.css")),
	})
	if err != nil {
		return "", fmt.Errorf("report: %w", err)
	}
	if err := writeDrawings(files, figures, numbers); err != nil {
		return "", err
	}
	return path, writeFile(path, b.Bytes())
}
