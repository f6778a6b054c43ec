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

	"pihc/internal/disk"
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
	Overwrite bool // also files that are no earlier page of this package
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
func (c Chart) figure() figure {
	g := newPlot("", c.X, c.Y)
	addGrid(g, true, true)
	var keys []key
	fits := func(v float64, log bool) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) && (!log || v > 0) }
	for _, l := range c.Lines {
		var points plotter.XYs
		for i, x := range l.X {
			if fits(x, c.LogX) && fits(l.Y[i], c.LogY) {
				points = append(points, plotter.XY{X: x, Y: l.Y[i]})
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
		logAxis(&g.X, g.X.Min, g.X.Max, false)
	}
	if c.LogY {
		logAxis(&g.Y, g.Y.Min, g.Y.Max, c.Percent)
	}
	return plotFigure(c.Name, c.Caption, 440, 260, g, keys...)
}

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

// Write writes the page dir/NAME.html, which needs nothing from elsewhere, and its
// charts as PNG, SVG and CSV to the folder named after it, NAME-figures. What CheckFile refuses is
// left as it is.
func (s *Study) Write(dir, name string) (path string, err error) {
	path = filepath.Join(dir, name+".html")
	if err := CheckFile(path, s.Overwrite); err != nil {
		return "", err
	}
	files := figuresOf(path)
	var charts []drawing
	var figures []figure
	var numbers []dataFile
	for _, c := range s.Charts {
		f := c.figure()
		content, err := encodeCSV(c.rows())
		if err != nil {
			return "", err
		}
		chart, err := f.drawing(linkTo(files) + "/" + c.Name + ".csv")
		if err != nil {
			return "", err
		}
		figures, charts, numbers = append(figures, f), append(charts, chart), append(numbers, dataFile{c.Name + ".csv", content})
	}
	var b bytes.Buffer
	if err = pageTemplate.ExecuteTemplate(&b, "study.html.tmpl", map[string]any{"Study": s, "Charts": charts, "Style": template.CSS(asset("page.css"))}); err != nil {
		return "", fmt.Errorf("report: %w", err)
	}
	if err := writeFiles(files, figures, numbers); err != nil {
		return "", err
	}
	return path, disk.WriteFile(path, b.Bytes())
}
