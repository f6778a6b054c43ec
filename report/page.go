package report

import (
	"image/color"
	"maps"
	"slices"
	"strings"

	"pihc/internal/words"
	"pihc/score"
)

// A FieldAxis is one axis of a field: what it is called, its unit ("" for none) and
// the coordinates of its points, ascending and evenly spaced. On a periodic axis
// the point after the last is the first.
type FieldAxis struct {
	Name     string
	Unit     string
	Values   []float64
	Periodic bool
}

func (a FieldAxis) label() string { return label(a.Name, a.Unit) }

func label(name, unit string) string {
	if unit == "" {
		return name
	}
	return name + " (" + unit + ")"
}

// A Series is one quantity logged while training. Series of the same name of
// several methods share a plot.
type Series struct {
	Name   string // "Training loss"
	Unit   string
	Steps  []float64
	Values []float64 // on a logarithmic scale: NaN and values <= 0 are gaps
	Raw    bool      // noisy from step to step: a running median is drawn over it
}

// A Score is a mean and a standard deviation of relative_l2 that somebody else
// reports. Std is NaN if it is not known.
type Score struct {
	Mean, Std float64
}

// A Method is a row of every comparison, and so is a baseline, which needs no training.
type Method struct {
	Key        string // short, for files and JSON: "moe"
	Label      string // for people: "PI-HC-MoE"
	Note       string // one line: "4 experts × 20 000 points"
	Evaluation score.Evaluation
	Published  *Score      // the paper's figure for this method, if there is one
	Borders    [][]float64 // per axis, the ends of the subdomains (k experts: k+1 values); nil for none
	Curves     []Series
}

// A Case is one sample drawn in full.
type Case struct {
	Title       string      // "u₀ = 0.12"
	Field       string      // name of what is drawn, "" for that of the page: "v"
	Inputs      []CaseInput // drawn before the rest, each on its own scale
	Truth       []float64   // the classical solution, nil if there is none
	Predictions [][]float64 // per method, nil where a method has none
}

// CaseInput is a field that the sample was given, on all axes of the page: constant along
// those it does not vary along.
type CaseInput struct {
	Name   string
	Values []float64
}

// A Fact is a line of the fact sheet: "Machine", "2 cores, 512-bit vectors".
type Fact struct{ Name, Value string }

// A Spec is a resolved experiment file.
type Spec struct{ Title, Text string }

// A Level is a number that errors or residuals are compared with: a line in figures.
type Level struct {
	Label string  `json:"label"` // "discretisation floor"
	Value float64 `json:"value"`
}

// Sampled is what a sample begins with.
func (p *Page) Sampled() string {
	if p.Steady {
		return "inputs"
	}
	return "initial conditions"
}

// TruthName is what predictions are compared with.
func (p *Page) TruthName() string {
	if p.Reference != "" {
		return "reference (" + p.Reference + ")"
	}
	return "classical solution"
}

// TruthLabel is TruthName in short, for drawings and tables.
func (p *Page) TruthLabel() string {
	if p.Reference != "" {
		return "reference"
	}
	return "classical solution"
}

// Rate is what relative residuals are over.
func (p *Page) Rate() string {
	if p.Steady {
		return "the residual of zero"
	}
	return "the solution's derivative in time"
}

// A Page is everything the HTML report shows. Empty parts are left out.
type Page struct {
	Title      string
	Subtitle   string
	Reference  string   // what solutions are, where they are no classical solver's: "the file's own rows on a finer grid"
	Steady     bool     // no axis is time: samples have inputs, and residuals are over that of zero
	Caveats    []string // what the figures do not say, under the table
	Summary    []string // paragraphs of plain text
	Equations  []string // lines of plain text, set apart
	Constants  []Fact   // of the equations
	Methods    []Method
	Baselines  []Method
	Cost       *Cost
	Levels     []Level     // of relative_l2, without that of persistence
	ErrorCurve string      // the Series.Name of relative_l2 in percent, which has the levels too
	Published  string      // where Method.Published comes from: "Chalapathi et al., ICLR 2024"
	Field      string      // name of the solution: "u"
	Axes       []FieldAxis // of the cases: t and x, or t, x and y
	Cases      []Case
	Charts     []Chart // of data and fit
	Facts      []Fact
	Notes      []string
	Specs      []Spec
	Overwrite  bool   // also files that are no earlier page of this package
	Generated  string // date and version, for the foot of the page
}

// A metricColumn is a column of the tables: its title and what it says of a method.
type metricColumn struct {
	title string
	cell  func(m *Method) string // "-" where there is nothing
}

func summaryColumn(title string, get func(e *score.Evaluation) *score.Summary, format func(s *score.Summary) string) metricColumn {
	return metricColumn{title, func(m *Method) string {
		if s := get(&m.Evaluation); s != nil {
			return format(s)
		}
		return "-"
	}}
}

func spreadText(s *score.Summary) string { return words.PercentOf(s.Mean, s.Std) }

func meanText(s *score.Summary) string { return words.Number(s.Mean) }

// errorColumns compare with solutions, remainderColumns with the equation.
func (p *Page) errorColumns() []metricColumn {
	return slices.Insert(slices.Clone(errorColumns), 1, p.partColumns("error in ", func(e *score.Evaluation) map[string]*score.Summary { return e.Unknowns }, spreadText)...)
}

func (p *Page) remainderColumns() []metricColumn {
	return slices.Insert(slices.Clone(remainderColumns), 2, p.partColumns("rms of ", func(e *score.Evaluation) map[string]*score.Summary { return e.Residuals }, meanText)...)
}

// partColumns are those of metrics that methods have for each of several unknowns or
// residuals.
func (p *Page) partColumns(title string, get func(e *score.Evaluation) map[string]*score.Summary, format func(s *score.Summary) string) []metricColumn {
	names := map[string]bool{}
	for i := range p.Methods {
		for name := range get(&p.Methods[i].Evaluation) {
			names[name] = true
		}
	}
	var out []metricColumn
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, summaryColumn(title+strings.ReplaceAll(name, "_", " "), func(e *score.Evaluation) *score.Summary { return get(e)[name] }, format))
	}
	return out
}

var errorColumns = []metricColumn{
	summaryColumn("relative L² error", func(e *score.Evaluation) *score.Summary { return e.RelativeL2 }, spreadText),
	summaryColumn("median", func(e *score.Evaluation) *score.Summary { return e.RelativeL2 }, func(s *score.Summary) string { return words.Percent(s.Median) }),
	summaryColumn("worst", func(e *score.Evaluation) *score.Summary { return e.RelativeL2 }, func(s *score.Summary) string { return words.Percent(s.Max) }),
	summaryColumn("error beyond training", func(e *score.Evaluation) *score.Summary { return e.Unseen }, spreadText),
	summaryColumn("passes", func(e *score.Evaluation) *score.Summary { return e.Passes }, meanText),
	{"published, other set-up", func(m *Method) string {
		if m.Published == nil {
			return "-"
		}
		return words.PercentOf(m.Published.Mean, m.Published.Std)
	}},
	{"training", func(m *Method) string {
		if m.Evaluation.TrainSeconds > 0 {
			return words.Duration(m.Evaluation.TrainSeconds)
		}
		return "-"
	}},
}

var remainderColumns = []metricColumn{
	summaryColumn("relative residual", func(e *score.Evaluation) *score.Summary { return e.RelativeResidual }, func(s *score.Summary) string { return words.Percent(s.Mean) }),
	summaryColumn("residual rms", func(e *score.Evaluation) *score.Summary { return e.ResidualRMS }, meanText),
	summaryColumn("initial", func(e *score.Evaluation) *score.Summary { return e.InitialError }, meanText),
	summaryColumn("boundary", func(e *score.Evaluation) *score.Summary { return e.BoundaryError }, meanText),
	summaryColumn("residual over rate", func(e *score.Evaluation) *score.Summary { return e.ResidualOverRate }, func(s *score.Summary) string { return words.Percent(s.Mean) }),
	summaryColumn("conditions over size", func(e *score.Evaluation) *score.Summary { return e.ConditionsOverSize }, func(s *score.Summary) string { return words.Percent(s.Mean) }),
	summaryColumn("border jump", func(e *score.Evaluation) *score.Summary { return e.BorderJump }, meanText),
}

// A row is a method or a baseline of a table or a drawing.
type row struct {
	*Method
	color int // of a method, -1 for others
}

// head is what a page shows of the row.
func (r row) head() head { return head{r.Note, r.color} }

// rgb is the colour in drawings.
func (r row) rgb() color.NRGBA {
	if r.color < 0 {
		return muted
	}
	return series[r.color]
}

// methods lists the methods.
func (p *Page) methods() []row {
	var rows []row
	for i := range p.Methods {
		rows = append(rows, row{&p.Methods[i], p.colorOf(i)})
	}
	return rows
}

// rows lists methods, then baselines.
func (p *Page) rows() []row {
	rows := p.methods()
	for i := range p.Baselines {
		rows = append(rows, row{&p.Baselines[i], -1})
	}
	return rows
}

// residualLevels are the relative residuals of the solution and of persistence.
func (p *Page) residualLevels() []Level {
	var out []Level
	for i := range p.Methods {
		e := &p.Methods[i].Evaluation
		if e.TruthResidual != nil {
			out = append(out, Level{p.TruthLabel(), e.TruthResidual.Mean})
		}
		if s := e.TellingPersistenceResidual(); s != nil {
			out = append(out, Level{"persistence", s.Mean})
		}
		if len(out) > 0 {
			break
		}
	}
	return out
}

// errorLevels are those of the page and the error of persistence.
func (p *Page) errorLevels() []Level {
	out := slices.Clone(p.Levels)
	for i := range p.Methods {
		if s := p.Methods[i].Evaluation.Persistence; s != nil {
			return append(out, Level{"persistence", s.Mean})
		}
	}
	return out
}

// metricTable sets rows in columns, of which those without a value are left out.
func metricTable(title string, columns []metricColumn, rows []row) *Table {
	t := &Table{Title: title, Columns: []Column{{Title: "method"}}}
	for _, c := range columns {
		t.Columns = append(t.Columns, Column{c.title, true})
	}
	for i, r := range rows {
		if i > 0 && r.color < 0 && rows[i-1].color >= 0 {
			t.Rule()
		}
		cells := []string{r.Label}
		for _, c := range columns {
			cells = append(cells, c.cell(r.Method))
		}
		t.addHead(r.head(), cells...)
	}
	t.dropEmpty()
	return t
}

// Table returns the errors of methods and baselines.
func (p *Page) Table() *Table {
	t := metricTable(p.Title, p.errorColumns(), p.rows())
	t.Notes = append(t.Notes, slices.Concat(p.methodNotes(), p.differenceNotes())...)
	if p.Published != "" && slices.ContainsFunc(p.Methods, func(m Method) bool { return m.Published != nil }) {
		t.Notes = append(t.Notes, "published: "+p.Published)
	}
	return t
}

// RemainderTable returns what predictions leave of the equation and its conditions, with what the
// residual is compared with; nil without methods.
func (p *Page) RemainderTable() *Table {
	if len(p.Methods) == 0 {
		return nil
	}
	rows := p.methods()
	for _, l := range p.residualLevels() {
		rows = append(rows, row{&Method{Label: l.Label, Evaluation: score.Evaluation{RelativeResidual: &score.Summary{Mean: l.Value}}}, -1})
	}
	return metricTable("What is left of the equation", p.remainderColumns(), rows)
}
