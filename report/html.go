package report

import (
	"bytes"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot"

	"pihc/data"
)

//go:embed assets
var assets embed.FS

var pageTemplate = template.Must(template.ParseFS(assets, "assets/page.html.tmpl"))

func asset(name string) string {
	src, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic("report: missing asset " + name)
	}
	return string(src)
}

// WritePage writes the page to path and every figure to dir/figures as PNG and
// SVG, each file atomically: the page comes last, so that it is never older
// than its figures. Folders are made as needed. dir == "" writes no figure files.
func WritePage(dir, path string, p Page) error {
	if err := p.check(); err != nil {
		return err
	}
	var b bytes.Buffer
	animations := p.animations()
	if err := p.writeHTML(&b, animations); err != nil {
		return err
	}
	if dir != "" {
		if err := p.writeFigures(filepath.Join(dir, "figures"), animations); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return writeFile(path, b.Bytes())
}

func writeFile(path string, content []byte) error {
	return data.WriteAtomic(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// check returns an error unless the cases fit the axes and the methods.
func (p *Page) check() error {
	if len(p.Cases) == 0 {
		return nil
	}
	if len(p.Axes) != 2 && len(p.Axes) != 3 {
		return fmt.Errorf("report: drawing solutions needs two or three axes, not %d", len(p.Axes))
	}
	size := 1
	for _, a := range p.Axes {
		if len(a.Values) == 0 {
			return fmt.Errorf("report: axis %s has no points", a.Name)
		}
		size *= len(a.Values)
	}
	for _, c := range p.Cases {
		if len(c.Predictions) > len(p.Methods) {
			return fmt.Errorf("report: case %q has %d predictions for %d methods", c.Title, len(c.Predictions), len(p.Methods))
		}
		for _, u := range append([][]float64{c.Truth}, c.Predictions...) {
			if u != nil && len(u) != size {
				return fmt.Errorf("report: case %q has a field of %d values on a grid of %d", c.Title, len(u), size)
			}
		}
	}
	return nil
}

// Figures returns every figure of the page but the animations, for files. It panics if a case does
// not fit the axes; WritePage checks that.
func (p *Page) Figures() []Figure {
	out := p.errorFigures()
	if f, ok := p.spectrumFigure(); ok {
		out = append(out, f)
	}
	for _, name := range p.curveNames() {
		out = append(out, p.curveFigure(fileName(name), name))
	}
	if f, ok := p.solverFigure(); ok {
		out = append(out, f)
	}
	for i, c := range p.Cases {
		name := "case_" + strconv.Itoa(i+1)
		if p.overPlanes() {
			out = append(out, p.planeFigure(name, c))
		} else {
			out = append(out, p.caseFigure(name, c))
		}
	}
	return out
}

// errorFigures returns the drawings of errors that there are.
func (p *Page) errorFigures() []Figure {
	var out []Figure
	for _, draw := range []func() (Figure, bool){p.errorFigure, p.gridFigure, p.initialFigure} {
		if f, ok := draw(); ok {
			out = append(out, f)
		}
	}
	return out
}

// writeFigures writes every figure as PNG and SVG into dir, and the animations as GIF.
func (p *Page) writeFigures(dir string, animations []animation) error {
	return writeDrawings(dir, p.Figures(), animations)
}

func writeDrawings(dir string, figures []Figure, animations []animation) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, f := range figures {
		png, err := f.PNG()
		if err != nil {
			return err
		}
		svg, err := f.SVG()
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dir, f.Name+".png"), png); err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dir, f.Name+".svg"), svg); err != nil {
			return err
		}
	}
	for _, a := range animations {
		if err := writeFile(filepath.Join(dir, a.name+".gif"), a.gif); err != nil {
			return err
		}
	}
	return nil
}

// fileName keeps letters and digits: "Training loss" is training_loss.
func fileName(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	if len(words) == 0 {
		return "curve"
	}
	return strings.Join(words, "_")
}

type drawing struct {
	Name, Caption string
	SVG           template.HTML
}

type htmlAnimation struct {
	Caption       string
	Source        template.URL
	Width, Height int
}

type htmlCase struct {
	Title               string
	Planes              template.HTML // over two axes of space: all in one
	Columns             int
	Values, Differences []template.HTML
	ValueBar, ErrorBar  template.HTML
}

// writeHTML writes the self-contained page.
func (p *Page) writeHTML(w io.Writer, animations []animation) error {
	v := map[string]any{
		"Title": p.Title, "Subtitle": p.Subtitle, "Summary": p.Summary, "Equations": formulas(p.Equations),
		"Published": p.Published, "Notes": append(p.differenceNotes(), p.Notes...), "Facts": p.Facts, "Specs": p.Specs, "Generated": p.Generated,
		"Style": template.CSS(asset("uplot/uPlot.min.css") + "\n" + asset("page.css")),
		// The library brings its licence along, which every copy must carry.
		"Scripts": []template.JS{template.JS("/*\n" + asset("uplot/LICENSE") + "*/\n" + asset("uplot/uPlot.iife.min.js")), template.JS(asset("page.js"))},
		"Cards":   p.cards(), "Table": p.htmlTable(), "Experts": p.expertRows(),
	}
	for _, m := range p.Methods {
		if m.Evaluation.RelativeL2 != nil {
			v["HasTruth"] = true
		}
	}
	d := &drawer{}
	var errors []drawing
	for _, f := range p.errorFigures() {
		errors = append(errors, d.figure(f))
	}
	v["Errors"] = errors
	if f, ok := p.spectrumFigure(); ok {
		v["Spectrum"] = d.figure(f)
	}
	var moving []htmlAnimation
	for _, a := range animations {
		moving = append(moving, htmlAnimation{a.caption, template.URL("data:image/gif;base64," + base64.StdEncoding.EncodeToString(a.gif)), a.width, a.height})
	}
	v["Animations"] = moving
	v["GridTable"] = p.htmlGridTable()
	var curves []drawing
	for _, name := range p.curveNames() {
		f := d.figure(p.curveFigure(fileName(name), name))
		f.Name = p.curveLabel(name)
		curves = append(curves, f)
	}
	v["Curves"] = curves
	if f, ok := p.solverFigure(); ok {
		v["Solver"] = d.figure(f)
	}
	var cases []htmlCase
	for _, c := range p.Cases {
		cases = append(cases, p.htmlCase(d, c))
	}
	v["Cases"], v["Planes"] = cases, p.overPlanes()
	for _, m := range p.Methods {
		for _, ends := range m.Borders {
			if len(ends) > 2 {
				v["HasBorders"] = true
			}
		}
	}
	if d.err != nil {
		return d.err
	}
	payload, err := json.Marshal(p.payload())
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	v["Data"] = template.JS(payload)
	if err := pageTemplate.Execute(w, v); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// drawer renders figures for the page and keeps the first error.
type drawer struct{ err error }

func (d *drawer) svg(f Figure) template.HTML {
	text, err := f.inline()
	if err != nil && d.err == nil {
		d.err = err
	}
	return template.HTML(text)
}

func (d *drawer) figure(f Figure) drawing { return drawing{f.Name, f.Caption, d.svg(f)} }

func (p *Page) htmlCase(d *drawer, c Case) htmlCase {
	if p.overPlanes() {
		return htmlCase{Title: c.Title, Planes: d.svg(p.planeFigure("planes", c))}
	}
	panels := p.panels(c)
	out := htmlCase{Title: c.Title, Columns: len(panels.values)}
	svg := func(caption string, q *plot.Plot) template.HTML {
		if q == nil {
			return ""
		}
		return d.svg(plotFigure("panel", caption, 176, 150, q))
	}
	for i, q := range panels.values {
		out.Values = append(out.Values, svg(c.Title+": "+panels.names[i], q))
	}
	scale := func(caption string, q *plot.Plot) template.HTML {
		return d.svg(plotFigure("scale", caption, 280, 44, q))
	}
	out.ValueBar = scale("colour scale of the values", panels.valueBar)
	if panels.errorBar == nil {
		return out
	}
	for i, q := range panels.differences {
		out.Differences = append(out.Differences, svg(c.Title+": "+panels.names[i]+" minus the classical solution", q))
	}
	out.ErrorBar = scale("colour scale of the differences", panels.errorBar)
	return out
}

var (
	subscript = regexp.MustCompile(`_([\pL\pN]+)`)
	raisedAll = regexp.MustCompile(`\^\(([^()]*)\)`)
	raisedOne = regexp.MustCompile(`\^(-?[\pL\pN.]+)`)
	longDigit = regexp.MustCompile(`\d+\.\d{5,}`)
	times     = strings.NewReplacer("*", " · ", " - ", " − ")
)

// formulas sets indices (u_xx) and exponents (u^2, u^(n - 1)) of plain formulas,
// products with a dot, and numbers with at most five significant digits.
func formulas(lines []string) []template.HTML {
	out := make([]template.HTML, len(lines))
	for i, l := range lines {
		l = longDigit.ReplaceAllStringFunc(l, func(digits string) string {
			x, _ := strconv.ParseFloat(digits, 64)
			return strconv.FormatFloat(x, 'g', 5, 64)
		})
		l = template.HTMLEscapeString(times.Replace(l))
		l = raisedAll.ReplaceAllString(l, "<sup>$1</sup>")
		l = raisedOne.ReplaceAllString(l, "<sup>$1</sup>")
		out[i] = template.HTML(subscript.ReplaceAllString(l, "<sub>$1</sub>"))
	}
	return out
}
