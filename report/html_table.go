package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pihc/score"
)

// unbroken keeps a number and its unit in one line.
func unbroken(text string) string { return strings.ReplaceAll(text, " ", "\u00a0") }

type htmlRow struct {
	Label, Note string
	Color       int
	Baseline    bool
	Cells       []htmlCell
}

// An htmlCell repeats the title of its column, which stands beside it on a narrow page.
type htmlCell struct{ Title, Text string }

type htmlTable struct {
	Columns []string
	Rows    []htmlRow
}

// metricTable leaves out the columns in which every row is empty; nil without rows.
func metricTable(columns []metricColumn, rows []metricRow) *htmlTable {
	if len(rows) == 0 {
		return nil
	}
	out := &htmlTable{}
	for _, r := range rows {
		out.Rows = append(out.Rows, htmlRow{Label: r.label, Note: r.note, Color: r.color, Baseline: r.color < 0})
	}
	for _, c := range columns {
		cells := make([]htmlCell, len(rows))
		used := false
		for i, r := range rows {
			text := c.cell(r.evaluation, r.published)
			used = used || text != "-"
			cells[i] = htmlCell{c.title, unbroken(text)}
		}
		if !used {
			continue
		}
		out.Columns = append(out.Columns, c.title)
		for i := range rows {
			out.Rows[i].Cells = append(out.Rows[i].Cells, cells[i])
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

type htmlGridCell struct{ Title, Mean, Rest string }

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
		if n := p.fewerOn(g); n > 0 {
			label += " (" + theFirst(n) + ")"
		}
		out.Grids = append(out.Grids, label)
	}
	add := func(label string, color int, baseline bool, e *score.Evaluation) {
		row := htmlGridRow{Label: label, Color: color, Baseline: baseline}
		for i, g := range grids {
			cell := htmlGridCell{Title: out.Grids[i], Mean: "–"}
			if x := e.On(g); x != nil && x.RelativeL2 != nil {
				r := x.RelativeL2
				cell.Mean, cell.Rest = unbroken(score.PercentOf(r.Mean, r.Std)), "median "+unbroken(score.Percent(r.Median))+", worst "+unbroken(score.Percent(r.Max))
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
			one := score.Evaluation{Experts: []score.Expert{e}}
			names, counts := one.Statuses()
			for j, name := range names {
				names[j] = name + " " + score.Count(counts[name])
			}
			label := m.Label
			if len(m.Evaluation.Experts) > 1 {
				label += ", expert " + strconv.Itoa(k)
			}
			out = append(out, expertRow{label, p.colorOf(i), fmt.Sprintf("%.1f ± %.1f", e.Iterations.Mean, e.Iterations.Std), score.Number(e.Iterations.Max), score.Number(e.ConstraintRMS.Mean), strings.Join(names, ", ")})
		}
	}
	return out
}
