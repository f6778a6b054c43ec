package experiment

import (
	"fmt"
	"slices"

	"pihc/data"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/model"
	"pihc/pde"
	"pihc/score"
	"pihc/train"
)

// LoadSamples reads the initial conditions of a split and gives access to its
// solutions, on grid g: where that is not the dataset's but has points of it
// alone, both are thinned out; elsewhere initial conditions are resampled and
// solutions computed anew. most > 0 takes the first most.
func LoadSamples(set *data.Dataset, name string, p *pde.Problem, g *grid.Grid, most int) (score.Samples, error) {
	if set.ProblemHash != dataset.ProblemHash(p) {
		return score.Samples{}, fmt.Errorf("the dataset was generated for problem %s with another PDE file, or other constants, than those of problem %s", set.Problem, p.Name)
	}
	if most < 0 {
		return score.Samples{}, usagef("--samples %d: want a number of samples, or 0 for all", most)
	}
	split, err := set.Split(name)
	if err != nil {
		return score.Samples{}, err
	}
	count := split.Count
	if most > 0 {
		count = min(count, most)
	}
	initial, err := set.InputRange(name, 0, count)
	if err != nil {
		return score.Samples{}, err
	}
	from, err := p.Grid(pointsOf(split))
	if err != nil {
		return score.Samples{}, err
	}
	s := score.Samples{Inputs: rowsOf(initial.Float64(), count), Seeds: train.EvaluationSeeds(count), First: p.PlaceInputs(g)[0].Size, Grid: g.Shape()}
	if len(p.Unknowns) > 1 {
		s.Unknowns = p.UnknownNames()
	}
	same := slices.Equal(g.Axes, from.Axes)
	if split.Solve && (same || slices.EqualFunc(g.Axes, from.Axes, grid.Axis.Thins)) {
		field := make([]float64, len(p.Unknowns)*g.Size())
		s.Truth = func(i int) ([]float64, error) {
			a, err := set.SolutionsRange(name, i, 1)
			if err != nil {
				return nil, err
			}
			if same {
				return a.Float64(), nil
			}
			grid.Thin(field, a.Float64(), g.Axes, from.Axes)
			return field, nil
		}
	}
	if same {
		return s, nil
	}
	for i, u0 := range s.Inputs {
		s.Inputs[i] = dataset.InputsOn(p, u0, from, g)
	}
	if split.Solve && s.Truth == nil {
		s.Truth, err = solveOn(p, g, s.Inputs, mostKept)
	}
	return s, err
}

// mostKept bounds the solutions on another grid that are kept, in bytes.
const mostKept = 1 << 28

// solveOn gives access to the classical solutions on g, valid until the next call, each solved
// once where all of them take no more than most bytes.
func solveOn(p *pde.Problem, g *grid.Grid, initial [][]float64, most int) (func(i int) ([]float64, error), error) {
	solver, err := dataset.ReferenceSolver(p, g)
	if err != nil {
		return nil, err
	}
	size := len(p.Unknowns) * g.Size()
	fields, last := make([][]float64, len(initial)), -1
	return func(i int) ([]float64, error) {
		if fields[i] != nil {
			return fields[i], nil
		}
		var field []float64
		if last >= 0 && 8*size*len(initial) > most {
			field, fields[last], last = fields[last], nil, -1
		} else {
			field = make([]float64, size)
		}
		if _, err := solver.Solve(field, initial[i]); err != nil {
			return nil, err
		}
		fields[i], last = field, i
		return field, nil
	}, nil
}

// rowsOf splits count equal rows.
func rowsOf(flat []float64, count int) [][]float64 {
	rows := make([][]float64, count)
	width := len(flat) / max(count, 1)
	for i := range rows {
		rows[i] = flat[i*width : (i+1)*width]
	}
	return rows
}

func pointsOf(split data.Split) map[string]int {
	points := map[string]int{}
	for _, a := range split.Axes {
		points[a.Name] = a.Points
	}
	return points
}

// draws returns the first initial conditions of a split.
func draws(spec *model.Spec, p *pde.Problem, name string, count int) ([][]float64, error) {
	plan, err := spec.DatasetPlan(p, 1)
	if err != nil {
		return nil, err
	}
	split := plan.Splits[slices.IndexFunc(plan.Splits, func(s data.Split) bool { return s.Name == name })]
	draw, err := plan.Sampler(split)
	if err != nil {
		return nil, err
	}
	size := 1
	for _, n := range split.InputShape() {
		size *= n
	}
	out := make([][]float64, count)
	for i := range out {
		out[i] = make([]float64, size)
		if err := draw(data.SampleRand(split.Seed, i), out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
