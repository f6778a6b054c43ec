package experiment

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pihc/data"
	"pihc/internal/disk"
	"pihc/internal/inverse"
	"pihc/internal/words"
	"pihc/pde"
	"pihc/report"
)

// An Estimate is a number and the ends of its 95 % interval, nil where the data set none.
type Estimate struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// String is "3 to 5", "3 or more", "5 or less" or "any".
func (e Estimate) String() string {
	switch {
	case e.Low == nil && e.High == nil:
		return "any"
	case e.Low == nil:
		return fmt.Sprintf("%.5g or less", *e.High)
	case e.High == nil:
		return fmt.Sprintf("%.5g or more", *e.Low)
	}
	return fmt.Sprintf("%.5g to %.5g", *e.Low, *e.High)
}

// Estimate returns that of number j of Names, 0 where a positive number is best at its end, with the profile-likelihood interval, and that of Gauss and Newton.
func (v *Inversion) Estimate(j int) (profile, gaussNewton Estimate) {
	p, f := &v.parameters[j], v.fit
	if v.Interrupted {
		return Estimate{Value: p.Value(f.Coordinates[j])}, Estimate{}
	}
	x, half := f.Refined[j], normal95*f.Deviations[j]
	end := func(side float64) *float64 {
		if v := p.Value(side); !math.IsInf(side, 0) && !math.IsInf(v, 0) {
			return &v
		}
		return nil
	}
	value := p.Value(x)
	if f.Ends[j] < 0 {
		value = 0
	}
	at := func(low, high float64) Estimate { return Estimate{value, end(low), end(high)} }
	if f.Ends[j] != 0 { // no parabola is there
		half = math.Inf(1)
	}
	return at(f.Low[j], f.High[j]), at(x-half, x+half)
}

// JSON is the result of `pihc invert --json`.
func (v *Inversion) JSON() map[string]any {
	f, n := v.fit, len(v.parameters)
	if v.Interrupted {
		last := map[string]Estimate{}
		for j, p := range v.parameters {
			last[p.Name], _ = v.Estimate(j)
		}
		return map[string]any{
			"converged": false, "estimates": last, "chi_squared": map[string]any{"value": data.Float(f.ChiSquared)},
			"grid": f.Grid.Shape(), "iterations": f.Iterations, "seconds": v.Seconds,
		}
	}
	estimates, gaussNewton, correlation, unseen := map[string]Estimate{}, map[string]Estimate{}, map[string]map[string]data.Float{}, []string{}
	for j, p := range v.parameters {
		estimates[p.Name], gaussNewton[p.Name] = v.Estimate(j)
		correlation[p.Name] = map[string]data.Float{}
		for k, q := range v.parameters {
			correlation[p.Name][q.Name] = data.Float(f.Correlation[j*n+k])
		}
	}
	for _, u := range f.Unseen {
		unseen = append(unseen, u.Text)
	}
	return map[string]any{
		"converged": true, "starts": v.startsJSON(),
		"estimates": estimates, "gauss_newton": gaussNewton, "correlation": correlation, "outstanding": append([]int{}, f.Outstanding...),
		"chi_squared": map[string]any{"value": data.Float(f.ChiSquared), "degrees": f.Degrees, "p": data.Float(f.P), "parts": partsJSON(f.Parts), "moved": data.Float(f.ChiMoved)},
		"unseen":      unseen, "iterations": f.Iterations, "seconds": v.Seconds,
		"rejected": v.Rejected(), "warnings": append([]string{}, v.Warnings...),
	}
}

// Agreement says whether data and equation agree.
func (v *Inversion) Agreement() string {
	f := v.fit
	text := fmt.Sprintf("chi-squared %.4g of %d degrees, p = %.2g", f.ChiSquared, f.Degrees, f.P)
	switch {
	case v.Interrupted:
		return "interrupted: whether data and equation agree was not looked at"
	case f.Degrees <= 0:
		return "as many numbers as observations: nothing tells whether data and equation agree"
	case v.Rejected():
		return "the data reject this fit (" + text + "): the equation, what is held fixed or the sigmas are wrong, or this is not the best fit; the intervals below mean nothing"
	case f.P < inverse.Doubtful:
		return text + undecided(f.ChiMoved)
	case 1-f.P < inverse.Doubtful:
		return text + ": the residuals are smaller than the sigmas say, and the intervals too wide"
	}
	return text + ": data and equation agree"
}

// Lines say what was found: first whether data and equation agree, then estimates, and what else is to be known of them.
func (v *Inversion) Lines() []string {
	if v.Interrupted {
		return v.interruptedLines()
	}
	lines := []string{v.Agreement()}
	if v.Rejected() {
		lines = append(lines, partLines(v.fit.Parts)...)
	}
	lines = append(lines, v.startLines()...)
	width := 0
	for _, p := range v.parameters {
		width = max(width, len(p.Name))
	}
	for j, p := range v.parameters {
		e, g := v.Estimate(j)
		text := fmt.Sprintf("%-*s  %.5g", width, p.Name, e.Value)
		switch {
		case v.fit.Held[j]:
			lines = append(lines, text+"   not fitted: its derivative is zero")
			continue
		case math.IsInf(v.fit.Deviations[j], 1):
			lines = append(lines, text+"   not seen by itself")
			continue
		case v.fit.Ends[j] > 0:
			text += " and beyond"
		}
		interval := "95 % " + e.String()
		if v.fit.Lost[j] {
			interval = "an end of its interval was not found"
		}
		if text += "   " + interval; v.fit.Ends[j] == 0 {
			text += fmt.Sprintf("   (Gauss-Newton %s)", g)
		}
		lines = append(lines, text)
	}
	for _, u := range v.fit.Unseen {
		lines = append(lines, "unseen: "+u.Text)
	}
	if text := v.correlations(); text != "" {
		lines = append(lines, "correlation: "+text)
	}
	shown, more := words.Most(v.fit.Outstanding)
	for _, i := range shown {
		lines = append(lines, "stands out: "+v.observation(i))
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("stand out: %d more", more))
	}
	return lines
}

// correlations lists those above a half.
func (v *Inversion) correlations() string {
	n := len(v.parameters)
	var all []string
	for j := range n {
		for k := range j {
			if r := v.fit.Correlation[j*n+k]; math.Abs(r) > 0.5 && !math.IsInf(v.fit.Deviations[j]+v.fit.Deviations[k], 1) {
				all = append(all, fmt.Sprintf("%s, %s %.3f", v.parameters[k].Name, v.parameters[j].Name, r))
			}
		}
	}
	return words.ListBy("; ", all)
}

func (v *Inversion) observation(i int) string {
	o := v.observations[i]
	var at []string
	for a, x := range o.At {
		at = append(at, fmt.Sprintf("%s = %.4g", v.Problem.Axes[a].Name, x))
	}
	return fmt.Sprintf("observation %d (%s): %.4g, where the fit has %.4g and sigma is %.2g", i, strings.Join(at, ", "), o.Value, v.fit.Predicted[i], o.Sigma)
}

// InversionFolder is an error unless the files of an inversion may be written to a folder.
func InversionFolder(dir string, overwrite bool, reads ...string) error {
	for _, file := range []struct {
		name string
		ours func(path string) bool
	}{{"estimates.json", isEstimates}, {"observations.csv", isFitted}, {"field.npz", isInvertedField}} {
		if err := (disk.Output{Path: filepath.Join(dir, file.name), Kind: "file of an inversion", Ours: file.ours, Force: overwrite, Reads: reads, Makes: true}).Check(); err != nil {
			return err
		}
	}
	return report.CheckFile(filepath.Join(dir, "report.html"), overwrite)
}

// isEstimates reports whether a file is the estimates.json of an inversion.
func isEstimates(path string) bool {
	var f map[string]any
	if disk.ReadJSON(path, &f) != nil {
		return false
	}
	for _, key := range []string{"converged", "chi_squared", "iterations", "seconds"} {
		if _, ok := f[key]; !ok {
			return false
		}
	}
	return true
}

// isFitted reports whether a file is the observations.csv of an inversion.
func isFitted(path string) bool {
	text, err := disk.ReadFile(path)
	head, _, _ := strings.Cut(string(text), "\n")
	return err == nil && strings.HasSuffix(head, ",value,sigma,unknown,experiment,"+strings.Join(ofFit, ","))
}

// isInvertedField reports whether a file is the field.npz of an inversion.
func isInvertedField(path string) bool {
	names := disk.ArrayNames(path)
	return !slices.ContainsFunc([]string{"value", "sigma", "low", "high"}, func(name string) bool { return !slices.Contains(names, name) })
}

// Write writes estimates.json, observations.csv (every observation with the fit's value and its standard deviation) and the page
// report.html to a folder, where InversionFolder allows it.
func (v *Inversion) Write(dir string, overwrite bool, reads ...string) error {
	if v.Interrupted {
		return errors.New("the inversion was interrupted: it has the best numbers until then (Lines, JSON), and no fit to write")
	}
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
		return encodeObservations(w, v.Problem, v.observations, v.fit.Predicted, v.fit.Spread)
	}); err != nil {
		return err
	}
	page := v.Page()
	page.Overwrite = overwrite
	return page.Write(filepath.Join(dir, "report.html"))
}

// encodeObservations writes observations with the fit's values and their deviations as CSV.
func encodeObservations(w io.Writer, p *pde.Problem, observations []inverse.Observation, predicted, spread []float64) error {
	out := csv.NewWriter(w)
	rows := [][]string{slices.Concat(p.AxisNames(), []string{"value", "sigma", "unknown", "experiment"}, ofFit)}
	for i, o := range observations {
		var row []string
		for _, x := range append(slices.Clone(o.At), o.Value, o.Sigma) {
			row = append(row, strconv.FormatFloat(x, 'g', -1, 64))
		}
		row = append(row, p.Unknowns[o.Unknown].Name, strconv.Itoa(o.Experiment))
		for _, x := range []float64{predicted[i], spread[i]} {
			row = append(row, strconv.FormatFloat(x, 'g', -1, 64))
		}
		rows = append(rows, row)
	}
	return out.WriteAll(rows)
}
