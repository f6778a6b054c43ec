package engine

import (
	"math"
	"slices"

	"pihc/constraint"
	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/model"
	"pihc/pde"
)

// bandOfRows is about how many numbers a row of a factored matrix of rows has, over unknowns and points across.
const bandOfRows = 8

// Needs is what an experiment asks of a machine, estimated before anything is
// made for it.
type Needs struct {
	// Bytes of memory by what they are for.
	Parameters, Network, Constraint, Samples float64
}

// Bytes is the memory in all.
func (n Needs) Bytes() float64 { return n.Parameters + n.Network + n.Constraint + n.Samples }

// Largest names the largest part of the memory, by the keys of a spec it depends
// on.
func (n Needs) Largest() string {
	switch max(n.Parameters, n.Network, n.Constraint, n.Samples) {
	case n.Parameters:
		return "network.width, network.layers and network.modes"
	case n.Network:
		return "grid, network.width, network.layers, network.basis and training.micro_batch"
	case n.Constraint:
		return "grid, network.basis, constraint.experts and constraint.points"
	}
	return "grid, data.train.count, data.validation.count and training.batch"
}

// Estimate returns the needs of a spec on a grid of its problem, in training or,
// without it, in evaluation; those of one rank where so many slabs share the grid. Nothing is
// allocated, and no size overflows.
func Estimate(s *model.Spec, p *pde.Problem, g *grid.Grid, workers, slabs int, training bool) (Needs, error) {
	var out Needs
	if s.Rollout > 1 {
		return estimateRollout(s, p, g, workers, slabs, training)
	}
	net, err := s.NewNetwork(p)
	if err != nil {
		return out, err
	}
	element := 4
	if s.Network.Precision == "float64" {
		element = 8
	}
	shape := g.Shape()
	shape[0] = (shape[0] + slabs - 1) / slabs
	points, space := 1.0, 1.0
	for i, n := range shape {
		points *= float64(n)
		if i > 0 {
			space *= float64(n)
		}
	}
	inputs, outputs := net.Fields()
	micro := s.Training.MicroBatch
	if slabs > 1 {
		micro = 1
	}
	n, batch, unknowns, whole := float64(outputs), float64(micro), float64(len(p.Unknowns)), space*float64(g.Axes[0].Points)

	network, parameters := net.Memory(shape, micro, workers, element, training)
	out.Network = network + batch*points*(float64(element)*(float64(inputs)+2*n)+8*unknowns) + 16*unknowns*points
	out.Parameters = parameters * float64(element)
	if training {
		// Gradient, both moments and the average; the initial ones are drawn in float64.
		out.Parameters = parameters * (5*float64(element) + 8)
		if slabs > 1 {
			out.Parameters += parameters * float64(element) // a rank's share of the gradient
		}
		out.Samples = 8 * (float64(s.Data.Train.Count)*space + float64(s.Data.Validation.Count)*whole + 16*float64(s.Training.Batch))
	}
	if s.Method == model.Soft {
		return out, nil
	}
	experts := 1.0
	if s.Method == model.MoE {
		for _, k := range s.Constraint.Experts {
			experts *= float64(k)
		}
	}
	rows := points
	if asked := experts * float64(s.Constraint.Points); s.Constraint.Points > 0 && asked < points {
		rows = asked
	}
	// The basis and the rows of all terms, in the smaller precision; two fields of every
	// expert, on as many slices as are handled at a time, and its matrices.
	directions := float64(s.Directions())
	terms, functions := float64(len(p.Terms)), n/unknowns+directions
	weights := functions * unknowns
	if s.Constraint.Tied() {
		weights = functions
	}
	out.Samples += 8 * batch * directions * unknowns * points
	linear := 0.0
	if p.Unknowns[0].Ansatz.Duhamel {
		functions = weights // each a field of all unknowns
		if p.Unknowns[0].Ansatz.ByRows {
			linear = 2 * 8 * grid.Stepped * unknowns * points * float64(workers) // what drives a worker's eight functions, and its adjoint
			// and factored matrices: one, or one for each step of time
			if p.Steady {
				linear += 8 * bandOfRows * unknowns * unknowns * points * math.Sqrt(points)
			} else {
				// of three stages, which the rows of a step and the entries of each have
				across := math.Pow(space, 1-1/float64(len(p.Axes)-1))
				matrix := 8 * bandOfRows * 9 * unknowns * unknowns * space * across
				if p.RowsChange() {
					matrix *= points / space
				}
				linear += matrix
			}
		} else {
			wider := float64(p.Mirrored(g).Size()) / float64(g.Size())
			linear = 8 * unknowns * wider * (8*points + 128*unknowns*space) // spectra of eight functions; the weights of a step
		}
	}
	newton := 0.0
	if values := unknowns * points; !training && s.Evaluation.Newton { // a step of Newton's method of every worker
		width := bandOfRows * unknowns * points / float64(slices.Max(shape))
		if newton = values * width; newton*width > mostCorrected { // it is marched: fields, and vectors or a divided matrix of an instant
			newton = 12*values + 256*unknowns*unknowns*space
		}
		newton *= 8 * float64(workers)
	}
	fields := 2 * experts * unknowns * points
	if _, whole := p.Unknowns[0].Ansatz.Smooth[p.Axes[0].Name]; slabs == 1 && linear == 0 && !whole {
		fields = min(fields, max(constraint.WindowValues, 2*experts*unknowns*space*kernel.LaneCount))
	}
	out.Constraint = newton + linear + float64(element)*functions*(unknowns*points+terms*rows) + 8*fields + experts*8*16*weights*weights
	return out, nil
}

// estimateRollout returns the needs of a spec with several segments: those of one, and fields and rows of all.
func estimateRollout(s *model.Spec, p *pde.Problem, g *grid.Grid, workers, slabs int, training bool) (out Needs, err error) {
	of, q, part, err := s.SegmentOn(p, g)
	if err != nil {
		return out, err
	}
	if out, err = Estimate(of, q, part, workers, slabs, training); err != nil {
		return out, err
	}
	whole := 1.0
	for _, n := range g.Shape() {
		whole *= float64(n)
	}
	out.Samples += 16 * whole * float64(len(p.Unknowns)+len(p.Terms))
	if training {
		net, err := of.NewNetwork(q)
		if err != nil {
			return out, err
		}
		out.Parameters += 4 * float64(net.Layout().Size()) // a sample's gradient
		rest := whole * float64(g.Axes[0].Points-part.Axes[0].Points) / float64(g.Axes[0].Points)
		out.Samples += 8 * float64(s.Data.Validation.Count) * rest
	}
	return out, nil
}
