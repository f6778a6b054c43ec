package experiment

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pihc/data"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/machine"
	"pihc/pde"
)

// fieldArrays are fields, per unknown (sample, t, x[, y]), under the names of the unknowns, and the coordinates of every axis.
func fieldArrays(g *grid.Grid, unknowns []string, fields [][]float64) []data.Named {
	var out []data.Named
	for c, name := range unknowns {
		shape := append([]int{len(fields[c]) / g.Size()}, g.Shape()...)
		out = append(out, data.Named{Name: name, Array: data.NewArray(shape, fields[c])})
	}
	for _, axis := range g.Axes {
		out = append(out, data.Named{Name: axis.Name, Array: data.NewArray([]int{axis.Points}, coordinates(axis))})
	}
	return out
}

// describedFields say of arrays what formats have that describe themselves: axes, those of the grid with their units, and what made them.
func describedFields(command string, p *pde.Problem, arrays []data.Named) *data.Fields {
	f := &data.Fields{Title: p.Title, History: fmt.Sprintf("pihc %s %s, problem %s", machine.Version(), command, p.Name), Axes: p.AxisNames()}
	if !p.Steady {
		f.Time = f.Axes[0]
	}
	for _, a := range arrays {
		v := data.Variable{Named: a}
		switch at := slices.Index(f.Axes, a.Name); {
		case at >= 0:
			v.Dimensions, v.Unit = f.Axes[at:at+1], p.Axes[at].Unit
		case slices.Contains(p.UnknownNames(), a.Name):
			v.Dimensions = append([]string{data.SampleDimension}, f.Axes...)
		case a.Name == editsArray:
			v.Dimensions = []string{editsArray}
		default:
			v.Dimensions = []string{data.SampleDimension}
			for _, in := range p.Inputs {
				if dataset.InputArray(p, in.Name) == a.Name {
					v.Dimensions = append(v.Dimensions, in.Axes...)
				}
			}
		}
		f.Variables = append(f.Variables, v)
	}
	return f
}

// fitsFormat is an error for a file whose format, by its ending, does not hold fields of so many samples.
func fitsFormat(path string, p *pde.Problem, g *grid.Grid, samples int, overwrite bool) error {
	if slices.Contains(p.AxisNames(), data.SampleDimension) && strings.ToLower(filepath.Ext(path)) != ".npz" {
		return fmt.Errorf("%s: the axis %s of the problem has the name that samples have in this format; .npz has no names of axes", path, data.SampleDimension)
	}
	times := 0
	if !p.Steady {
		times = g.Axes[0].Points
	}
	return data.CheckFields(path, samples, times, g.Size(), overwrite)
}
