package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

type card struct {
	Color                                int
	Label, Note, Mean, Spread, Published string
}

func (p *Page) cards() []card {
	var out []card
	for i, m := range p.Methods {
		r := m.Evaluation.RelativeL2
		if r == nil {
			continue
		}
		c := card{Color: p.colorOf(i), Label: m.Label, Mean: percent(r.Mean), Spread: unbroken("± "+Percent(r.Std)) + ", worst " + unbroken(Percent(r.Max))}
		if m.Published != nil {
			c.Published = unbroken(scoreText(m.Published))
		}
		out = append(out, c)
	}
	return out
}

// unbroken keeps a number and its unit in one line.
func unbroken(text string) string { return strings.ReplaceAll(text, " ", "\u00a0") }

type htmlRow struct {
	Label, Note string
	Color       int
	Baseline    bool
	Cells       []string
}

type htmlTable struct {
	Columns []string
	Rows    []htmlRow
}

// htmlTable leaves out the columns in which every row is empty.
func (p *Page) htmlTable() *htmlTable {
	titles := []string{"relative L² error", "median", "maximum", "error beyond training", "published", "relative residual", "residual rms", "initial", "boundary", "border jump", "training"}
	var rows []htmlRow
	add := func(label, note string, color int, baseline bool, e Evaluation, published *Score) {
		cells := []string{"-", "-", "-"}
		if r := e.RelativeL2; r != nil {
			cells = []string{PercentOf(r.Mean, r.Std), Percent(r.Median), Percent(r.Max)}
		}
		time := "-"
		if e.TrainSeconds > 0 {
			time = Duration(e.TrainSeconds)
		}
		cells = append(cells, unseenText(e.Unseen), scoreText(published), percentText(e.RelativeResidual), meanText(e.ResidualRMS), meanText(e.InitialError), meanText(e.BoundaryError), meanText(e.BorderJump), time)
		rows = append(rows, htmlRow{label, note, color, baseline, cells})
	}
	for i, m := range p.Methods {
		add(m.Label, m.Note, p.colorOf(i), false, m.Evaluation, m.Published)
	}
	for _, b := range p.Baselines {
		add(b.Label, b.Note, 0, true, b.Evaluation, nil)
	}
	if len(rows) == 0 {
		return nil
	}
	out := &htmlTable{}
	for _, r := range rows {
		r.Cells = nil
		out.Rows = append(out.Rows, r)
	}
	for j, title := range titles {
		used := false
		for _, r := range rows {
			used = used || r.Cells[j] != "-"
		}
		if !used {
			continue
		}
		out.Columns = append(out.Columns, title)
		for i, r := range rows {
			cell := r.Cells[j]
			if cell == "-" {
				cell = "–"
			}
			out.Rows[i].Cells = append(out.Rows[i].Cells, cell)
		}
	}
	return out
}

type htmlGridTable struct {
	Grids []string
	Rows  []htmlGridRow
}

type htmlGridRow struct {
	Label    string
	Color    int
	Baseline bool
	Cells    []htmlGridCell
}

type htmlGridCell struct{ Mean, Rest string }

// htmlGridTable has a column for every grid; nil if there is one grid alone.
func (p *Page) htmlGridTable() *htmlGridTable {
	grids := p.grids()
	if len(grids) < 2 {
		return nil
	}
	out := &htmlGridTable{}
	for _, g := range grids {
		label := p.gridLabel(g)
		if slices.Equal(g, p.Methods[0].Evaluation.Grid) {
			label += " (training)"
		}
		out.Grids = append(out.Grids, label)
	}
	add := func(label string, color int, baseline bool, e *Evaluation) {
		row := htmlGridRow{Label: label, Color: color, Baseline: baseline}
		for _, g := range grids {
			cell := htmlGridCell{Mean: "–"}
			if x := e.on(g); x != nil && x.RelativeL2 != nil {
				r := x.RelativeL2
				cell = htmlGridCell{PercentOf(r.Mean, r.Std), "median " + Percent(r.Median) + ", max " + Percent(r.Max)}
			}
			row.Cells = append(row.Cells, cell)
		}
		out.Rows = append(out.Rows, row)
	}
	for i := range p.Methods {
		add(p.Methods[i].Label, p.colorOf(i), false, &p.Methods[i].Evaluation)
	}
	for i := range p.Baselines {
		if b := &p.Baselines[i]; len(b.Evaluation.Grids) > 0 {
			add(b.Label, 0, true, &b.Evaluation)
		}
	}
	return out
}

type expertRow struct {
	Label                                     string
	Color                                     int
	Iterations, Largest, Constraint, Statuses string
}

func (p *Page) expertRows() []expertRow {
	var out []expertRow
	for i, m := range p.Methods {
		for k, e := range m.Evaluation.Experts {
			one := Evaluation{Experts: []Expert{e}}
			names, counts := one.statuses()
			for j, name := range names {
				names[j] = name + " " + Count(counts[name])
			}
			label := m.Label
			if len(m.Evaluation.Experts) > 1 {
				label += ", expert " + strconv.Itoa(k)
			}
			out = append(out, expertRow{label, p.colorOf(i), fmt.Sprintf("%.1f ± %.1f", e.Iterations.Mean, e.Iterations.Std), Number(e.Iterations.Max), Number(e.ConstraintRMS.Mean), strings.Join(names, ", ")})
		}
	}
	return out
}
