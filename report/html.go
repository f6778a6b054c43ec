package report

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

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

// WritePage writes the page to file, and to the folder named after it ([FiguresOf]) every figure
// as PNG and SVG and its numbers as CSV or NPZ, each file atomically: the page comes last, so that
// it is never older than its figures. Folders are made as needed.
func WritePage(file string, p Page) error {
	if err := p.check(); err != nil {
		return err
	}
	numbers, err := p.dataFiles()
	if err != nil {
		return err
	}
	files := FiguresOf(file)
	if err := writeDrawings(files, p.Figures(), numbers); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := p.writeHTML(&b, linkTo(files)); err != nil {
		return err
	}
	return writeFile(file, b.Bytes())
}

// linkTo is a folder beside a page as the page refers to it: a colon would end a scheme.
func linkTo(folder string) string {
	return strings.ReplaceAll(url.PathEscape(filepath.Base(folder)), ":", "%3A")
}

// FiguresOf is the folder of a page's figures: report-figures beside report.html.
func FiguresOf(page string) string {
	return strings.TrimSuffix(page, filepath.Ext(page)) + "-figures"
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
		fields := append([][]float64{c.Truth}, c.Predictions...)
		for _, in := range c.Inputs {
			fields = append(fields, in.Values)
		}
		for _, u := range fields {
			if u != nil && len(u) != size {
				return fmt.Errorf("report: case %q has a field of %d values on a grid of %d", c.Title, len(u), size)
			}
		}
	}
	return nil
}

// Figures returns every figure of the page, for files. It panics if a case does not fit the axes;
// WritePage checks that.
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
		name := caseName(i)
		if p.overPlanes() {
			out = append(out, p.planeFigure(name, c))
		} else {
			out = append(out, p.caseFigure(name, c))
		}
	}
	return out
}

// caseName is the name of the figure of a case.
func caseName(i int) string { return "case_" + strconv.Itoa(i+1) }

// errorFigures returns the drawings of errors that there are.
func (p *Page) errorFigures() []Figure {
	var out []Figure
	for _, draw := range []func() (Figure, bool){p.errorFigure, p.residualFigure, p.timeFigure, p.gridFigure, p.initialFigure} {
		if f, ok := draw(); ok {
			out = append(out, f)
		}
	}
	return out
}

// writeDrawings writes figures as PNG and SVG into dir, and numbers.
func writeDrawings(dir string, figures []Figure, numbers []dataFile) error {
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
	return writeData(dir, numbers)
}

// fileName keeps letters and digits: "Training loss" is training_loss.
func fileName(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	if len(words) == 0 {
		return "curve"
	}
	return strings.Join(words, "_")
}

// A drawing is a figure in the page, with the file of its numbers if there is one.
type drawing struct {
	Name, Caption, Data string
	SVG                 template.HTML
}

// htmlCase is a tab of maps, which a script draws.
type htmlCase struct{ Title, Image, Data string }

// writeHTML writes the self-contained page; files is where it finds numbers and drawings of
// its figures, "" for nowhere.
func (p *Page) writeHTML(w io.Writer, files string) error {
	d := &drawer{files: files}
	v := map[string]any{
		"Title": p.Title, "Subtitle": p.Subtitle, "Claim": p.claim(), "Caveats": slices.Concat(p.Caveats, p.methodNotes(), p.differenceNotes()), "Summary": p.Summary,
		"Equations": formulas(p.Equations), "Constants": p.formulaFacts(),
		"Published": p.Published, "Notes": p.Notes, "Facts": p.Facts, "Specs": p.Specs, "Generated": p.Generated,
		"Style": template.CSS(asset("uplot/uPlot.min.css") + "\n" + asset("page.css")),
		// The library brings its licence along, which every copy must carry.
		"Scripts": []template.JS{template.JS("/*\n" + asset("uplot/LICENSE") + "*/\n" + asset("uplot/uPlot.iife.min.js")), template.JS(asset("maps.js")), template.JS(asset("page.js"))},
		"Table":   metricTable(p.errorColumns(), p.metricRows()), "Remainder": metricTable(p.remainderColumns(), p.remainderRows()),
		"Cost": p.Cost.table(), "CostNotes": p.Cost.notes(), "CostData": d.data(costFigure), "Experts": p.expertRows(), "GridTable": p.htmlGridTable(),
		"Planes": p.overPlanes(), "Steady": p.Steady, "Files": files,
	}
	for _, m := range p.Methods {
		if m.Evaluation.RelativeL2 != nil {
			v["HasTruth"] = true
		}
		for _, ends := range m.Borders {
			if len(ends) > 2 {
				v["HasBorders"] = true
			}
		}
	}
	var errors []drawing
	for _, f := range p.errorFigures() {
		errors = append(errors, d.figure(f))
	}
	v["Errors"] = errors
	if f, ok := p.spectrumFigure(); ok {
		v["Spectrum"] = d.figure(f)
	}
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
	for i, c := range p.Cases {
		one := htmlCase{Title: c.Title}
		if name := caseName(i); files != "" {
			one.Image, one.Data = path.Join(files, name+".png"), d.data(name)
		}
		cases = append(cases, one)
	}
	v["Cases"] = cases
	if d.err != nil {
		return d.err
	}
	payload, err := json.Marshal(p.payload())
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	v["Data"], v["Rate"] = template.JS(payload), p.Rate()
	if err := pageTemplate.Execute(w, v); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// drawer renders figures for the page and keeps the first error.
type drawer struct {
	files string // where the numbers of figures are, "" for nowhere
	err   error
}

func (d *drawer) svg(f Figure) template.HTML {
	text, err := f.inline()
	if err != nil && d.err == nil {
		d.err = err
	}
	return template.HTML(text)
}

func (d *drawer) figure(f Figure) drawing {
	return drawing{Name: f.Name, Caption: f.Caption, SVG: d.svg(f), Data: d.data(f.Name)}
}

// data is where the numbers of a figure are, "" for nowhere.
func (d *drawer) data(figure string) string {
	if d.files == "" {
		return ""
	}
	return path.Join(d.files, dataOf(figure))
}

var (
	subscript = regexp.MustCompile(`_([\pL\pN]+(?:,[\pL\pN]+)*)`)
	raisedAll = regexp.MustCompile(`\^\(([^()]*)\)`)
	raisedOne = regexp.MustCompile(`\^(-?[\pL\pN.]+)`)
	longDigit = regexp.MustCompile(`\d+\.\d{5,}`)
	powerTen  = regexp.MustCompile(`(\d)e(-?)0*(\d+)`)
	dotted    = regexp.MustCompile(`\*(\d)`)
	signs     = strings.NewReplacer("*", "\u2009", " - ", " − ")
)

// formulas sets indices (u_xx) and exponents (u^2, u^(n - 1), 1e-4) of plain formulas,
// products without a sign, and numbers with at most five significant digits.
func formulas(lines []string) []template.HTML {
	out := make([]template.HTML, len(lines))
	for i, l := range lines {
		l = longDigit.ReplaceAllStringFunc(l, func(digits string) string {
			x, _ := strconv.ParseFloat(digits, 64)
			return strconv.FormatFloat(x, 'g', 5, 64)
		})
		l = template.HTMLEscapeString(signs.Replace(dotted.ReplaceAllString(l, "·$1")))
		l = powerTen.ReplaceAllStringFunc(l, func(number string) string {
			n := powerTen.FindStringSubmatch(number)
			return n[1] + "·10<sup>" + strings.ReplaceAll(n[2], "-", "−") + n[3] + "</sup>"
		})
		l = raisedAll.ReplaceAllString(l, "<sup>$1</sup>")
		l = raisedOne.ReplaceAllString(l, "<sup>$1</sup>")
		out[i] = template.HTML(subscript.ReplaceAllString(l, "<sub>$1</sub>"))
	}
	return out
}

// A formulaFact is a constant of the equations.
type formulaFact struct{ Name, Value template.HTML }

func (p *Page) formulaFacts() []formulaFact {
	var out []formulaFact
	for _, c := range p.Constants {
		set := formulas([]string{c.Name, c.Value})
		out = append(out, formulaFact{set[0], set[1]})
	}
	return out
}
