package report

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
	Values []float64 // NaN and, on a logarithmic scale, values <= 0 are gaps
	Linear bool      // linear scale; the default is logarithmic
	Raw    bool      // noisy from step to step: a running median is drawn over it
}

// A Score is a mean and a standard deviation of relative_l2 that somebody else
// reports. Std is NaN if it is not known.
type Score struct {
	Mean, Std float64
}

// A Method is a column of every comparison.
type Method struct {
	Key        string // short, for file names: "moe"
	Label      string // for people: "PI-HC-MoE"
	Note       string // one line: "4 experts × 20 000 points"
	Evaluation Evaluation
	Published  *Score      // the paper's figure for this method, if there is one
	Borders    [][]float64 // per axis, the ends of the subdomains (k experts: k+1 values); nil for none
	Curves     []Series
}

// A Baseline is a row that needs no training.
type Baseline struct {
	Key        string // short, for JSON: "mean_field"
	Label      string
	Note       string
	Evaluation Evaluation
}

// A Case is one sample drawn in full.
type Case struct {
	Title       string      // "u₀ = 0.12"
	Truth       []float64   // the classical solution, nil if there is none
	Predictions [][]float64 // per method, nil where a method has none
}

// A Fact is a line of the fact sheet: "Machine", "2 cores, 512-bit vectors".
type Fact struct{ Name, Value string }

// A Spec is a resolved experiment file.
type Spec struct{ Title, Text string }

// A Page is everything the HTML report shows. Empty parts are left out.
type Page struct {
	Title     string
	Subtitle  string
	Summary   []string // paragraphs of plain text under the title
	Equations []string // lines of plain text, set apart
	Methods   []Method
	Baselines []Baseline
	Published string      // where Method.Published comes from: "Chalapathi et al., ICLR 2024"
	Field     string      // name of the solution: "u"
	Unit      string      // its unit
	Axes      []FieldAxis // of the cases: t and x, or t, x and y
	Cases     []Case
	Facts     []Fact
	Notes     []string
	Specs     []Spec
	Generated string // date and version, for the foot of the page
}

// Table returns the comparison of methods and baselines for a terminal. Columns in
// which every row is empty are left out.
func (p *Page) Table() *Table {
	t := &Table{Title: p.Title, Columns: []Column{
		{"method", false},
		{"relative L² error", true},
		{"median", true},
		{"max", true},
		{"error beyond training", true},
		{"published", true},
		{"relative residual", true},
		{"residual rms", true},
		{"initial", true},
		{"boundary", true},
		{"training", true},
	}}
	published := false
	row := func(label string, e Evaluation, score *Score) {
		cells := []string{label, "-", "-", "-"}
		if r := e.RelativeL2; r != nil {
			cells = []string{label, PercentOf(r.Mean, r.Std), Percent(r.Median), Percent(r.Max)}
		}
		time := "-"
		if e.TrainSeconds > 0 {
			time = Duration(e.TrainSeconds)
		}
		published = published || score != nil
		t.Add(append(cells, unseenText(e.Unseen), scoreText(score), percentText(e.RelativeResidual), meanText(e.ResidualRMS), meanText(e.InitialError), meanText(e.BoundaryError), time)...)
	}
	for _, m := range p.Methods {
		row(m.Label, m.Evaluation, m.Published)
	}
	if len(p.Baselines) > 0 && len(p.Methods) > 0 {
		t.Rule()
	}
	for _, b := range p.Baselines {
		row(b.Label, b.Evaluation, nil)
	}
	t.dropEmpty()
	t.Notes = append(t.Notes, p.differenceNotes()...)
	if published && p.Published != "" {
		t.Notes = append(t.Notes, "published: "+p.Published)
	}
	return t
}

func scoreText(s *Score) string {
	if s == nil {
		return "-"
	}
	return PercentOf(s.Mean, s.Std)
}

// unseenText is the error at times after those of training.
func unseenText(s *Summary) string {
	if s == nil {
		return "-"
	}
	return PercentOf(s.Mean, s.Std)
}

func percentText(s *Summary) string {
	if s == nil {
		return "-"
	}
	return Percent(s.Mean)
}

func meanText(s *Summary) string {
	if s == nil {
		return "-"
	}
	return Number(s.Mean)
}
