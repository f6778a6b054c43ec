package experiment

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"time"

	"pihc/data"
	"pihc/internal/disk"
	"pihc/internal/inverse"
	"pihc/internal/kernel"
	"pihc/internal/machine"
	"pihc/internal/words"
	"pihc/report"
)

// normal95 is what a normal variate is within of its mean with 95 %, in deviations.
const normal95 = 1.959963984540054

// space are the coordinates of the field.
func (v *FieldInversion) space() []float64 { return coordinates(v.Grid.Axes[1]) }

// side is the end of the 95 % band on one side, -1 or 1.
func (v *FieldInversion) side(by float64) (all []float64) {
	for i, u := range v.fit.Field {
		all = append(all, u+by*normal95*v.fit.Spread[i])
	}
	return all
}

// JSON is the result of `pihc invert --json` for a field.
func (v *FieldInversion) JSON() map[string]any {
	f := v.fit
	if v.Interrupted {
		return map[string]any{
			"converged": false, "field": map[string]any{"name": v.Input, v.Grid.Axes[1].Name: v.space(), "value": f.Field},
			"chi_squared": map[string]any{"value": f.ChiSquared}, "grid": f.Grid.Shape()[1:], "instants": f.Instants, "iterations": f.Iterations, "seconds": v.Seconds,
		}
	}
	return map[string]any{
		"converged": true,
		"field":     map[string]any{"name": v.Input, v.Grid.Axes[1].Name: v.space(), "value": f.Field, "sigma": f.Spread, "low": v.side(-1), "high": v.side(1)},
		"chi_squared": map[string]any{
			"value": f.ChiSquared, "degrees": len(v.observations), "p": f.P,
			"parts": partsJSON(f.Parts), "moved": f.ChiMoved,
		},
		"certain": v.Certain, "model_error": v.ModelError, "background_functions": f.Functions,
		"grid": f.Grid.Shape()[1:], "instants": f.Instants, "moved": f.Moved,
		"iterations": f.Iterations, "seconds": v.Seconds, "rejected": v.Rejected(), "warnings": append([]string{}, v.Warnings...),
	}
}

// Lines say what was found: first whether data, background and equation agree.
func (v *FieldInversion) Lines() []string {
	f := v.fit
	if v.Interrupted {
		return []string{fmt.Sprintf("interrupted, not converged: chi-squared %.4g on %s points with %d instants, no finer ones were compared, and no band is known; the values of %s are in --json", f.ChiSquared, words.Shape(f.Grid.Shape()[1:]), f.Instants, v.Input)}
	}
	text := fmt.Sprintf("chi-squared %.4g of %d degrees, p = %.2g", f.ChiSquared, len(v.observations), f.P)
	switch {
	case v.Rejected():
		text = "the data reject this fit (" + text + "): the equation, the model error, the distribution of the file or the sigmas are wrong, or this is not the best fit; the band means nothing"
	case f.P < inverse.Doubtful:
		text += undecided(f.ChiMoved)
	case 1-f.P < inverse.Doubtful:
		text += ": the residuals are smaller than the sigmas, the model error and the distribution say, and the band too wide"
	default:
		text += ": data, equation and distribution agree"
	}
	before, after := rootMeanSquare(f.Before), rootMeanSquare(f.Spread)
	return append(append([]string{text}, partLines(f.Parts)...),
		fmt.Sprintf("%s: the 95 %% band is ± %.3g (root mean square over %s), ± %.3g before the observations; its values are in --json and --out", v.Input, normal95*after, v.Grid.Axes[1].Name, normal95*before),
		"held: "+v.Certain)
}

// undecided is said of a chi-squared that is too large and moves from grid to grid by so much.
func undecided(moved float64) string {
	return fmt.Sprintf(": it is too large, but finer grids still move it by %.2g, so that whether the data reject the fit is not decided", moved)
}

// partLines say what chi-squared is made of, with the degrees that are expected of each.
func partLines(parts []inverse.Part) (lines []string) {
	for _, p := range parts {
		lines = append(lines, fmt.Sprintf("of the %s: chi-squared %.4g of %.4g degrees, p about %.2g", p.Name, p.ChiSquared, p.Degrees, p.P))
	}
	return lines
}

func partsJSON(parts []inverse.Part) map[string]any {
	all := map[string]any{}
	for _, p := range parts {
		all[p.Name] = map[string]float64{"value": p.ChiSquared, "degrees": p.Degrees, "p": p.P}
	}
	return all
}

func rootMeanSquare(x []float64) float64 {
	return math.Sqrt(kernel.SumSquares64(x) / float64(len(x)))
}

// Write writes estimates.json, observations.csv, field.npz (the field with its deviation and band, and the fields of all
// instants) and the page report.html to a folder, where InversionFolder allows it.
func (v *FieldInversion) Write(dir string, overwrite bool, reads ...string) error {
	if err := InversionFolder(dir, overwrite, reads...); err != nil {
		return err
	}
	if _, err := disk.MakeFolder(dir); err != nil {
		return err
	}
	if err := disk.WriteJSON(filepath.Join(dir, "estimates.json"), v.JSON()); err != nil {
		return err
	}
	if err := disk.WriteAtomic(filepath.Join(dir, "observations.csv"), func(w io.Writer) error {
		return encodeObservations(w, v.Problem, v.observations, v.fit.Predicted, v.fit.Ranges)
	}); err != nil {
		return err
	}
	f := v.fit
	array := func(name string, values []float64) data.Named {
		return data.Named{Name: name, Array: data.NewArray([]int{len(values)}, values)}
	}
	arrays := []data.Named{
		array(v.Grid.Axes[1].Name, v.space()), array("value", f.Field), array("sigma", f.Spread), array("low", v.side(-1)), array("high", v.side(1)), array(v.Grid.Axes[0].Name, f.Times),
	}
	n := v.Grid.Axes[1].Points
	for c, name := range v.Problem.UnknownNames() {
		var all []float64
		for _, u := range f.Fields {
			all = append(all, u[c*n:(c+1)*n]...)
		}
		arrays = append(arrays, data.Named{Name: "fields_" + name, Array: data.NewArray([]int{len(f.Times), n}, all)})
	}
	if err := data.WriteNPZ(filepath.Join(dir, "field.npz"), arrays); err != nil {
		return err
	}
	page := v.Page()
	page.Overwrite = overwrite
	return page.Write(filepath.Join(dir, "report.html"))
}

// Page shows the field with its band, and the data.
func (v *FieldInversion) Page() *report.Page {
	p, f := v.Problem, v.fit
	page := &report.Page{Title: p.Title, Subtitle: "An initial field from observations", Steady: p.Steady, Field: p.Unknowns[0].Name, Axes: fieldAxes(p, v.Grid)}
	page.Equations, page.Constants = equations(p)
	page.Summary = v.Lines()
	for _, warning := range v.Warnings {
		page.Summary = append(page.Summary, "Warning: "+warning+".")
	}
	page.Facts = []report.Fact{
		{Name: "Observations", Value: words.Count(len(v.observations))},
		{Name: "Solved on", Value: fmt.Sprintf("%s points, %d instants", words.Shape(f.Grid.Shape()[1:]), f.Instants)},
		{Name: "Model error", Value: fmt.Sprintf("%g", v.ModelError)},
		{Name: "Time", Value: words.Duration(v.Seconds)},
		{Name: "Machine", Value: kernel.Machine()},
	}
	x := v.space()
	page.Charts = []report.Chart{{
		Name: "field", Caption: v.Input + " with its 95 % band", X: v.Grid.Axes[1].Name, Y: v.Input,
		Lines: []report.ChartLine{
			{Label: "fit", Color: 1, X: x, Y: f.Field},
			{Label: "95 % band, low", Color: 2, X: x, Y: v.side(-1), Dashed: true},
			{Label: "high", Color: 2, X: x, Y: v.side(1), Dashed: true},
		},
	}}
	for c, u := range p.Unknowns {
		page.Charts = append(page.Charts, observedCharts(u.Name, c, p.Axes[0].Name, v.observations, f.Predicted, f.Ranges)...)
	}
	page.Generated = fmt.Sprintf("pihc %s, %s", machine.Version(), time.Now().Format("2 January 2006"))
	return page
}
