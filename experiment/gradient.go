package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"pihc/engine"
	"pihc/model"
	"pihc/pde"
	"pihc/train"
)

// checkGradients checks the gradient of each method on a small instance.
func checkGradients(ctx context.Context, out *Checked, spec *model.Spec, p *pde.Problem, o Options) error {
	out.Gradients, out.GradientOK, out.GradientLimit = map[string]float64{}, true, gradientLimit
	m := o.Stage("gradient", len(model.Methods))
	defer m.End()
	for i, method := range model.Methods {
		if err := ctx.Err(); err != nil {
			return err
		}
		g, err := methodGradient(*spec, p, method, o)
		if err != nil {
			return fmt.Errorf("gradient check of %s: %w", method, err)
		}
		out.GradientGrid = g.shape
		if !math.IsNaN(g.worst) {
			out.Gradients[method] = g.worst
			out.GradientError = max(out.GradientError, g.worst)
		}
		switch {
		case method != model.Soft && spec.Constraint.Adjoint != "exact":
			out.NotJudged = append(out.NotJudged, method)
		case g.worst <= g.limit():
		case g.doubt != "":
			out.GradientOK = false
			out.Incomparable = append(out.Incomparable, method+": "+g.doubt)
		default:
			out.GradientOK = false
			out.Wrong = append(out.Wrong, fmt.Sprintf("%s %.2g, more than %.2g", method, g.worst, g.limit()))
		}
		m.Set(i+1, "")
	}
	return nil
}

const (
	// smooth is the roughness below which differences can be compared with.
	smooth = 1e-8
	// gradientLimit is the error from which a gradient counts as wrong where the
	// loss is smooth. A kink that the differences come near may make 1e-6 of it.
	gradientLimit = 1e-4
	// settled is the gradient of a solve's cost, over its bound, below which it ends at a stationary point.
	settled = 1e-6
)

// gradientCheck is the worst error of a method's gradient, NaN where the loss is not finite, and how rough the loss is
// where it was measured.
type gradientCheck struct {
	worst, rough float64
	shape        []int
	doubt        string // why a large error does not show that the gradient is wrong
}

// limit is the largest error of a right gradient. Where every initial condition has
// kinks nearby, differences are only as good as they agree among each other.
func (g gradientCheck) limit() float64 { return max(gradientLimit, min(10*g.rough, 1e-2)) }

// methodGradient checks one method. Initial parameters under which the loss has
// kinks, or near ones, at every initial condition, or solves end without a derivative, are drawn again, with one pass less as long
// as there are more than two: corrections of an untrained network add to the kinks.
func methodGradient(spec model.Spec, p *pde.Problem, method string, o Options) (g gradientCheck, err error) {
	const attempts = 6
	for attempt := 1; ; attempt++ {
		e, err := smallEngine(&spec, p, method, o)
		if err != nil {
			return g, err
		}
		defer e.Close()
		batch, rough, err := checkBatch(e)
		if err != nil {
			return g, err
		}
		if math.IsInf(rough, 1) && spec.Network.Passes > 1 { // corrections of an untrained network may grow without end
			spec.Network.Passes--
			attempt--
			continue
		}
		if rough < smooth || attempt == attempts {
			g = gradientCheck{math.NaN(), rough, e.Info().Grid.Shape(), "its loss is not finite where it is tried: expressions that leave their domain, or grow without bound"}
			if math.IsInf(rough, 1) {
				return g, nil
			}
			if g.worst, err = engine.CheckGradient(e, batch, 3); err != nil {
				return g, err
			}
			if g.doubt, err = doubt(e, batch, g); err != nil || g.worst <= g.limit() || g.doubt == "" || attempt == attempts {
				return g, err
			}
		}
		spec.Seed++
		spec.Network.Passes = max(min(2, spec.Network.Passes), spec.Network.Passes-1)
	}
}

// doubt says why differences of the loss are not derivatives that a gradient could be compared with, "" where they are.
func doubt(e engine.Engine[float64], batch engine.Batch, g gradientCheck) (string, error) {
	unsettled, err := engine.Unsettled(e, batch)
	switch {
	case err != nil:
		return "", err
	case unsettled > settled:
		return fmt.Sprintf("solves end where their cost is not stationary, with %.2g of its largest gradient", unsettled), nil
	case g.rough >= g.worst/10:
		return fmt.Sprintf("differences of several steps disagree by %.2g, or are rounding of the loss", g.rough), nil
	}
	return "", nil
}

// smallEngine is a float64 engine of the spec's problem, rows and loss, on a
// grid and with a network small enough to be differenced in seconds.
func smallEngine(spec *model.Spec, p *pde.Problem, method string, o Options) (engine.Engine[float64], error) {
	small := *spec
	small.Method = method
	n := &small.Network
	n.Keys, n.Basis, n.Precision, n.Matmul = n.Keys.Small(p.AxisNames()), 4, "float64", ""
	c := &small.Constraint
	// All points, solved to rounding, so that differences see no solver noise.
	c.Points, c.Tolerance, c.CostTolerance, c.MaxIterations = 0, 1e-13, 0, max(300, c.MaxIterations)
	if c.Start == 0 {
		c.Start = 0.1 // away from the kinks a problem may have at u = 0
	}
	small.Training.MicroBatch = 1
	small.Rollout = min(small.Rollout, 2) // more repeat the same, and untrained ones may grow without end
	var err error
	for size := 24; size <= 96; size *= 2 {
		small.Grid = map[string]int{}
		for i, axis := range p.Axes {
			points := size
			if i == 0 {
				points = (max(9, size/2-3)-1)*small.Segments() + 1
			} else if len(p.Axes) > 2 {
				points = size / 2
			}
			small.Grid[axis.Name] = points
		}
		var e engine.Engine[float64]
		if e, err = engine.New[float64](&small, p, o.engine(engine.Options{Workers: 1})); err == nil {
			return e, nil
		}
	}
	return nil, err
}

// checkBatch is the first two initial conditions, of several, along which the loss is smooth by its own differences, or those along which
// it is smoothest: where a solve ends at a kink of the residual
// there is no derivative to compare with. The gradient has no part in the choice.
// It also returns the roughness of the second.
func checkBatch(e engine.Engine[float64]) (engine.Batch, float64, error) {
	info := e.Info()
	initial, _, err := (&Experiment{Spec: info.Spec, Problem: info.Problem}).StatedInputs(info.Grid, []float64{0.6, 0.9, 0.7, 0.8, 0.5, 0.95, 0.4, 0.3})
	if err != nil {
		return engine.Batch{}, 0, err
	}
	all := engine.Batch{Inputs: initial, Seeds: train.EvaluationSeeds(len(initial))}
	var order []int
	rough, found := make([]float64, len(initial)), 0
	for i := 0; i < len(initial) && found < 2; i++ {
		order = append(order, i)
		if rough[i], err = roughness(e, engine.Batch{Inputs: all.Inputs[i : i+1], Seeds: all.Seeds[i : i+1]}); err != nil {
			return engine.Batch{}, 0, err
		}
		if math.IsNaN(rough[i]) { // its loss is not finite
			rough[i] = math.Inf(1)
		}
		if rough[i] < smooth {
			found++
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rough[i], rough[j]) })
	var batch engine.Batch
	for _, i := range order[:2] {
		batch.Inputs, batch.Seeds = append(batch.Inputs, all.Inputs[i]), append(batch.Seeds, all.Seeds[i])
	}
	return batch, rough[order[1]], nil
}

// roughness is the worst disagreement between differences of the loss with
// several steps, in a few random directions, or what rounding of the loss makes of them, where that is much: parameters that hardly change
// rows whose values are far from 1 do not change their squares.
func roughness(e engine.Engine[float64], batch engine.Batch) (worst float64, err error) {
	info := e.Info()
	params := info.CheckParams()
	rng := rand.New(rand.NewPCG(5, 6))
	grad, moved, dir := make([]float64, len(params)), make([]float64, len(params)), make([]float64, len(params))
	at := func(h float64) float64 {
		for i, d := range dir {
			moved[i] = params[i] + h*d
		}
		st, failed := e.LossAndGrad(grad, moved, batch)
		err = errors.Join(err, failed)
		return st.Loss
	}
	for range 2 {
		for i := range dir {
			dir[i] = rng.NormFloat64()
		}
		var slopes []float64
		loss := math.Abs(at(0))
		for _, h := range []float64{3e-4, 1e-4, 3e-5} {
			slopes = append(slopes, (8*(at(h)-at(-h))-(at(2*h)-at(-2*h)))/(12*h))
		}
		spread := slices.Max(slopes) - slices.Min(slopes)
		worst = math.Max(worst, spread/(math.Abs(slopes[1])+1e-300))
		if rounding := 1e-15 * loss / (3e-5*math.Abs(slopes[1]) + 1e-300); rounding > gradientLimit/10 {
			worst = math.Max(worst, math.Min(rounding, 1))
		}
	}
	return worst, err
}
