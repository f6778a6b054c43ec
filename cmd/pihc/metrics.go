package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pihc/experiment"
	"pihc/internal/disk"
	"pihc/internal/words"
	"pihc/model"
	"pihc/report"
	"pihc/score"
	"pihc/train"
)

// metricsFile is the file for the metrics of the run in dir: out, or that of the run, if it may be written.
func metricsFile(dir, out string, force bool) (string, error) {
	own := train.Folder(dir).MetricsFile()
	same := func(folder string) bool {
		a, errA := os.Stat(folder)
		b, errB := os.Stat(dir)
		return errA == nil && errB == nil && os.SameFile(a, b)
	}
	o := disk.Output{
		Path: cmp.Or(out, own), Kind: "file of metrics", Ours: isMetrics, Force: force,
		Belongs: func(folder, name string) bool { return name == filepath.Base(own) && same(folder) },
	}
	if out == "" {
		o.Force = true          // the name is of no other use
		return own, o.Allowed() // scores that cannot be kept are shown all the same
	}
	return out, o.Check()
}

// isMetrics reports whether a file is one of metrics, of any version.
func isMetrics(path string) bool {
	text, err := disk.ReadFile(path)
	var m struct {
		Version                int
		Method, Problem, Split string
		Checkpoint             string
		Grid                   []int
		Samples                int
		Residual               json.RawMessage `json:"residual_rms"`
	}
	return err == nil && json.Unmarshal(text, &m) == nil && m.Version > 0 && slices.Contains(model.Methods, m.Method) && m.Problem != "" && m.Split != "" &&
		len(m.Checkpoint) == hex.EncodedLen(sha256.Size) && len(m.Grid) > 1 && m.Samples > 0 && m.Residual != nil
}

// printMetrics writes an evaluation for people.
func printMetrics(w io.Writer, m *experiment.Metrics) error {
	if err := printVerdict(w, "", &m.Evaluation); err != nil {
		return err
	}
	t := &report.Table{
		Title:   fmt.Sprintf("%s, %s, %d %s samples on %s, step %d%s", m.Problem, model.MethodLabel(m.Method), m.Samples, m.Split, words.Shape(m.Grid), m.Step, passesOf(m)),
		Columns: []report.Column{{Title: "metric"}, {Title: "mean", Right: true}, {Title: "std", Right: true}, {Title: "median", Right: true}, {Title: "max", Right: true}},
	}
	row := func(name string, s *score.Summary, format func(float64) string) {
		if s != nil {
			t.Add(name, format(s.Mean), format(s.Std), format(s.Median), format(s.Max))
		}
	}
	row("relative_l2", m.RelativeL2, words.Percent)
	for _, name := range slices.Sorted(maps.Keys(m.Unknowns)) {
		row("  of "+name, m.Unknowns[name], words.Percent)
	}
	for _, g := range m.Grids {
		of := ""
		if g.Samples < m.Samples {
			of = fmt.Sprintf(", the first %d", g.Samples)
		}
		row("  on "+words.Shape(g.Grid)+of, g.RelativeL2, words.Percent)
	}
	row("error_estimate", m.ErrorEstimate, words.Percent)
	row("  grid_error", m.GridError, words.Percent)
	row("  rows_error", m.RowsError, words.Percent)
	row("unseen_l2", m.Unseen, words.Percent)
	for k := range len(m.Segments) {
		row(fmt.Sprintf("  segment %d of time", k+1), m.Segments[strconv.Itoa(k+1)], words.Percent)
	}
	row("nrmse", m.NRMSE, words.Percent)
	row("passes", m.Passes, words.Number)
	row("points_evaluated", m.PointsEvaluated, words.Number)
	row("relative_residual", m.RelativeResidual, words.Percent)
	row("truth_residual", m.TruthResidual, words.Percent)
	row("persistence_residual", m.TellingPersistenceResidual(), words.Percent)
	row("residual_over_rate", m.ResidualOverRate, words.Percent)
	row("residual_rms", m.ResidualRMS, words.Number)
	for _, name := range slices.Sorted(maps.Keys(m.Residuals)) {
		row("  of "+name, m.Residuals[name], words.Number)
	}
	row("initial_error", m.InitialError, words.Number)
	row("boundary_error", m.BoundaryError, words.Number)
	for _, name := range slices.Sorted(maps.Keys(m.Conditions)) {
		row("  condition "+name, m.Conditions[name], words.Number)
	}
	row("conditions_over_size", m.ConditionsOverSize, words.Percent)
	row("truth_conditions", m.TruthConditions, words.Percent)
	row("border_jump", m.BorderJump, words.Number)
	row("loss", m.Loss, words.Number)
	for _, x := range m.Trivial {
		row(x.Name, x.RelativeL2, words.Percent)
		row(x.Name+", loss", &x.Loss, words.Number)
	}
	row("interpolation", m.Interpolation, words.Percent)
	for k := range m.Experts {
		x := &m.Experts[k]
		row(fmt.Sprintf("expert %d iterations", k), &x.Iterations, words.Number)
		row(fmt.Sprintf("expert %d constraint_rms", k), &x.ConstraintRMS, words.Number)
	}
	t.Notes = metricsNotes(m)
	seconds, estimates := m.Seconds, m.EstimateSeconds
	for _, g := range m.Grids {
		seconds += g.Seconds
		estimates += g.EstimateSeconds
	}
	last := "evaluated in " + words.Duration(seconds)
	if estimates > max(10, seconds/2) {
		last += ", of which " + words.Duration(estimates) + " waiting for estimates of errors: --no-estimates leaves them out"
	}
	t.Notes = append(t.Notes, last)
	_, err := t.WriteTo(w)
	return err
}

// metricsNotes are the lines below the metrics.
func metricsNotes(m *experiment.Metrics) (notes []string) {
	for k, x := range m.Experts {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(x.Statuses)) {
			parts = append(parts, fmt.Sprintf("%d %s", x.Statuses[name], name))
		}
		notes = append(notes, fmt.Sprintf("expert %d: %s", k, strings.Join(parts, ", ")))
	}
	if len(m.Set) > 0 {
		notes = append(notes, "not as trained: --set "+strings.Join(m.Set, " --set "))
	}
	if m.Repeat != "" {
		notes = append(notes, "not as trained: passes "+m.Repeat)
	}
	if len(m.TrustedEdits) > 0 {
		notes = append(notes, m.Edits())
	}
	for _, line := range []string{m.GridNote(), m.ReferenceNote(), m.TrivialNote(), m.UnbeatenNote()} {
		if line != "" {
			notes = append(notes, line)
		}
	}
	return notes
}

// printVerdict writes the verdict on an evaluation, and its reasons and those on other grids, a line each, before what is printed of it.
func printVerdict(w io.Writer, label string, e *score.Evaluation) error {
	if e.Verdict != "" {
		if _, err := fmt.Fprintf(w, "%s%s\n", label, e.VerdictLine()); err != nil {
			return err
		}
	}
	for _, line := range e.AllWarnings() {
		if _, err := fmt.Fprintf(w, "warning: %s%s\n", label, line); err != nil {
			return err
		}
	}
	return nil
}

// passesOf says how many passes the scores are of.
func passesOf(m *experiment.Metrics) string {
	switch {
	case m.Passes == nil:
		return ""
	case m.Repeat != "":
		return fmt.Sprintf(", passes %s: %s in the mean", m.Repeat, words.Number(m.Passes.Mean))
	}
	return fmt.Sprintf(", %s passes", words.Number(m.Passes.Mean))
}
