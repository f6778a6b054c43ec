package report

import (
	"fmt"
	"strconv"

	"pihc/internal/words"
)

// Uses are inverse problems in solutions of the problem's own rows, measured beside the times of a Cost.
type Uses struct {
	List []Use  `json:"list"`
	Note string `json:"note,omitempty"` // why something was not measured
}

// A Use is a fit by Gauss and Newton, with exact derivatives.
type Use struct {
	What        string  `json:"what"`
	Numbers     int     `json:"numbers"`     // that are free
	Solutions   float64 `json:"solutions"`   // that take the same time on one thread
	Evaluations int     `json:"evaluations"` // of all observations and derivatives
}

// Predictions are those in the place of the solutions, with derivatives by differences.
func (u *Use) Predictions() int { return u.Evaluations * (u.Numbers + 1) }

// Pays is the cost of a prediction, in solutions, at which the fit takes as long by predictions.
func (u *Use) Pays() float64 { return u.Solutions / float64(u.Predictions()) }

// unit is the classical run that is counted in: as good as the best method that has one, or the finest.
func (c *Cost) unit() *ClassicalRun {
	at, best := len(c.Classical)-1, -1
	for i := range c.Methods {
		if m := &c.Methods[i]; m.Matched >= 0 && (best < 0 || m.Error < c.Methods[best].Error) {
			at, best = m.Matched, i
		}
	}
	return &c.Classical[at]
}

// UsesTable says what a prediction, a fit of numbers and one of a field take, in classical solutions, and what a prediction would have to
// take for the fit to be as fast by it. It is nil where nothing was measured.
func (c *Cost) UsesTable() *Table {
	if c == nil || len(c.Methods) == 0 || len(c.Classical) == 0 {
		return nil
	}
	t := &Table{Title: "In classical solutions", Columns: []Column{{"what", false}}}
	for _, title := range []string{"numbers", "steps", "solutions", "or predictions", "a prediction pays below", "that is"} {
		t.Columns = append(t.Columns, Column{title, true})
	}
	unit := c.unit()
	for i := range c.Methods {
		m := &c.Methods[i]
		run := unit
		if m.Matched >= 0 {
			run = &c.Classical[m.Matched]
		}
		t.Add("prediction by "+m.Label, "-", "-", words.Number(run.PerSecond/m.PerSecond), "1", "1", shortDuration(run.Seconds))
	}
	for i := range c.Uses.List {
		u := &c.Uses.List[i]
		t.Add(u.What, strconv.Itoa(u.Numbers), strconv.Itoa(u.Evaluations), words.Number(u.Solutions), words.Count(u.Predictions()), words.Number(u.Pays()), shortDuration(u.Pays()*unit.Seconds))
	}
	t.Notes = []string{
		"A prediction is counted in the classical run as good as its method, or the finest that was tried, each in a full batch.",
		"Fits are by Gauss and Newton with exact derivatives over solutions of the problem's own rows on this grid, and counted in these.",
		fmt.Sprintf("Their last column is for classical solutions of %s.", shortDuration(unit.Seconds)),
		"Predictions have no exact derivatives here: a step takes one more for each number. Training is left out.",
	}
	if c.Uses.Note != "" {
		t.Notes = append(t.Notes, c.Uses.Note)
	}
	return t
}
