package engine

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"pihc/compute"
	"pihc/constraint"
	"pihc/grid"
	"pihc/internal/words"
	"pihc/model"
	"pihc/network"
	"pihc/pde"
)

// A Plan is what every engine derives once from a spec, its problem and the options. What an engine adds is how
// it runs the network, the solves and the loss.
type Plan struct {
	Info
	System   *pde.System // on the grid, or this rank's part of it
	Network  network.Network
	Inputs   model.Inputs
	Features []Feature // of Inputs
	// InputCenters are subtracted from initial conditions at the network's input, which are then divided by InputScales; OutputScales are what
	// the outputs for every unknown are multiplied by.
	InputCenters, InputScales, OutputScales []float64
	Size                                    float64 // of the first unknown
	// Last is the constraint of the last pass, by the method; Earlier is that of the passes before it, over
	// the whole domain. With one pass, or one expert, they are the same.
	Last, Earlier *constraint.Constraint
	Weights       []float64 // in the loss, per set of rows
	Crossing      [][]bool  // per residual: rows whose stencil crosses a border; nil: they count as others do
	// Corrects says that there is a field to correct, which the network sees, or losses are relative to.
	Corrects bool
}

// A Feature is an input of the network that is formed of the field to correct and divided by Scale: an Unknown less its Center, or
// else (-1) of a set of Rows a Term, by its place among those of the rows, or else (-1) the residual over its root mean
// square, which is a Mean over the times up to each or not. Unit is how large the residual is, or that which a Mean is of, where a field is
// wrong by its Size; 0 if it is no feature.
type Feature struct {
	Scale, Unit, Center float64
	Unknown, Rows, Term int
	Mean                bool
}

// Zero is the root mean square of a residual, over its Unit, that counts as zero: rounding, where the
// field to correct solves the equation (water at rest, a body of one temperature).
const Zero = 1e-11

// NewPlan makes the plan of a spec. Its constraints work on pool.
func NewPlan(s *model.Spec, p *pde.Problem, o Options, pool *compute.Pool) (*Plan, error) {
	g, err := o.Grid, error(nil)
	if g == nil {
		if g, err = p.Grid(s.Grid); err != nil {
			return nil, err
		}
	}
	options, err := s.Options(p)
	if err != nil {
		return nil, err
	}
	options.Blend = o.Blend
	router := o.Router
	if router == nil {
		if router, err = options.NewRouter(g); err != nil {
			return nil, err
		}
	}
	e := &Plan{Corrects: len(s.Network.Features) > 0 || s.Network.Passes > 1 || s.Loss.Relative}
	if e.System, err = p.Discretize(g); err != nil {
		return nil, err
	}
	if e.Network, err = s.NewNetwork(p); err != nil {
		return nil, err
	}
	if e.Info, err = describe(s, e.System, e.Network, router); err != nil {
		return nil, err
	}
	if e.Inputs, err = s.NewInputs(p); err != nil {
		return nil, err
	}
	if e.Weights, err = lossWeights(e.System, s.Loss); err != nil {
		return nil, err
	}
	e.scale()
	if o.Ranks != nil && o.Ranks.Size() > 1 {
		if _, ok := e.Network.(network.Divisible); !ok {
			return nil, fmt.Errorf("network.kind: %s: its grid cannot be divided among ranks; want %s", s.Network.Kind, model.DefaultNetwork)
		}
		if e.System, err = e.System.Divide(o.Ranks); err != nil {
			return nil, err
		}
	}
	return e, e.constrain(options, router, pool)
}

// describe is the Info of a plan.
func describe(s *model.Spec, sys *pde.System, net network.Network, router constraint.Router) (Info, error) {
	if err := model.CheckNetwork(net, sys.Grid); err != nil {
		return Info{}, err
	}
	info := Info{
		Spec: s, Problem: sys.Problem, Grid: sys.Grid, Layout: net.Layout(), OutputBias: net.Layout().Last(), Router: router,
		Initial: func() []float64 {
			params := make([]float64, net.Layout().Size())
			net.Init(params, rand.New(rand.NewPCG(s.Seed, 0x696e6974)))
			return params
		},
	}
	for _, prefix := range s.Training.Frozen {
		if !slices.ContainsFunc(info.Layout, func(t compute.Tensor) bool { return part(t) == prefix }) {
			var parts []string
			for _, t := range info.Layout {
				parts = append(parts, part(t))
			}
			return Info{}, fmt.Errorf("training.frozen: the network has no tensors of %q; it has those of %s", prefix, words.List(slices.Compact(parts)))
		}
	}
	if !slices.ContainsFunc(info.Layout, func(t compute.Tensor) bool { return !slices.Contains(s.Training.Frozen, part(t)) }) {
		return Info{}, errors.New("training.frozen: it names all tensors of the network, and there is nothing to train")
	}
	for _, set := range sys.Sets {
		info.Rows = append(info.Rows, Rows{set.Name, set.Kind, len(set.Points)})
	}
	if s.Method != model.Soft {
		info.Experts = router.Experts()
	}
	return info, nil
}

// scale sets the scales of what goes into the network and comes out.
func (e *Plan) scale() {
	network, unknowns, residuals := &e.Spec.Network, e.Problem.Unknowns, e.System.Residuals()
	for i := range e.Problem.Initials() {
		of := slices.IndexFunc(unknowns, func(u pde.Unknown) bool { return u.Initial == i })
		e.InputScales = append(e.InputScales, network.ScaleOf(unknowns[of].Name))
		e.InputCenters = append(e.InputCenters, network.Centers[unknowns[of].Name])
	}
	for _, u := range unknowns {
		e.OutputScales = append(e.OutputScales, network.ScaleOf(u.Name)/network.ScaleOf(unknowns[0].Name))
	}
	e.Size = network.ScaleOf(unknowns[0].Name)
	for _, name := range e.Inputs.Features {
		f := Feature{Scale: network.Features[name], Center: network.Centers[name], Unknown: slices.Index(e.Problem.UnknownNames(), name), Term: -1}
		if f.Unknown < 0 {
			f.Rows = slices.IndexFunc(residuals, func(set *pde.RowSet) bool {
				f.Term = slices.IndexFunc(set.Terms, func(t int) bool { return e.System.Terms[t].Name == name })
				f.Mean, f.Unit = name == model.MeanFeature(set.Name), network.Features[set.Name]*e.Size
				return name == set.Name || f.Mean || f.Term >= 0
			})
		}
		e.Features = append(e.Features, f)
	}
}

// constrain makes the constraints of all passes.
func (e *Plan) constrain(o constraint.Options, router constraint.Router, pool *compute.Pool) (err error) {
	directions := o.Directions
	if e.Experts > 1 {
		o.Directions = 0 // multiples that differ between experts are jumps at their borders
	}
	if e.Last, err = constraint.New(e.System, e.Spec.Outputs(), o, router, pool); err != nil {
		return err
	}
	if r := e.Spec.Loss.BorderRows; (r.Start != 1 || r.End != 1) && e.Experts > 1 {
		e.Crossing = e.Last.Crossing()
	}
	e.Earlier = e.Last
	if e.Spec.Network.Passes > 1 && e.Experts > 1 {
		o.Experts, o.Router, o.Overlap, o.Directions = nil, "", false, directions
		e.Earlier, err = constraint.New(e.System, e.Spec.Outputs(), o, nil, pool)
	}
	return err
}

// Coordinates are what the network sees of the points along an axis: 0 to 1 over the problem's axis, also where
// training.window ends the grid before.
func (e *Plan) Coordinates(axis int) []float64 {
	x, whole := e.Grid.Axes[axis].Coordinates(), e.Problem.Axes[axis]
	for i := range x {
		x[i] = (x[i] - whole.Lo) / (whole.Hi - whole.Lo)
	}
	return x
}

// Pass is the pass that a batch asks for. It panics if there is none.
func (e *Plan) Pass(b Batch) int {
	if b.Pass < 0 || b.Pass > e.Spec.Network.Passes {
		panic("engine: there is no such pass")
	}
	return cmp.Or(b.Pass, e.Spec.Network.Passes)
}

// Info is what an engine says of itself. It does not change.
type Info struct {
	Spec    *model.Spec
	Problem *pde.Problem
	Grid    *grid.Grid
	// Layout names the parameters in the flat slice; OutputBias is the tensor of
	// Layout that is added to the outputs.
	Layout     network.Layout
	OutputBias compute.Tensor
	// Initial draws the parameters that training starts from.
	Initial func() []float64
	Rows    []Rows            // in the order of MeanSquares
	Router  constraint.Router // of the domain, or of the first segment (rollout), among experts; one has all of it where method is not moe
	Experts int               // solves for one prediction, 0 for soft
	// Together says that the samples of a micro-batch are evaluated together: another division of a
	// batch changes results by rounding. Otherwise it changes no bit.
	Together bool
}

// Rows is one set of rows of the problem on the grid.
type Rows struct {
	Name  string
	Kind  pde.Kind
	Count int
}

// part is a tensor's name before the first dot.
func part(t compute.Tensor) string {
	name, _, _ := strings.Cut(t.Name, ".")
	return name
}

// Frozen returns the ranges of parameters that are not trained, [from, to).
func (i *Info) Frozen() (ranges [][2]int) {
	for _, t := range i.Layout {
		if slices.Contains(i.Spec.Training.Frozen, part(t)) {
			ranges = append(ranges, [2]int{t.Offset, t.Offset + t.Size()})
		}
	}
	return ranges
}

// Parameters is the number of parameters.
func (i *Info) Parameters() int { return i.Layout.Size() }

// InputSize is the number of values of the inputs of a sample.
func (i *Info) InputSize() int { return i.Problem.InputSize(i.Grid) }

// FieldSize is the number of values of a field: the grid's points for every unknown.
func (i *Info) FieldSize() int { return len(i.Problem.Unknowns) * i.Grid.Size() }

// SliceSize is the number of points of all axes but the first.
func (i *Info) SliceSize() int { return i.Grid.Size() / i.Grid.Axes[0].Points }

// InitialParams draws initial parameters. They do not depend on the precision
// beyond rounding.
func InitialParams[T compute.Float](i Info) (params []T) {
	for _, v := range i.Initial() {
		params = append(params, T(v))
	}
	return params
}
