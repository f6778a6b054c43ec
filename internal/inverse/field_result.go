package inverse

import (
	"math"
	"slices"

	"pihc/grid"
)

// field is the input where the fit is, and its deviation, on its own grid, and how many of the background's functions the data determine.
func (s *fieldState) field() (u, deviation []float64, seen float64) {
	functions := len(s.background.Functions)
	u, by := s.background.at(s.in.Sampler, s.x[:functions], true)
	deviation = make([]float64, len(u))
	// Column k of the covariance of z.
	for k := range functions {
		column := make([]float64, s.count())
		column[k] = s.scale[k]
		s.matrix.Solve(column)
		seen += 1 - column[k]*s.scale[k]
		for l := range functions {
			c := column[l] * s.scale[l]
			for i := range deviation {
				deviation[i] += c * by[k][i] * by[l][i]
			}
		}
	}
	for i, v := range deviation {
		deviation[i] = math.Sqrt(max(v, 0))
	}
	return u, deviation, seen
}

// moved is what a fit on a finer grid moves the field by, in deviations, or those by, in parts of them.
func (s *fieldState) moved(fine *fieldState) (most float64) {
	u, d, _ := s.field()
	v, e, _ := fine.field()
	v, e = grid.Resample(v, fine.in.Space, s.in.Space), grid.Resample(e, fine.in.Space, s.in.Space)
	floor := 1e-6 * slices.Max(d) // where a condition holds the field there is nothing to move
	for i := range u {
		most = max(most, math.Abs(u[i]-v[i])/(d[i]+floor), math.Abs(e[i]-d[i])/(d[i]+floor))
	}
	return most
}

// describe fills in what is known at the least.
func (s *fieldState) describe(out *FieldFit) error {
	onModel := func(u []float64) []float64 { return grid.Resample(u, s.grid.Axes[1:], s.FieldModel.Grid.Axes[1:]) }
	u, d, background := s.field()
	out.Field, out.Spread = onModel(u), onModel(d)
	for i, v := range out.Spread {
		out.Spread[i] = max(v, 0)
	}
	functions := s.FieldModel.Background.Functions
	_, slopes := s.FieldModel.Background.at(s.in.Sampler, make([]float64, len(functions)), true)
	out.Before = make([]float64, len(out.Field))
	for i := range out.Before {
		for _, f := range slopes {
			out.Before[i] += f[i] * f[i]
		}
		out.Before[i] = math.Sqrt(out.Before[i])
	}
	out.Times, out.Grid, out.Instants = s.times, s.grid, len(s.times)
	for _, u := range s.fields {
		out.Fields = append(out.Fields, onModel(u))
	}
	data := float64(len(s.Observations))
	for i, o := range s.Observations {
		row, at := s.observed(i)
		x := make([]float64, s.count())
		for a, v := range row {
			x[at+a] = v * s.scale[at+a]
		}
		s.matrix.Forward(x, at)
		out.Predicted = append(out.Predicted, o.Value+s.residual[i]*o.Sigma)
		out.Ranges = append(out.Ranges, math.Sqrt(norm2(x))*o.Sigma)
		data -= norm2(x)
	}
	out.ChiSquared = 2 * s.cost
	out.P = chiSquaredTail(out.ChiSquared, float64(len(s.Observations)))
	out.Parts = []Part{part("observations", norm2(s.residual), data), part("background", norm2(s.x[:len(functions)]), background)}
	if s.ModelError > 0 {
		out.Parts = append(out.Parts, part("model error", s.modelCost(), float64(len(s.Observations))-data-background))
	}
	return nil
}
