package inverse

import (
	"fmt"
	"math"
	"slices"

	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/discrete"
	"pihc/pde"
	"pihc/sim"
)

// A Parameter is one number to be found. Its coordinate is the number itself or, of Log, its logarithm.
type Parameter struct {
	Name  string  // "D", or "u0:3" for the third coefficient of the series of u0
	Input string  // of the problem: a number or, with Mode > 0, a field
	Mode  int     // from 1
	Log   bool    // the number is positive
	Start float64 // of the number
	Prior *Prior  // nil: none

	Spread float64 // of the coordinate, of other starts about this one; 0: a factor of ten to both sides, or twice the number
}

// A Prior is a normal distribution of a parameter's coordinate.
type Prior struct{ Mean, Deviation float64 }

// Value is the number at a coordinate.
func (p *Parameter) Value(coordinate float64) float64 {
	if p.Log {
		return math.Exp(coordinate)
	}
	return coordinate
}

// Coordinate is where a number is.
func (p *Parameter) Coordinate(value float64) float64 {
	if p.Log {
		return math.Log(value)
	}
	return value
}

// unit is a change of a coordinate that is a large one of the number: a factor of e, or what is known of its size.
func (p *Parameter) unit(coordinate float64) float64 {
	switch {
	case p.Log:
		return 1
	case p.Spread > 0:
		return p.Spread
	case p.Start != 0:
		return math.Abs(p.Start)
	case coordinate != 0:
		return math.Abs(coordinate)
	}
	return 1
}

// An Observation is a value of an unknown at a point of the box, with its standard deviation.
type Observation struct {
	Experiment, Unknown int
	At                  []float64 // per axis
	Value, Sigma        float64
}

// A Model is what predicts the observations.
type Model struct {
	Problem      *pde.Problem // its free constants are inputs (pde.Problem.Free)
	Grid         *grid.Grid   // of Samples, and the coarsest that solutions are on
	Samples      [][]float64  // per experiment: the inputs, but for what is free
	Parameters   []Parameter
	Observations []Observation

	Starts int // others that a fit begins from; 0: OtherStarts of them, and those where the data reject the fit or it may not be at its end

	Backgrounds map[string]*Background // of inputs on Grid: the parameters of one are coordinates of its functions, not of a series
}

// level says how much finer than the model's grid solutions are: every doubling of it.
type level struct{ time, space int }

// solved is a model on one grid. It is for one goroutine at a time.
type solved struct {
	*Model
	grid    *grid.Grid
	solver  *discrete.Solver
	inputs  []pde.PlacedInput
	samples [][]float64
	series  map[string]*Background // per input with modes: the functions, of a series without deviations
	weights [][]weight             // per observation
	at      [][]int                // per point of the first axis: the observations it has part in
}

// weight is what points along one axis weigh in a value between them: those from first on.
type weight struct {
	first int
	w     []float64
}

// on returns the grid of a level.
func (m *Model) on(l level) *grid.Grid {
	g := &grid.Grid{Axes: slices.Clone(m.Grid.Axes)}
	for i := range g.Axes {
		by := 1 << l.space
		if i == 0 {
			by = 1 << l.time
		}
		if a := &g.Axes[i]; a.Boundary == grid.Nodes {
			a.Points = (a.Points-1)*by + 1
		} else {
			a.Points *= by
		}
	}
	return g
}

// values is the number of values of a solution.
func (m *Model) values(l level) int { return m.on(l).Size() * len(m.Problem.Unknowns) }

func (m *Model) solve(l level) (*solved, error) {
	s := &solved{Model: m, grid: m.on(l), series: map[string]*Background{}}
	ones := slices.Repeat([]int{1}, len(s.grid.Axes))
	var err error
	if s.solver, err = discrete.New(m.Problem, s.grid, ones); err != nil {
		return nil, err
	}
	s.inputs = m.Problem.PlaceInputs(s.grid)
	for _, sample := range m.Samples {
		s.samples = append(s.samples, slices.Clone(dataset.InputsOn(m.Problem, sample, m.Grid, s.grid)))
	}
	for _, p := range m.Parameters {
		if p.Mode == 0 || s.series[p.Input] != nil {
			continue
		}
		in := s.input(p.Input)
		if b := m.Backgrounds[p.Input]; b != nil {
			placed := m.Problem.PlaceInputs(m.Grid)
			if s.series[p.Input], err = b.on(placed[slices.IndexFunc(placed, func(x pde.PlacedInput) bool { return x.Name == p.Input })], *in); err != nil {
				return nil, err
			}
			continue
		}
		series, err := sim.NewSeries(in.Sampler.Series, in.Space, in.Sampler.Parameters)
		if err != nil {
			return nil, err
		}
		functions, _ := series.Functions(math.MaxInt)
		s.series[p.Input] = &Background{Mean: make([]float64, in.Size), Functions: functions, draws: true}
	}
	s.at = make([][]int, s.grid.Axes[0].Points)
	for i, o := range m.Observations {
		var all []weight
		for a, axis := range s.grid.Axes {
			all = append(all, interpolate(axis, o.At[a]))
		}
		for k, w := range all[0].w {
			if w != 0 {
				s.at[all[0].first+k] = append(s.at[all[0].first+k], i)
			}
		}
		s.weights = append(s.weights, all)
	}
	return s, nil
}

// interpolate returns the weights of an axis's points in the value at x: the polynomial through six, or all of a periodic axis.
func interpolate(axis grid.Axis, x float64) weight {
	to := grid.Axis{Lo: x, Hi: x + 1, Points: 2, Boundary: grid.Nodes}
	first, row := axis.Interpolation(to, 6).Row(0)
	from := slices.IndexFunc(row, func(w float64) bool { return w != 0 })
	end := len(row)
	for row[end-1] == 0 {
		end--
	}
	return weight{first + from, row[from:end]}
}

func (s *solved) input(name string) *pde.PlacedInput {
	return &s.inputs[slices.IndexFunc(s.inputs, func(in pde.PlacedInput) bool { return in.Name == name })]
}

// place writes parameters to a sample and returns its derivatives by each coordinate.
func (s *solved) place(sample, theta []float64) (along [][]float64) {
	z := map[string][]float64{}
	for j := range s.Parameters {
		p := &s.Parameters[j]
		in, direction := s.input(p.Input), make([]float64, len(sample))
		along = append(along, direction)
		if p.Mode > 0 {
			if z[p.Input] == nil {
				z[p.Input] = make([]float64, len(s.series[p.Input].Functions))
			}
			z[p.Input][p.Mode-1] = theta[j]
			continue
		}
		v := p.Value(theta[j])
		sample[in.Offset], direction[in.Offset] = v, 1
		if p.Log {
			direction[in.Offset] = v
		}
	}
	for name, own := range z {
		in := s.input(name)
		field, slopes := s.series[name].at(in.Sampler, own, true)
		copy(in.Of(sample), field)
		for j := range s.Parameters {
			if p := &s.Parameters[j]; p.Input == name {
				copy(in.Of(along[j]), slopes[p.Mode-1])
			}
		}
	}
	return along
}

// evaluate predicts the observations (m) and their derivatives by the coordinates (m, parameters), with the largest size of each one's unknown in
// its experiment.
func (s *solved) evaluate(theta []float64) (values, jac, sizes []float64, err error) {
	n, count := len(theta), len(s.Observations)
	values, jac, sizes = make([]float64, count), make([]float64, count*n), make([]float64, count)
	width := s.grid.Size() / s.grid.Axes[0].Points
	for e, sample := range s.samples {
		along := s.place(sample, theta)
		largest := make([]float64, len(s.Problem.Unknowns))
		err := s.solver.SolveAlong(sample, along, func(k int, u []float64, du [][]float64) {
			for c := range largest {
				for _, v := range u[c*width:][:width] {
					largest[c] = max(largest[c], math.Abs(v))
				}
			}
			for _, i := range s.at[k] {
				o := &s.Observations[i]
				if o.Experiment != e {
					continue
				}
				t := s.weights[i][0]
				w := t.w[k-t.first]
				values[i] += w * s.inSpace(i, u[o.Unknown*width:])
				for j := range du {
					jac[i*n+j] += w * s.inSpace(i, du[j][o.Unknown*width:])
				}
			}
		})
		if err != nil {
			return nil, nil, nil, fmt.Errorf("experiment %d: %w", e, err)
		}
		for i, o := range s.Observations {
			if o.Experiment == e {
				sizes[i] = largest[o.Unknown]
			}
		}
	}
	return values, jac, sizes, nil
}

// inSpace interpolates a slice at an observation's point.
func (s *solved) inSpace(i int, u []float64) float64 {
	x := s.weights[i][1]
	sum := 0.0
	for k, w := range x.w {
		if w == 0 {
			continue
		}
		if len(s.grid.Axes) == 2 {
			sum += w * u[x.first+k]
			continue
		}
		y := s.weights[i][2]
		row := u[(x.first+k)*s.grid.Axes[2].Points+y.first:]
		for l, v := range y.w {
			sum += w * v * row[l]
		}
	}
	return sum
}
