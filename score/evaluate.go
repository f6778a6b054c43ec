package score

import (
	"math"
	"time"

	"pihc/compute"
	"pihc/constraint"
	"pihc/engine"
	"pihc/grid"
	"pihc/pde"
)

// Samples are initial conditions a method is scored on.
type Samples struct {
	Initial [][]float64       // per sample: InitialSize values, its inputs, on the engine's grid
	Seeds   []constraint.Seed // per sample: the points it is constrained at
	First   int               // values of the first input; 0: all
	Grid    []int             // points of the solutions along each axis, as Evaluation.Grid
	// Unknowns are the names of several unknowns, whose fields follow one another in
	// solutions and predictions (C, P).
	Unknowns []string
	// Truth returns the classical solution of sample i (P) or (C, P), valid until the next
	// call; nil where there is none.
	Truth func(i int) ([]float64, error)
}

// initialMean is the mean of the first input of a sample.
func (s *Samples) initialMean(i int) float64 {
	if s.First > 0 {
		return mean(s.Initial[i][:s.First])
	}
	return mean(s.Initial[i])
}

// relativeL2 is the root mean square over unknowns of the relative L2 error of each, and, by
// name, those of several.
func (s *Samples) relativeL2(u, truth []float64) (all float64, unknowns map[string]float64) {
	n := len(truth) / max(1, len(s.Unknowns))
	for c, name := range s.Unknowns {
		if unknowns == nil {
			unknowns = map[string]float64{}
		}
		unknowns[name] = absent(grid.RelativeL2(u[c*n:(c+1)*n], truth[c*n:(c+1)*n]))
	}
	return grid.RelativeL2Of(u, truth, max(1, len(s.Unknowns))), unknowns
}

// nrmse is the root mean square over unknowns of NRMSE of each.
func (s *Samples) nrmse(u, truth []float64) float64 {
	if len(s.Unknowns) == 0 {
		return NRMSE(u, truth)
	}
	n, norm := len(truth)/len(s.Unknowns), 0.0
	for c := range s.Unknowns {
		norm = math.Hypot(norm, NRMSE(u[c*n:(c+1)*n], truth[c*n:(c+1)*n]))
	}
	return norm / math.Sqrt(float64(len(s.Unknowns)))
}

// after returns what a field of (C, P) values has from value seen of every unknown on.
func (s *Samples) after(u []float64, seen int) []float64 {
	if len(s.Unknowns) == 0 {
		return u[seen:]
	}
	n := len(u) / len(s.Unknowns)
	var out []float64
	for c := range s.Unknowns {
		out = append(out, u[c*n+seen:(c+1)*n]...)
	}
	return out
}

// Evaluate predicts every sample and scores it. each, which may be nil, sees
// every prediction during the call, in order; its first error ends the evaluation.
//
// RelativeL2, NRMSE and the like are root mean squares over unknowns of those of each.
// ResidualRMS, InitialError and BoundaryError are root mean squares, over the
// whole grid, of the residual rows, the rows of initial conditions and those of
// boundary conditions, in the PDE file's weighting; RelativeResidual and its like are
// without weights. BorderJump is the root mean square difference of the two neighbouring experts' fields at the points on
// either side of every border. A prediction that is not finite scores +Inf.
func Evaluate[T compute.Float](e engine.Engine[T], params []T, s Samples, each func(i int, p *engine.Prediction) error) (*Evaluation, error) {
	begin := time.Now()
	info := e.Info()
	out := &Evaluation{Method: info.Spec.Method, Problem: info.Problem.Name, Grid: info.Grid.Shape(), Parameters: info.Parameters()}
	experts := info.Experts
	iterations, rms := make([][]float64, experts), make([][]float64, experts)
	spectra, errors := NewSpectrum(info.Problem, info.Grid), newOverTime(info.Problem, info.Grid)
	for range experts {
		out.Experts = append(out.Experts, Expert{Statuses: map[string]int{}})
	}
	plain, err := plainResidual(info)
	if err != nil {
		return nil, err
	}
	still := make([]float64, len(info.Problem.Unknowns)*info.Grid.Size())
	seen := info.Spec.WindowEnd(info.Grid) * info.SliceSize()
	err = e.Predict(params, engine.Batch{Initial: s.Initial, Seeds: s.Seeds}, func(i int, p *engine.Prediction) error {
		x := NewSample(i)
		x.InitialMean = s.initialMean(i)
		var truth []float64
		if s.Truth != nil {
			var err error
			if truth, err = s.Truth(i); err != nil {
				return err
			}
			x.RelativeL2, x.Unknowns = s.relativeL2(p.Field, truth)
			x.RelativeL2, x.NRMSE = absent(x.RelativeL2), absent(s.nrmse(p.Field, truth))
			if seen < info.Grid.Size() {
				e, _ := s.relativeL2(s.after(p.Field, seen), s.after(truth, seen))
				x.Unseen = absent(e)
			}
			own, rate := plain.RMS(truth, s.Initial[i])
			ratio := func(field []float64) float64 {
				r, _ := plain.RMS(field, s.Initial[i])
				return absent(pde.Relative(r, rate))
			}
			x.RelativeResidual, x.TruthResidual = ratio(p.Field), absent(pde.Relative(own, rate))
			if !info.Problem.Steady {
				info.Problem.Hold(still, s.Initial[i], info.Grid)
				e, _ := s.relativeL2(still, truth)
				x.Persistence, x.PersistenceResidual = absent(e), ratio(still)
			}
		}
		if p.Passes > 0 {
			x.Passes = float64(p.Passes)
		}
		spectra.Add(p.Field, truth)
		errors.add(p.Field, truth)
		x.ResidualRMS = kindRMS(info.Rows, p.MeanSquares, pde.ResidualRows)
		own := func(residuals bool) map[string]float64 {
			all := map[string]float64{}
			for k, set := range info.Rows {
				if residuals == (set.Kind == pde.ResidualRows) {
					all[set.Name] = absent(math.Sqrt(p.MeanSquares[k]))
				}
			}
			if len(all) < 2 {
				return nil // what there is has a metric of its own
			}
			return all
		}
		x.Residuals, x.Conditions = own(true), own(false)
		x.InitialError = kindRMS(info.Rows, p.MeanSquares, pde.InitialRows)
		x.BoundaryError = kindRMS(info.Rows, p.MeanSquares, pde.BoundaryRows)
		if experts > 1 {
			x.BorderJump = absent(p.JumpRMS)
		}
		for k, o := range p.Experts {
			iterations[k] = append(iterations[k], float64(o.Iterations))
			rms[k] = append(rms[k], o.ConstraintRMS)
			out.Experts[k].Statuses[o.Status.String()]++
		}
		out.PerSample = append(out.PerSample, x)
		if each != nil {
			return each(i, p)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for k := range out.Experts {
		out.Experts[k].Iterations, out.Experts[k].ConstraintRMS = Summarize(iterations[k]), Summarize(rms[k])
	}
	out.Summarize()
	out.Spectra, out.ErrorOverTime = spectra.Mean(), errors.mean()
	out.Seconds = time.Since(begin).Seconds()
	return out, nil
}

// plainResidual evaluates the residual on an engine's grid.
func plainResidual(info engine.Info) (*pde.PlainResidual, error) {
	sys, err := info.Problem.Discretize(info.Grid)
	if err != nil {
		return nil, err
	}
	return pde.NewPlainResidual(sys)
}

// kindRMS is the root mean square over all rows of one kind, NaN if there are
// none.
func kindRMS(rows []engine.Rows, meanSquares []float64, kind pde.Kind) float64 {
	sum, count := 0.0, 0
	for i, set := range rows {
		if set.Kind == kind {
			sum += meanSquares[i] * float64(set.Count)
			count += set.Count
		}
	}
	if count == 0 {
		return math.NaN()
	}
	return absent(math.Sqrt(sum / float64(count)))
}

// absent keeps NaN for metrics that do not apply: one that does, and came out as
// NaN, is infinitely bad.
func absent(v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(1)
	}
	return v
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
