package report

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Table is written with aligned columns on a terminal, and as a table on a page.
type Table struct {
	Title   string
	Columns []Column
	Rows    [][]string // a short row is filled with empty cells
	Notes   []string   // lines under the table
	heads   map[int]*head
}

// A head is what a page adds to the first cell of a row.
type head struct {
	Note  string
	Color int // of a method; -1 for what methods are compared with
}

// A Column is a heading and an alignment.
type Column struct {
	Title string
	Right bool // align right, as numbers want
}

// Add appends a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// addHead appends a row with a head.
func (t *Table) addHead(h head, cells ...string) {
	if t.heads == nil {
		t.heads = map[int]*head{}
	}
	t.heads[len(t.Rows)] = &h
	t.Add(cells...)
}

// Rule appends a horizontal rule, which pages leave out.
func (t *Table) Rule() { t.Rows = append(t.Rows, nil) }

// head returns what a page adds to a row, nil for nothing.
func (t *Table) head(row int) *head { return t.heads[row] }

// dropEmpty removes the columns in which every row is "-".
func (t *Table) dropEmpty() {
	for j := len(t.Columns) - 1; j >= 0; j-- {
		if slices.ContainsFunc(t.Rows, func(row []string) bool { return row != nil && row[j] != "-" }) {
			continue
		}
		t.Columns = slices.Delete(t.Columns, j, j+1)
		for i, row := range t.Rows {
			if row != nil {
				t.Rows[i] = slices.Delete(row, j, j+1)
			}
		}
	}
}

// WriteTo writes the table with two spaces between columns and no trailing
// blanks. Widths count characters, not bytes.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		widths[i] = utf8.RuneCountInString(c.Title)
		for _, row := range t.Rows {
			if i < len(row) {
				widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
			}
		}
	}
	var b strings.Builder
	line := func(cell func(i int) string) {
		var l strings.Builder
		for i, c := range t.Columns {
			text := cell(i)
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
			if i > 0 {
				l.WriteString("  ")
			}
			if c.Right {
				l.WriteString(pad + text)
			} else {
				l.WriteString(text + pad)
			}
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	rule := func() { line(func(i int) string { return strings.Repeat("─", widths[i]) }) }
	if t.Title != "" {
		b.WriteString(t.Title + "\n\n")
	}
	line(func(i int) string { return t.Columns[i].Title })
	rule()
	for _, row := range t.Rows {
		if row == nil {
			rule()
			continue
		}
		line(func(i int) string {
			if i < len(row) {
				return row[i]
			}
			return ""
		})
	}
	for i, note := range t.Notes {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString(note + "\n")
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

// String returns the table as text.
func (t *Table) String() string {
	var b strings.Builder
	t.WriteTo(&b) // a strings.Builder does not fail
	return b.String()
}
