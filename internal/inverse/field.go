package inverse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"pihc/grid"
	"pihc/internal/words"
	"pihc/pde"
)

// A FieldModel is what predicts observations where the initial field is unknown, of problems of the first order in time with one axis of
// space. With a model error it is weak-constraint 4D-Var (Y. Trémolet, Q. J. R. Meteorol. Soc. 132, 2006): the unknown are the
// coordinates of the background and the fields of all later instants, and least is the sum of
//
//	Σ z_k²                                             of the background
//	Σ (u(t_i, x_i) - value_i)²/sigma_i²                of the observations
//	Σ (v_(k+1) - M(v_k))²/(q² (t_(k+1) - t_k)/Δx)      of the model, over points and instants
//
// v_k are the fields half way between instants t_k after an error of the model there, and M steps of the problem's own rows over t_k. The
// last sum is that of a noise of u_t that is white in time and space, of density q²: of a mean over a length l and a time τ it has the
// deviation q/√(l τ), on every grid. Weights of the rows do not enter. Without a model error (q = 0) the fields are
// those that follow from the first (strong).
type FieldModel struct {
	Problem      *pde.Problem
	Grid         *grid.Grid // of Sample, and the coarsest that solutions are on
	Sample       []float64  // the inputs, but for the unknown one
	Input        string     // an initial condition
	Background   *Background
	Observations []Observation // of one experiment
	ModelError   float64       // q: in units of the field, per root of time, times root of length
}

// A FieldFit is what observations tell of an initial field, by Gauss and Newton.
type FieldFit struct {
	Field, Spread     []float64   // of the input on the model's grid: the most probable one, and its standard deviation
	Before            []float64   // that of the background
	Times             []float64   // of Fields: up to the last observation
	Fields            [][]float64 // the unknowns (C, points of Grid) at each
	Predicted, Ranges []float64   // the observations and the standard deviation of each prediction

	ChiSquared                      float64 // the least sum, which is of as many degrees as there are observations where all is as stated
	P                               float64
	Parts                           []Part // of the observations, the background and, where there is one, the model error
	Grid                            *grid.Grid
	ChiMoved                        float64 // what grids twice as fine move ChiSquared by
	Moved                           float64 // what they move the field by, in deviations, or deviations by, in parts of them
	Instants, Iterations, Functions int     // of the finest grid, in all, of the background
	Warnings                        []string
}

// ErrField says that the initial field of a problem cannot be found.
var ErrField = errors.New("the initial field is found for problems of the first order in time with one axis of space")

const (
	mostFieldWork  = 3e10 // multiplications of a factorisation
	mostFieldSteps = 60
	fieldDoubled   = 5
)

// Run fits. Say is told of every grid. When ctx ends after the first, the fit of the last grid comes with ctx's error: Moved and ChiMoved
// are not of it.
func (m *FieldModel) Run(ctx context.Context, say func(format string, args ...any)) (*FieldFit, error) {
	out := &FieldFit{Functions: len(m.Background.Functions)}
	var now level
	f, err := m.solve(ctx, now, nil, out)
	if err != nil {
		return nil, err
	}
	var by moves
	for {
		next, fine := now, (*fieldState)(nil)
		for d, l := range []level{{now.time + 1, now.space}, {now.time, now.space + 1}} {
			if max(l.time, l.space) > fieldDoubled || m.work(l) > mostFieldWork {
				out.limit(by)
				continue
			}
			x, err := m.solve(ctx, l, f, out)
			if err != nil {
				return f.interrupted(out, err)
			}
			chi, fineChi := 2*f.cost, 2*x.cost
			by.estimates[d], by.sum[d], by.unsettled[d] = f.moved(x), math.Abs(fineChi-chi), unsettled(chi, fineChi, len(m.Observations))
			say("on %s with %d instants: chi-squared %.6g; on %s with %d instants %.6g, and the field moves by %.2g", words.Shape(f.grid.Shape()), len(f.times), chi, words.Shape(x.grid.Shape()), len(x.times), fineChi, by.estimates[d])
			// What chi-squared says has to be that of the field, not of the grid; where it says that all agree, less of it will not change that.
			verdict := Rejects(chi, 0, len(m.Observations)) || Rejects(fineChi, 0, len(m.Observations))
			if by.estimates[d] >= mostMoved || verdict && by.unsettled[d] >= mostMoved {
				next, fine = level{max(next.time, l.time), max(next.space, l.space)}, x
			}
		}
		out.Moved, out.ChiMoved = max(by.estimates[0], by.estimates[1]), by.sum[0]+by.sum[1]
		if next != now && max(by.unsettled[0], by.unsettled[1]) < mostMoved && Rejects(2*f.cost, out.ChiMoved, len(m.Observations)) {
			say("the data reject the fit on finer grids as well: it is not refined")
			next = now
		}
		if next == now {
			return out, f.describe(out)
		}
		if next.time > now.time && next.space > now.space {
			if m.work(next) > mostFieldWork {
				out.limit(by)
				next = level{now.time, now.space + 1}
			} else if fine, err = m.solve(ctx, next, f, out); err != nil {
				return f.interrupted(out, err)
			}
		}
		now, f = next, fine
	}
}

// interrupted describes the fit that is there when ctx ends; after another error there is none.
func (s *fieldState) interrupted(out *FieldFit, err error) (*FieldFit, error) {
	if s.ctx.Err() == nil || s.describe(out) != nil {
		return nil, err
	}
	return out, err
}

// limit warns that finer grids are beyond the limit, with what those before moved the fit by.
func (out *FieldFit) limit(by moves) {
	if field := max(by.estimates[0], by.estimates[1]); field >= mostMoved || by == (moves{}) {
		out.warn("the field may still move from grid to grid: finer ones are beyond the limit")
	}
	if max(by.unsettled[0], by.unsettled[1]) >= mostMoved {
		out.warn(fmt.Sprintf("chi-squared still moves by %.2g from grid to grid, and finer ones are beyond the limit: it is in part of the grid", by.sum[0]+by.sum[1]))
	}
}

func (out *FieldFit) warn(text string) {
	if !slices.Contains(out.Warnings, text) {
		out.Warnings = append(out.Warnings, text)
	}
}

// instants are those of a level's grid up to the last observation, and those of the observations.
func (m *FieldModel) instants(l level) []float64 {
	first := (&Model{Grid: m.Grid, Problem: m.Problem}).on(l).Axes[0]
	all, last := []float64{first.Lo}, first.Lo
	for _, o := range m.Observations {
		all, last = append(all, o.At[0]), max(last, o.At[0])
	}
	for _, t := range first.Coordinates() {
		if t < last {
			all = append(all, t)
		}
	}
	slices.Sort(all)
	same := 1e-9 * (first.Hi - first.Lo)
	return slices.CompactFunc(all, func(a, b float64) bool { return math.Abs(b-a) <= same })
}

// work is the number of multiplications of a factorisation on a level, or of its derivatives.
func (m *FieldModel) work(l level) float64 {
	on := (&Model{Grid: m.Grid, Problem: m.Problem}).on(l)
	n, times := float64(on.Size()/on.Axes[0].Points*len(m.Problem.Unknowns)), float64(len(m.instants(l)))
	if m.ModelError == 0 {
		return times * n * float64(len(m.Background.Functions)) * 100
	}
	return times * n * n * n * 4
}
