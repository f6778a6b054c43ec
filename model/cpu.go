package model

import (
	"math"
	"math/rand/v2"

	"pihc/constraint"
	"pihc/fno"
	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/lm"
	"pihc/pde"
)

// CPU is the engine that runs on this machine's cores.
type CPU[T kernel.Float] struct {
	Spec       *Spec
	System     *pde.System
	Network    fno.Config
	Constraint *constraint.Constraint

	pool        *kernel.Pool
	net         *fno.Network[T]
	loss        *Loss
	inputs      inputs
	constrained *constraint.Sample
	input       []T // (micro, inputs, P); coordinates filled once
	basis       []T // (micro, N, P)
	bar         []T // (micro, N, P)
	ubar        []float64
	scale       T

	// Where the network sees a field to correct, or losses are relative.
	previous    [][]float64        // per sample of the micro-batch (P): that field; nil: none
	between     *constraint.Sample // the solve between two passes
	pass        int                // the pass whose basis is there, from 1
	amplitude   []float64          // per sample: factor of the basis
	base        []float64          // per sample: what a relative loss is divided by
	hold        bool               // keep what earlier passes left, for CheckGradient
	amplified   []T
	amplifyTask func(worker, i int)

	crossing []bool // residual rows whose stencil crosses a border; nil: not weighed
	squares  []float64
	stats    Stats
	pred     Prediction
	micro    int
}

// Options returns the constraint options a spec describes.
func (s *Spec) Options(p *pde.Problem) (constraint.Options, error) {
	c := s.Constraint
	o := constraint.Options{
		Points: c.Points, Overlap: c.Overlap.Start != 0 || c.Overlap.End != 0, Weights: c.Weights, Mean: c.Normalization == "mean",
		LocalConditions: c.ConditionRows == "local", RepeatInitial: c.RepeatInitial, Start: c.Start,
		Solver: lm.Options{
			GTol: c.Tolerance, MaxIterations: c.MaxIterations, Ridge: c.Ridge, NewtonCorrection: c.NewtonCorrection, NoRestart: true,
			// Near Gauss-Newton from the first step: rows are close to linear in the
			// weights, and most solves save an iteration or two.
			InitialDamping: 1e-6,
			// What a reduction of 1e-6 leaves is for the Newton correction. It ends
			// the solves on an untrained basis, which wander in a flat valley; those on
			// a trained one meet the gradient test first.
			FTol: 1e-6,
		},
	}
	switch s.Method {
	case Soft:
		o.Fixed, o.Start = true, c.SoftWeight
	case MoE:
		var err error
		if o.Experts, err = axisMap(p, "constraint.experts", c.Experts, 1); err != nil {
			return o, err
		}
	}
	switch c.Damping {
	case "classical":
		o.Solver.Damping = lm.Classical
	default:
		o.Solver.Damping = lm.Nielsen
	}
	switch c.Scaling {
	case "identity":
		o.Solver.Scaling = lm.Identity
	case "current":
		o.Solver.Scaling = lm.Current
	default:
		o.Solver.Scaling = lm.More
	}
	var err error
	o.Adjoint, err = lm.ParseAdjointMode(c.Adjoint)
	return o, err
}

// NewCPU builds the engine of a spec for a grid of its problem (the spec's own
// where g is nil) on the given number of workers, 0 for all cores. A router
// other than nil keeps the decomposition of another grid.
func NewCPU[T kernel.Float](s *Spec, p *pde.Problem, g *grid.Grid, router *constraint.Router, workers int) (*CPU[T], error) {
	if g == nil {
		var err error
		if g, err = p.Grid(s.Grid); err != nil {
			return nil, err
		}
	}
	sys, err := p.Discretize(g)
	if err != nil {
		return nil, err
	}
	cfg, err := NetworkConfig(s, p)
	if err != nil {
		return nil, err
	}
	if err := CheckNetwork(cfg, g); err != nil {
		return nil, err
	}
	options, err := s.Options(p)
	if err != nil {
		return nil, err
	}
	in, err := newInputs(s, p)
	if err != nil {
		return nil, err
	}
	e := &CPU[T]{Spec: s, System: sys, Network: cfg, inputs: in, micro: s.Training.MicroBatch, pool: kernel.NewPool(workers)}
	if e.Constraint, err = constraint.New(sys, cfg.Outputs, options, router, e.pool); err != nil {
		e.pool.Close()
		return nil, err
	}
	if e.loss, err = NewLoss(sys, s.Loss, e.pool); err != nil {
		e.pool.Close()
		return nil, err
	}
	if r := s.Loss.BorderRows; (r.Start != 1 || r.End != 1) && len(e.Constraint.Windows) > 1 {
		e.crossing = e.Constraint.Crossing()
	}
	size := g.Size()
	e.net = fno.New[T](cfg, g.Shape(), e.micro, e.pool)
	e.constrained = e.Constraint.NewSample()
	e.input = make([]T, e.micro*cfg.Inputs*size)
	e.basis = make([]T, e.micro*cfg.Outputs*size)
	e.bar = make([]T, e.micro*cfg.Outputs*size)
	e.ubar = make([]float64, size)
	e.squares = make([]float64, len(sys.Sets))
	e.stats.MeanSquares = make([]float64, len(sys.Sets))
	e.pred.MeanSquares = make([]float64, len(sys.Sets))
	e.scale = T(1 / s.Network.InitialScale)
	e.amplitude, e.base = make([]float64, e.micro), make([]float64, e.micro)
	e.amplifyTask = e.amplifyField
	if len(e.inputs.features) > 0 || s.Network.Passes > 1 || s.Loss.Relative {
		for range e.micro {
			e.previous = append(e.previous, make([]float64, size))
		}
	}
	if s.Network.Passes > 1 {
		if err := e.newBetween(options); err != nil {
			e.pool.Close()
			return nil, err
		}
	}
	e.fillCoordinates()
	return e, nil
}

// InitialParams returns new parameters drawn from the spec's seed. They do not
// depend on the precision beyond rounding.
func (e *CPU[T]) InitialParams() []T {
	wide := make([]float64, e.Network.Size())
	e.Network.Init(wide, rand.New(rand.NewPCG(e.Spec.Seed, 0x696e6974)))
	params := make([]T, len(wide))
	for i, v := range wide {
		params[i] = T(v)
	}
	return params
}

// Close ends the workers.
func (e *CPU[T]) Close() { e.pool.Close() }

// Pool returns the engine's workers, for work between its calls.
func (e *CPU[T]) Pool() *kernel.Pool { return e.pool }

// Workers is the number of workers.
func (e *CPU[T]) Workers() int { return e.pool.Workers() }

// solve runs the constraint of the current pass on sample b of the micro-batch and
// returns its field.
func (e *CPU[T]) solve(b int, initial []float64, seed constraint.Seed) []float64 {
	size := e.System.Grid.Size() * e.Network.Outputs
	s := e.solver()
	constraint.Load(s, e.basis[b*size:(b+1)*size], initial)
	if e.pass > 1 {
		s.SetOffset(e.previous[b])
	}
	s.Solve(seed)
	return s.Field()
}

// Basis writes what the network proposes for one initial condition, in its first
// pass, to dst (N, P).
func (e *CPU[T]) Basis(dst, params []T, initial []float64) {
	batch := Batch{Initial: [][]float64{initial}}
	e.forward(params, batch, 0, e.load(batch, 0), 1, false)
	copy(dst, e.basis)
}

// Predict implements Engine.
func (e *CPU[T]) Predict(params []T, batch Batch, each func(i int, p *Prediction) error) error {
	e.setOverlap(1)
	for lo := 0; lo < len(batch.Initial); lo += e.micro {
		count := e.load(batch, lo)
		e.forward(params, batch, lo, count, e.Spec.Network.Passes, false)
		e.weighBorders(1)
		for b := range count {
			i := lo + b
			p := &e.pred
			p.Field = e.solve(b, batch.Initial[i], batch.Seeds[i])
			p.Loss = e.loss.Evaluate(p.MeanSquares, p.Field, batch.Initial[i], nil, 0)
			jumps := e.constrained.Jumps()
			p.JumpRMS = math.Sqrt(jumps.Value)
			p.Loss += e.Spec.Loss.BorderJump*jumps.Value + e.Spec.Loss.BorderSlope*jumps.Slope
			p.Experts = nil
			if !e.Constraint.Options.Fixed {
				p.Experts = e.constrained.Outcomes()
			}
			if err := each(i, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// LossAndGrad implements Engine.
func (e *CPU[T]) LossAndGrad(grad, params []T, batch Batch) Stats {
	st := &e.stats
	squares := st.MeanSquares
	clear(squares)
	*st = Stats{MeanSquares: squares}
	e.setOverlap(batch.Progress)
	scale := 1 / float64(len(batch.Initial))
	var jumpSquares float64
	for lo := 0; lo < len(batch.Initial); lo += e.micro {
		count := e.load(batch, lo)
		e.forward(params, batch, lo, count, e.trainedPass(batch.Seeds[lo].Step), true)
		e.weighBorders(batch.Progress)
		size := e.System.Grid.Size() * e.Network.Outputs
		for b := range e.micro {
			bar := e.bar[b*size : (b+1)*size]
			if b >= count {
				clear(bar)
				continue
			}
			jumpSquares += e.sample(bar, b, batch.Initial[lo+b], batch.Seeds[lo+b], scale)
		}
		e.amplify(e.bar)
		e.net.Backward(grad, params, e.bar)
	}
	st.JumpRMS = math.Sqrt(jumpSquares * scale)
	return *st
}

// setOverlap sets how far experts look beyond their borders.
func (e *CPU[T]) setOverlap(progress float64) {
	if e.Constraint.Options.Overlap {
		e.constrained.SetOverlap(e.Spec.Constraint.Overlap.At(progress))
	}
}

// weighBorders sets the factor of the rows that cross expert borders; fields of
// passes before the last, and those that they correct, have no borders.
func (e *CPU[T]) weighBorders(progress float64) {
	if e.crossing != nil && e.pass == e.Spec.Network.Passes {
		e.loss.WeighRows(e.crossing, e.Spec.Loss.BorderRows.At(progress))
	}
}

// sample adds one sample's loss to the statistics and writes scale·∂L/∂b to
// bar. It returns the mean square jump.
func (e *CPU[T]) sample(bar []T, b int, initial []float64, seed constraint.Seed, scale float64) float64 {
	st, s := &e.stats, e.solver()
	relative := scale / e.base[b]
	u := e.solve(b, initial, seed)
	clear(e.ubar)
	loss := e.loss.Evaluate(e.squares, u, initial, e.ubar, relative)
	jumps := s.Jumps()
	weights := constraint.Jumps{Value: e.Spec.Loss.BorderJump, Slope: e.Spec.Loss.BorderSlope}
	loss += weights.Value*jumps.Value + weights.Slope*jumps.Slope
	weights.Value *= relative
	weights.Slope *= relative
	constraint.Backward(s, bar, e.ubar, weights)
	st.Loss += relative * loss
	for i, v := range e.squares {
		st.MeanSquares[i] += scale * v
	}
	iterations, failed, fallbacks := s.Count()
	st.Iterations += scale * float64(iterations) / float64(s.Experts())
	st.Failed += failed
	st.Fallbacks += fallbacks
	return jumps.Value
}

// Loss returns the evaluator of the loss, for a field that has no network.
func (e *CPU[T]) Loss() *Loss { return e.loss }

var (
	_ Engine[float32] = (*CPU[float32])(nil)
	_ Engine[float64] = (*CPU[float64])(nil)
)
