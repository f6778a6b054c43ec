package score

import (
	"encoding/json"
	"fmt"
	"math"

	"pihc/grid"
	"pihc/pde"
)

// An ErrorOverTime is the relative L2 error at each time of a grid, the mean over the samples that
// have one there. A sample has none where the solution of an unknown is zero. Times at which no
// sample has an error are left out.
type ErrorOverTime struct {
	Times      []float64 // coordinates of the first axis, in its unit
	RelativeL2 []float64 // of each time; +Inf where a prediction is not finite
}

type overTimeJSON struct {
	Time       []float64 `json:"time"`
	RelativeL2 []number  `json:"relative_l2"`
}

// MarshalJSON writes infinite errors, which JSON lacks, as null.
func (e ErrorOverTime) MarshalJSON() ([]byte, error) {
	raw := overTimeJSON{append([]float64{}, e.Times...), make([]number, len(e.RelativeL2))}
	for i, v := range e.RelativeL2 {
		raw.RelativeL2[i] = number(v)
	}
	return json.Marshal(raw)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *ErrorOverTime) UnmarshalJSON(src []byte) error {
	var raw overTimeJSON
	if err := json.Unmarshal(src, &raw); err != nil {
		return err
	}
	if len(raw.Time) != len(raw.RelativeL2) {
		return fmt.Errorf("error_over_time: %d values of time, and %d of relative_l2", len(raw.Time), len(raw.RelativeL2))
	}
	*e = ErrorOverTime{Times: raw.Time}
	for _, v := range raw.RelativeL2 {
		e.RelativeL2 = append(e.RelativeL2, float64(v))
	}
	return nil
}

// overTime adds up the errors of samples at each time of one grid.
type overTime struct {
	times    []float64
	unknowns int
	sum      []float64 // by time
	count    []int     // by time: samples that have an error
}

// newOverTime prepares the errors of a problem's fields; nil without time.
func newOverTime(p *pde.Problem, g *grid.Grid) *overTime {
	if p.Steady {
		return nil
	}
	n := g.Axes[0].Points
	o := &overTime{unknowns: max(1, len(p.Unknowns)), sum: make([]float64, n), count: make([]int, n)}
	for i := range n {
		o.times = append(o.times, g.Axes[0].Coordinate(i))
	}
	return o
}

// add counts one sample, of (C, P) values; truth may be nil.
func (o *overTime) add(prediction, truth []float64) {
	if o == nil || truth == nil {
		return
	}
	for i := range o.times {
		if e := o.at(i, prediction, truth); !math.IsNaN(e) {
			o.sum[i] += e
			o.count[i]++
		}
	}
}

// at is the error at time i, the root mean square over unknowns; NaN where there is none.
func (o *overTime) at(i int, prediction, truth []float64) float64 {
	slice := len(truth) / o.unknowns / len(o.times)
	norm := 0.0
	for c := range o.unknowns {
		lo := (c*len(o.times) + i) * slice
		v := truth[lo : lo+slice]
		if grid.Norm(v) == 0 {
			return math.NaN()
		}
		norm = math.Hypot(norm, grid.RelativeL2(prediction[lo:lo+slice], v, 1))
	}
	return absent(norm / math.Sqrt(float64(o.unknowns)))
}

// mean returns the means over the samples counted, nil without any.
func (o *overTime) mean() *ErrorOverTime {
	if o == nil {
		return nil
	}
	var out ErrorOverTime
	for i, n := range o.count {
		if n > 0 {
			out.Times, out.RelativeL2 = append(out.Times, o.times[i]), append(out.RelativeL2, o.sum[i]/float64(n))
		}
	}
	if len(out.Times) == 0 {
		return nil
	}
	return &out
}
