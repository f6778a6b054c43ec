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

	"pihc/internal/disk"
	"pihc/internal/words"
)

//go:embed assets
var assets embed.FS

var pageTemplate = template.Must(template.New("page.html.tmpl").Funcs(template.FuncMap{"head": (*Table).head, "formula": formula}).ParseFS(assets, "assets/*.tmpl"))

func asset(name string) string {
	src, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic("report: missing asset " + name)
	}
	return string(src)
}

// Write writes the page to file, and to the folder named after it, report-figures beside report.html, every figure
// as PNG and SVG and its numbers as CSV or NPZ, each file atomically: the page comes last, so that
// it is never older than its figures. Folders are made as needed. What CheckFile refuses is left as it is.
func (p *Page) Write(file string) error {
	if err := p.check(); err != nil {
		return err
	}
	if err := CheckFile(file, p.Overwrite); err != nil {
		return err
	}
	numbers, err := p.dataFiles()
	if err != nil {
		return err
	}
	files := figuresOf(file)
	if err := writeFiles(files, p.figures(), numbers); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := p.writeHTML(&b, linkTo(files)); err != nil {
		return err
	}
	return disk.WriteFile(file, b.Bytes())
}

// linkTo is a folder beside a page as the page refers to it: a colon would end a scheme.
func linkTo(folder string) string {
	return strings.ReplaceAll(url.PathEscape(filepath.Base(folder)), ":", "%3A")
}

// figuresOf is the folder of a page's figures: report-figures beside report.html.
func figuresOf(page string) string {
	return strings.TrimSuffix(page, filepath.Ext(page)) + "-figures"
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

// figures returns every figure of the page, for files. It panics if a case does not fit the axes;
// Write checks that.
func (p *Page) figures() []figure {
	var out []figure
	for _, d := range []struct {
		part, data string
		draw       func() (figure, bool)
	}{
		{"Errors", "samples.csv", p.errorFigure},
		{"Errors", "samples.csv", p.residualFigure},
		{"Errors", "error_over_time.csv", p.timeFigure},
		{"Errors", "samples.csv", p.gridFigure},
		{"Errors", "samples.csv", p.initialFigure},
		{"Spectrum", "spectrum.csv", p.spectrumFigure},
	} {
		if f, ok := d.draw(); ok {
			f.part, f.data = d.part, d.data
			out = append(out, f)
		}
	}
	for _, c := range p.curves() {
		out = append(out, p.curveFigure(c))
	}
	for _, c := range p.Charts {
		f := c.figure()
		f.part, f.data = "Charts", c.Name+".csv"
		out = append(out, f)
	}
	for i, c := range p.Cases {
		if p.overPlanes() {
			out = append(out, p.planeFigure(caseName(i), c))
		} else {
			out = append(out, p.caseFigure(caseName(i), c))
		}
	}
	return out
}

// caseName is the name of the figure of a case.
func caseName(i int) string { return "case_" + strconv.Itoa(i+1) }

// writeFiles writes figures as PNG and SVG into dir, and their numbers.
func writeFiles(dir string, figures []figure, files []dataFile) error {
	for _, f := range figures {
		png, err := f.PNG()
		if err != nil {
			return err
		}
		svg, err := f.SVG()
		if err != nil {
			return err
		}
		files = append(files, dataFile{f.Name + ".png", png}, dataFile{f.Name + ".svg", svg})
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	files = slices.Insert(files, 0, dataFile{filepath.Base(noteFile(dir)), []byte(figuresNote)})
	for _, f := range files {
		if info, err := os.Lstat(filepath.Join(dir, f.name)); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is in the way of a figure: it is no file", filepath.Join(dir, f.name))
		}
	}
	for _, f := range files {
		if err := disk.WriteFile(filepath.Join(dir, f.name), f.content); err != nil {
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

// A drawing is a figure in the page, with the file of its numbers if there is one.
type drawing struct {
	Title, Caption, Data string
	SVG                  template.HTML
}

func (f figure) drawing(data string) (drawing, error) {
	svg, err := f.inline()
	return drawing{f.title, f.Caption, data, template.HTML(svg)}, err
}

// htmlCase is a tab of maps, which a script draws.
type htmlCase struct{ Title, Image, Data string }

// writeHTML writes the self-contained page; files is where it finds numbers and drawings of
// its figures, "" for nowhere.
func (p *Page) writeHTML(w io.Writer, files string) error {
	link := func(name string) string {
		if files == "" {
			return ""
		}
		return path.Join(files, name)
	}
	payload, err := json.Marshal(p.payload())
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	parts := map[string][]drawing{}
	for _, f := range p.figures() {
		if f.part == "" {
			continue
		}
		d, err := f.drawing(link(f.data))
		if err != nil {
			return err
		}
		parts[f.part] = append(parts[f.part], d)
	}
	var cases []htmlCase
	for i, c := range p.Cases {
		cases = append(cases, htmlCase{c.Title, link(caseName(i) + ".png"), link(caseName(i) + ".npz")})
	}
	err = pageTemplate.Execute(w, map[string]any{
		"Page": p, "Verdicts": p.verdicts(), "Warnings": p.methodWarnings(), "Claim": p.claim(), "Caveats": slices.Concat(p.Caveats, p.methodNotes(), p.differenceNotes()),
		"Style": template.CSS(asset("uplot/uPlot.min.css") + "\n" + asset("page.css")),
		// The library brings its licence along, which every copy must carry.
		"Scripts": []template.JS{template.JS("/*\n" + asset("uplot/LICENSE") + "*/\n" + asset("uplot/uPlot.iife.min.js")), template.JS(asset("maps.js")), template.JS(asset("page.js"))},
		"Parts":   parts, "Cases": cases, "Experts": p.expertTable(), "CostData": link(costFile), "SolverData": link("solver.csv"), "Data": template.JS(payload),
		"Planes":   p.overPlanes(),
		"HasTruth": slices.ContainsFunc(p.Methods, func(m Method) bool { return m.Evaluation.RelativeL2 != nil }),
		"HasBorders": slices.ContainsFunc(p.Methods, func(m Method) bool {
			return slices.ContainsFunc(m.Borders, func(ends []float64) bool { return len(ends) > 2 })
		}),
	})
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// expertTable has what the solver reports of every expert.
func (p *Page) expertTable() *Table {
	t := &Table{Columns: []Column{{"expert", false}, {"iterations", true}, {"largest", true}, {"constraint rms", true}, {"how solves ended", false}}}
	for _, m := range p.methods() {
		for k, e := range m.Evaluation.Experts {
			label := m.Label
			if len(m.Evaluation.Experts) > 1 {
				label += ", expert " + strconv.Itoa(k)
			}
			t.addHead(head{Color: m.color}, label, fmt.Sprintf("%.1f ± %.1f", e.Iterations.Mean, e.Iterations.Std), words.Number(e.Iterations.Max), words.Number(e.ConstraintRMS.Mean), e.Ends())
		}
	}
	return t
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

// formula sets indices (u_xx) and exponents (u^2, u^(n - 1), 1e-4) of a plain formula,
// products without a sign, and numbers with at most five significant digits.
func formula(l string) template.HTML {
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
	return template.HTML(subscript.ReplaceAllString(l, "<sub>$1</sub>"))
}
