// Package score measures predictions: errors against solutions, residuals, baselines and spectra. Errors and
// metrics are fractions: 0.036 is written as 3.60 %.
package score

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"pihc/internal/words"
)

// An Evaluation is what a method scores on a set of samples. A pointer to a
// Summary is nil where the metric does not apply: errors without a classical
// solution, border jumps without experts.
type Evaluation struct {
	Method        string   `json:"method"`
	Problem       string   `json:"problem,omitempty"`
	Grid          []int    `json:"grid,omitempty"`
	Samples       int      `json:"samples"`
	RelativeL2    *Summary `json:"relative_l2,omitempty"`
	NRMSE         *Summary `json:"nrmse,omitempty"`
	ResidualRMS   *Summary `json:"residual_rms,omitempty"`
	InitialError  *Summary `json:"initial_error,omitempty"`
	BoundaryError *Summary `json:"boundary_error,omitempty"`
	BorderJump    *Summary `json:"border_jump,omitempty"`
	Persistence   *Summary `json:"persistence,omitempty"` // relative_l2 of the initial condition as the solution at all times
	// Interpolation is relative_l2 of linear interpolation between the solutions at the ends of the
	// distribution, where initial conditions are constants.
	Interpolation *Summary `json:"interpolation,omitempty"`
	// Root mean squares of the residual, without row weights, over the root mean square of the
	// solution's derivative in time: for the prediction, for the solution and for persistence.
	// TruthResidual is not zero because of the grid's discretisation error.
	RelativeResidual    *Summary `json:"relative_residual,omitempty"`
	TruthResidual       *Summary `json:"truth_residual,omitempty"`
	PersistenceResidual *Summary `json:"persistence_residual,omitempty"`
	// ResidualOverRate is the same of the prediction over its own derivative in time, which needs no solution.
	ResidualOverRate *Summary `json:"residual_over_rate,omitempty"`
	// The largest root mean square of the rows of a condition on values, in the unit of the unknown, over
	// that of the unknown, or of what the condition prescribes: for the prediction and for the solution.
	ConditionsOverSize *Summary `json:"conditions_over_size,omitempty"`
	TruthConditions    *Summary `json:"truth_conditions,omitempty"`
	// ErrorEstimate is the distance from the solution of the equation, from the problem alone; nil where none could be made. GridError is that of the
	// solution of the rows on this grid, and RowsError the prediction's from that; nil where those are not known.
	ErrorEstimate *Summary `json:"error_estimate,omitempty"`
	GridError     *Summary `json:"grid_error,omitempty"`
	RowsError     *Summary `json:"rows_error,omitempty"`
	// Unseen is relative_l2 over the times after training.window alone.
	Unseen *Summary `json:"unseen_l2,omitempty"`
	// Passes are those of the network, where there are several, and PointsEvaluated the points of the grids of all of them together.
	Passes          *Summary `json:"passes,omitempty"`
	PointsEvaluated *Summary `json:"points_evaluated,omitempty"`
	// With several unknowns, residuals or conditions, by name: relative_l2 of unknowns, residual_rms
	// of residuals, the root mean square of the rows of conditions.
	Unknowns   map[string]*Summary `json:"unknowns,omitempty"`
	Residuals  map[string]*Summary `json:"residuals,omitempty"`
	Conditions map[string]*Summary `json:"conditions,omitempty"`
	// With several segments of time (rollout), by their number from 1: relative_l2 over the times after the beginning of each.
	Segments map[string]*Summary `json:"segments,omitempty"`
	// Loss is the whole loss, with conditions and without border terms, as Trivial.Loss is.
	Loss    *Summary  `json:"loss,omitempty"`
	Trivial []Trivial `json:"trivial,omitempty"`
	// ReferenceError is the relative L2 distance of the solutions from solutions of another
	// refinement, where that was measured: smaller errors say little.
	ReferenceError float64 `json:"reference_error,omitempty"`
	Unbeaten       string  `json:"unbeaten,omitempty"` // one line: the trivial prediction that the method does not beat; "" if it beats all
	// Verdict is Trusted, Doubtful or Failed; "" in files that are older than it. Warnings are the reasons, a line each, Unbeaten
	// among them.
	Verdict  string   `json:"verdict,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// ErrorOverTime is nil without solutions, without time, and in files that are older than it.
	ErrorOverTime *ErrorOverTime `json:"error_over_time,omitempty"`
	Spectra       *Spectra       `json:"spectra,omitempty"` // with two periodic axes of space
	Experts       []Expert       `json:"experts,omitempty"`
	PerSample     []Sample       `json:"per_sample,omitempty"`
	// Grids are the evaluations of the same samples on other grids, which have
	// none themselves.
	Grids   []Evaluation `json:"grids,omitempty"`
	Seconds float64      `json:"evaluation_seconds"`
	// EstimateSeconds is the part of Seconds in which predictions waited for estimates of errors.
	EstimateSeconds float64 `json:"-"`
	TrainSeconds    float64 `json:"train_seconds,omitempty"` // of the training before it
	Parameters      int     `json:"parameters,omitempty"`    // of the network
}

// An Expert is what the solver reports about one subdomain.
type Expert struct {
	Iterations    Summary        `json:"iterations"`
	Statuses      map[string]int `json:"statuses"` // name of a status to samples that ended with it
	ConstraintRMS Summary        `json:"constraint_rms"`
}

// A Sample has the metrics of one sample. Metrics that do not apply are NaN
// and left out of the JSON.
type Sample struct {
	Index         int
	InitialMean   float64 // mean of the initial condition over space, of the first input of a steady problem
	RelativeL2    float64
	NRMSE         float64
	ResidualRMS   float64
	InitialError  float64
	BoundaryError float64
	BorderJump    float64
	Persistence   float64

	RelativeResidual, TruthResidual, PersistenceResidual float64

	ResidualOverRate, ConditionsOverSize, TruthConditions float64

	Unseen, Passes, Points, ErrorEstimate, GridError, RowsError float64

	Unknowns, Residuals, Conditions, Segments map[string]float64 // nil with one unknown, with one residual, with one condition, with one segment
}

// NewSample returns a Sample in which every metric is absent (NaN).
func NewSample(index int) Sample {
	s := Sample{Index: index}
	_, values := s.Fields()
	for _, v := range values {
		*v = math.NaN()
	}
	return s
}

// Fields gives the JSON names in order and the place of each metric.
func (s *Sample) Fields() ([]string, []*float64) {
	return []string{"initial_mean", "relative_l2", "nrmse", "residual_rms", "initial_error", "boundary_error", "border_jump", "persistence", "relative_residual", "truth_residual", "persistence_residual", "residual_over_rate", "conditions_over_size", "truth_conditions", "unseen_l2", "passes", "points_evaluated", "error_estimate", "grid_error", "rows_error"},
		[]*float64{&s.InitialMean, &s.RelativeL2, &s.NRMSE, &s.ResidualRMS, &s.InitialError, &s.BoundaryError, &s.BorderJump, &s.Persistence, &s.RelativeResidual, &s.TruthResidual, &s.PersistenceResidual, &s.ResidualOverRate, &s.ConditionsOverSize, &s.TruthConditions, &s.Unseen, &s.Passes, &s.Points, &s.ErrorEstimate, &s.GridError, &s.RowsError}
}

// MarshalJSON leaves absent metrics out; infinite ones become null.
func (s Sample) MarshalJSON() ([]byte, error) {
	out := fmt.Appendf(nil, `{"index":%d`, s.Index)
	names, values := s.Fields()
	for i, v := range values {
		if !math.IsNaN(*v) {
			out = appendNumber(fmt.Appendf(out, ",%q:", names[i]), *v)
		}
	}
	for _, m := range s.parts() {
		separator := fmt.Sprintf(",%q:{", m.name)
		for _, name := range slices.Sorted(maps.Keys(*m.of)) {
			out = appendNumber(fmt.Appendf(out, "%s%q:", separator, name), (*m.of)[name])
			separator = ","
		}
		if len(*m.of) > 0 {
			out = append(out, '}')
		}
	}
	return append(out, '}'), nil
}

// part is a metric that a sample has for each of several unknowns, residuals, conditions or segments.
type part struct {
	name string
	of   *map[string]float64
}

func (s *Sample) parts() []part {
	return []part{{"unknowns", &s.Unknowns}, {"residuals", &s.Residuals}, {"conditions", &s.Conditions}, {"segments", &s.Segments}}
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Sample) UnmarshalJSON(src []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(src, &raw); err != nil {
		return err
	}
	*s = NewSample(0)
	read := func(name string, dst any) error {
		if text, ok := raw[name]; ok {
			if err := json.Unmarshal(text, dst); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	}
	err := read("index", &s.Index)
	names, values := s.Fields()
	for i, name := range names {
		err = cmp.Or(err, read(name, (*number)(values[i])))
	}
	for _, m := range s.parts() {
		var all map[string]number
		err = cmp.Or(err, read(m.name, &all))
		for name, v := range all {
			if *m.of == nil {
				*m.of = map[string]float64{}
			}
			(*m.of)[name] = float64(v)
		}
	}
	return err
}

// number is a metric in JSON, where null is infinite.
type number float64

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) { return appendNumber(nil, float64(n)), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(src []byte) error {
	if string(src) == "null" {
		*n = number(math.Inf(1))
		return nil
	}
	return json.Unmarshal(src, (*float64)(n))
}

// MarshalJSON writes NaN and infinities, which JSON lacks, as null.
func (s Summary) MarshalJSON() ([]byte, error) {
	out := appendNumber([]byte(`{"mean":`), s.Mean)
	out = appendNumber(append(out, `,"std":`...), s.Std)
	out = appendNumber(append(out, `,"median":`...), s.Median)
	return append(appendNumber(append(out, `,"max":`...), s.Max), '}'), nil
}

// UnmarshalJSON reads null as infinite, as a standard deviation as none (NaN).
func (s *Summary) UnmarshalJSON(src []byte) error {
	var raw struct{ Mean, Std, Median, Max *float64 }
	if err := json.Unmarshal(src, &raw); err != nil {
		return err
	}
	value := func(p *float64, absent float64) float64 {
		if p == nil {
			return absent
		}
		return *p
	}
	*s = Summary{value(raw.Mean, math.Inf(1)), value(raw.Std, math.NaN()), value(raw.Median, math.Inf(1)), value(raw.Max, math.Inf(1))}
	return nil
}

func appendNumber(out []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(out, "null"...)
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic("report: a finite number does not marshal")
	}
	return append(out, text...)
}

// Summarize fills the summaries of e from PerSample; a metric absent from every
// sample stays nil. Samples is set to their number.
func (e *Evaluation) Summarize() {
	e.Samples = len(e.PerSample)
	for i, dst := range []**Summary{ // in the order of Sample.Fields, after the mean of the initial condition
		&e.RelativeL2, &e.NRMSE, &e.ResidualRMS, &e.InitialError, &e.BoundaryError, &e.BorderJump, &e.Persistence,
		&e.RelativeResidual, &e.TruthResidual, &e.PersistenceResidual, &e.ResidualOverRate, &e.ConditionsOverSize, &e.TruthConditions, &e.Unseen, &e.Passes, &e.PointsEvaluated, &e.ErrorEstimate, &e.GridError, &e.RowsError,
	} {
		*dst = nil
		values := e.Values(func(s Sample) float64 {
			_, fields := s.Fields()
			return *fields[1+i]
		})
		if len(values) > 0 {
			s := Summarize(values)
			*dst = &s
		}
	}
	for i, dst := range []*map[string]*Summary{&e.Unknowns, &e.Residuals, &e.Conditions, &e.Segments} { // in the order of Sample.parts
		*dst = nil
		values := map[string][]float64{}
		for _, s := range e.PerSample {
			for name, v := range *s.parts()[i].of {
				values[name] = append(values[name], v)
			}
		}
		for name, v := range values {
			if *dst == nil {
				*dst = map[string]*Summary{}
			}
			s := Summarize(v)
			(*dst)[name] = &s
		}
	}
}

// OnGrids returns e and the evaluations on other grids, finest first.
func (e *Evaluation) OnGrids() []*Evaluation {
	all := []*Evaluation{e}
	for i := range e.Grids {
		all = append(all, &e.Grids[i])
	}
	slices.SortStableFunc(all, func(a, b *Evaluation) int { return b.Points() - a.Points() })
	return all
}

// Points is the number of points of the grid.
func (e *Evaluation) Points() int {
	n := 1
	for _, k := range e.Grid {
		n *= k
	}
	return n
}

// WithoutSamples returns a copy without the metrics of single samples.
func (e *Evaluation) WithoutSamples() *Evaluation {
	short := *e
	short.PerSample = nil
	short.Grids = slices.Clone(e.Grids)
	for i := range short.Grids {
		short.Grids[i].PerSample = nil
	}
	return &short
}

// Values collects a metric over the samples that have it.
func (e *Evaluation) Values(get func(Sample) float64) []float64 {
	var out []float64
	for _, s := range e.PerSample {
		if v := get(s); !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}

// Ends writes how many samples ended with each status, the most frequent first.
func (x Expert) Ends() string {
	names := slices.SortedFunc(maps.Keys(x.Statuses), func(a, b string) int {
		return cmp.Or(x.Statuses[b]-x.Statuses[a], strings.Compare(a, b))
	})
	for i, name := range names {
		names[i] = name + " " + words.Count(x.Statuses[name])
	}
	return strings.Join(names, ", ")
}

// On returns the evaluation on a grid, nil if there is none.
func (e *Evaluation) On(g []int) *Evaluation {
	for _, x := range e.OnGrids() {
		if slices.Equal(x.Grid, g) {
			return x
		}
	}
	return nil
}

// FewerOn is the number of samples on a grid where it is smaller than on e's own, else 0.
func (e *Evaluation) FewerOn(g []int) int {
	if n := e.On(g).Samples; n < e.Samples {
		return n
	}
	return 0
}
