package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"pihc/data"
	"pihc/internal/words"
)

// A Cost compares the time of predictions with that of the classical solver, measured on one
// machine.
type Cost struct {
	Machine   string         `json:"machine"`
	Workers   int            `json:"workers"`
	Batch     int            `json:"batch"`   // predictions together, for PerSecond
	Samples   int            `json:"samples"` // of the test split, over which errors here are means: scores are over all
	Methods   []MethodCost   `json:"methods"`
	Classical []ClassicalRun `json:"classical"` // coarsest first
	Uses      Uses           `json:"uses"`
}

// A MethodCost is the time of a trained method.
type MethodCost struct {
	Method    string     `json:"method"`
	Label     string     `json:"label"`
	Error     data.Float `json:"relative_l2_of_samples"` // mean over those samples
	Seconds   float64    `json:"prediction_seconds"`     // of one prediction alone, with all workers
	PerSecond float64    `json:"per_second"`             // predictions of a batch
	Train     float64    `json:"train_seconds"`
	// Matched is the place in Classical of the coarsest run with that error or less, -1 where
	// none was found.
	Matched int `json:"matched"`
	// BreakEven is the number of predictions after which training and they have taken less
	// time than as many solutions of that run, both with all workers; 0 where there is none.
	BreakEven int `json:"break_even,omitempty"`
}

// A ClassicalRun is the classical solver on one grid, interpolated to the grid of the page.
type ClassicalRun struct {
	Grid      []int      `json:"grid"`
	Error     data.Float `json:"relative_l2_of_samples"` // mean over those samples, against the solutions that methods are scored with
	Seconds   float64    `json:"solution_seconds"`       // of one solution on one thread
	PerSecond float64    `json:"per_second"`             // solutions with all workers
}

// Match fills Matched and BreakEven of every method.
func (c *Cost) Match() {
	for i := range c.Methods {
		m := &c.Methods[i]
		m.Matched, m.BreakEven = -1, 0
		for k, run := range c.Classical {
			if run.Error <= m.Error {
				m.Matched = k
				break
			}
		}
		if m.Matched < 0 {
			continue
		}
		if saved := 1/c.Classical[m.Matched].PerSecond - 1/m.PerSecond; saved > 0 {
			m.BreakEven = int(math.Ceil(m.Train / saved))
		}
	}
}

// breakEven writes the break-even number of predictions.
func (m *MethodCost) breakEven() string {
	switch {
	case m.Matched < 0:
		return "-"
	case m.BreakEven == 0:
		return "never"
	}
	return words.Count(m.BreakEven) + " predictions"
}

// rate writes how many a second, of three digits.
func rate(v float64) string {
	if v >= 10 && v < 1e5 {
		return words.Count(int(math.Round(v)))
	}
	return words.Number(v)
}

// shortDuration is Duration with a decimal below ten milliseconds.
func shortDuration(seconds float64) string {
	if seconds < 0.00995 {
		return strconv.FormatFloat(seconds*1e3, 'g', 2, 64) + " ms"
	}
	return words.Duration(seconds)
}

// Table returns the comparison, nil without one.
func (c *Cost) Table() *Table {
	if c == nil || len(c.Methods) == 0 {
		return nil
	}
	t := &Table{Title: "Time against the classical solver", Columns: []Column{{"method", false}}, Notes: c.notes()}
	over := fmt.Sprintf("error, %d samples", c.Samples)
	for _, title := range []string{over, "one prediction", "predictions/s", "classical run as good", "its " + over, "one solution", "solutions/s", "pays off after"} {
		t.Columns = append(t.Columns, Column{title, true})
	}
	for i := range c.Methods {
		m := &c.Methods[i]
		cells := []string{m.Label, words.Percent(float64(m.Error)), shortDuration(m.Seconds), rate(m.PerSecond), "-", "-", "-", "-", m.breakEven()}
		if m.Matched >= 0 {
			run := c.Classical[m.Matched]
			copy(cells[4:], []string{gridText(run.Grid), words.Percent(float64(run.Error)), shortDuration(run.Seconds), rate(run.PerSecond)})
		}
		t.Add(cells...)
	}
	return t
}

// costFile has the comparison's numbers.
const costFile = "cost.csv"

// rows are the numbers of the comparison: of each method, with its training, and of each classical run.
func (c *Cost) rows() [][]string {
	rows := [][]string{{"method", "grid", "samples", "relative_l2_of_samples", "prediction_seconds", "solution_seconds", "per_second", "train_seconds", "break_even"}}
	if c == nil {
		return rows
	}
	samples := strconv.Itoa(c.Samples)
	for _, m := range c.Methods {
		rows = append(rows, []string{m.Method, "", samples, exact(float64(m.Error)), exact(m.Seconds), "", exact(m.PerSecond), exact(m.Train), strconv.Itoa(m.BreakEven)})
	}
	for _, run := range c.Classical {
		rows = append(rows, []string{"classical", words.Shape(run.Grid), samples, exact(float64(run.Error)), "", exact(run.Seconds), exact(run.PerSecond), "", ""})
	}
	return rows
}

func (c *Cost) notes() []string {
	notes := []string{
		fmt.Sprintf("%s; measured while this report was made, and errors are means over %d of the test samples, not the scores, which are over all.", c.Machine, c.Samples),
		fmt.Sprintf("Workers: %d, of which one prediction uses all and one solution a single one; predictions/s are of %d together, solutions/s of one on each worker.", c.Workers, c.Batch),
		"The classical run is the coarsest, among halvings and doublings of the grid in space, with no larger an error.",
		"It is interpolated to this grid (by the trigonometric polynomial, or cubics), which its times leave out.",
		"Training has paid off when it and the predictions have taken less time than as many solutions.",
	}
	if slices.ContainsFunc(c.Methods, func(m MethodCost) bool { return m.Matched >= 0 && c.Classical[m.Matched].Error == 0 }) {
		notes = append(notes, "A classical run with an error of 0 is the truth itself, whose own discretisation error no row has.")
	}
	if n := len(c.Classical); n > 0 && slices.ContainsFunc(c.Methods, func(m MethodCost) bool { return m.Matched < 0 }) {
		finest := c.Classical[n-1]
		notes = append(notes, fmt.Sprintf("“-”: no run that was tried is as accurate; the finest has %s points, an error of %s over those samples and takes %s.",
			gridText(finest.Grid), words.Percent(float64(finest.Error)), shortDuration(finest.Seconds)))
	}
	return notes
}

// claim is what the comparison shows of the methods that may be relied on, in a sentence; "" where nothing was measured.
func (c *Cost) claim(reliable func(key string) bool) string {
	if c == nil {
		return ""
	}
	faster, slower := []string{}, []string{}
	for i := range c.Methods {
		switch m := &c.Methods[i]; {
		case m.Matched < 0 || !reliable(m.Method):
		case m.BreakEven > 0:
			faster = append(faster, fmt.Sprintf("%s pays for its training after %s predictions", m.Label, words.Count(m.BreakEven)))
		default:
			slower = append(slower, fmt.Sprintf("%s is %s times faster", m.Label, words.Number(c.Classical[m.Matched].PerSecond/m.PerSecond)))
		}
	}
	var parts []string
	if len(slower) > 0 {
		parts = append(parts, "A classical run as accurate as "+strings.Join(slower, ", as accurate as "))
	}
	parts = append(parts, faster...)
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "; ") + "."
}
