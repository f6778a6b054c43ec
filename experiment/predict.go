package experiment

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"pihc/data"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/disk"
	"pihc/internal/words"
	"pihc/pde"
	"pihc/score"
)

// Predictions are fields that a run computed for inputs, and what is known of them.
type Predictions struct {
	Grid     *grid.Grid
	Unknowns []string
	Fields   [][]float64 // per unknown: (sample, t, x[, y]), one sample after another, Grid.Size() values each
	// ResidualOverRate is, per sample, the rms of the residual over that of the prediction's own derivative in time, or of the
	// residual's first term where it has none.
	ResidualOverRate []float64
	// Passes and RelativeLoss are, per sample, the passes of the network and the root of the loss over that of the field
	// that keeps its initial values; nil where every sample has as many passes.
	Passes, RelativeLoss []float64
	// Verdict is on all of them (score.Judge), from ErrorEstimate: per sample the estimate of the relative L2 distance from the solution of the
	// equation. GridError is that of the solution of the rows on this grid, and RowsError the prediction's distance from that. NaN is not known.
	Verdict                             string
	ErrorEstimate, GridError, RowsError []float64
	Edited                              []string // files of the run folder that are not those of its training
	Warnings                            []string // of inputs unlike those of training, and of predictions that may be far off

	problem   *pde.Problem
	overwrite bool
	reads     []string // what Write does not replace
}

// Arrays are what `pihc predict` writes: the unknowns (sample, t, x[, y]), the coordinates of every axis, residual_over_rate, error_estimate,
// grid_error, rows_error, and passes and relative_loss where samples have their own.
func (p *Predictions) Arrays() []data.Named {
	n := len(p.ResidualOverRate)
	out := fieldArrays(p.Grid, p.Unknowns, p.Fields)
	add := func(name string, values []float64, shape ...int) {
		out = append(out, data.Named{Name: name, Array: data.NewArray(shape, values)})
	}
	add("residual_over_rate", p.ResidualOverRate, n)
	add("error_estimate", p.ErrorEstimate, n)
	add("grid_error", p.GridError, n)
	add("rows_error", p.RowsError, n)
	if p.Passes != nil {
		add("passes", p.Passes, n)
		add("relative_loss", p.RelativeLoss, n)
	}
	if len(p.Edited) > 0 {
		add(editsArray, []float64{float64(len(p.Edited))}, 1)
	}
	return out
}

// Edits says which files of the run folder were used though they are not those of its training.
func (p *Predictions) Edits() string { return editsText(p.Edited) }

// Write writes the arrays to a file in the format of its ending (data.WriteFields), whole or not at all. A file that is there and has other
// content than predictions of this problem stays, unless PredictOptions.Overwrite was set, and is an error.
func (p *Predictions) Write(path string) error {
	if err := p.check(path, len(p.ResidualOverRate)); err != nil {
		return err
	}
	return data.WriteFields(path, describedFields("predict", p.problem, p.Arrays()))
}

// check is an error for a file that predictions of so many samples are not written to.
func (p *Predictions) check(path string, samples int) error {
	return cmp.Or(p.output(path).Check(), fitsFormat(path, p.problem, p.Grid, samples, p.overwrite))
}

// output is a file for the predictions.
func (p *Predictions) output(path string) disk.Output {
	own := append([]string(nil), p.Unknowns...)
	for _, axis := range p.Grid.Axes {
		own = append(own, axis.Name)
	}
	kind := "file of predictions of this problem"
	if !strings.EqualFold(filepath.Ext(path), ".npz") { // an earlier output too
		kind = "NPZ " + kind
	}
	return disk.Output{Path: path, Kind: kind, Force: p.overwrite, Reads: p.reads, Ours: func(path string) bool {
		names := disk.ArrayNames(path)
		return len(names) > len(own) && slices.Equal(names[:len(own)], own) &&
			!slices.ContainsFunc(names[len(own):], func(name string) bool { return !slices.Contains(OfPredictions, name) })
	}}
}

// editsArray is the array with how many files of the run were edited.
const editsArray = "trusted_edits"

// OfPredictions are the arrays of predictions that are neither unknowns nor coordinates; those of older files had
// relative_residual and residual.
var OfPredictions = []string{"residual_over_rate", "error_estimate", "grid_error", "rows_error", "passes", "relative_loss", editsArray, "relative_residual", "residual"}

// PredictOptions say how a run predicts.
type PredictOptions struct {
	Evaluation
	Name       string // of the inputs, in messages; "" is "inputs"
	RemoveMean bool   // subtract the mean of every initial condition, in place
	Out        string // for Predictions.Write, of which it is known then before anything is computed whether it may; "": not known
	Overwrite  bool   // Predictions.Write replaces any file
}

// maxInitial bounds initial conditions, relative to those of training: far past
// them numbers come out that mean nothing.
const maxInitial = 1e4

// judge sets the verdict and warns of its reasons: those given, estimates, and why one is missing, if so.
func (p *Predictions) judge(reasons []string, why error, o Options) {
	var reason string
	p.Verdict, reason = score.Judge("error_estimate", p.ErrorEstimate)
	if p.Verdict == score.Trusted && len(reasons) > 0 {
		p.Verdict = score.Doubtful
	}
	if reason != "" {
		reasons = append(reasons, reason)
	}
	if why != nil {
		reasons = append(reasons, fmt.Sprintf("there is no estimate of the error: %v", why))
	}
	for _, line := range reasons {
		o.warn(&p.Warnings, "%s", line)
	}
}

// VerdictLine says the verdict, and the mean and the worst of the estimates.
func (p *Predictions) VerdictLine() string {
	return score.VerdictLine(p.Verdict, nil, score.Estimates{Error: p.ErrorEstimate, Grid: p.GridError, Rows: p.RowsError})
}

// checkInputs reports initial conditions that no prediction can be made for.
func (r *Run) checkInputs(inputs [][]float64, g *grid.Grid, o *PredictOptions) error {
	p := r.Problem
	if len(inputs) == 0 {
		return usagef("%s: no samples", o.Name)
	}
	for i, sample := range inputs {
		if len(sample) != p.InputSize(g) {
			return fmt.Errorf("%s, sample %d: %d values; want %d, those of %s on %s", o.Name, i, len(sample), p.InputSize(g), strings.Join(p.InputNames(), ", "), words.Shape(g.Shape()))
		}
		u0 := p.InitialOf(sample, g)
		if at := slices.IndexFunc(sample, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }); at >= 0 {
			return fmt.Errorf("%s, sample %d: value %d is %g", o.Name, i, at, sample[at])
		}
		if u0 == nil {
			continue
		}
		if o.RemoveMean {
			for i := range p.Initials() {
				n := len(u0) / p.Initials()
				subtractMean(u0[i*n : (i+1)*n])
			}
		}
		for _, u := range p.Unknowns {
			if u.Initial < 0 {
				continue
			}
			n := len(u0) / p.Initials()
			values, in := u0[u.Initial*n:(u.Initial+1)*n], p.Inputs[u.Initial]
			most := maxInitial * max(r.Spec.Network.ScaleOf(u.Name), math.Abs(r.Spec.Network.Centers[u.Name]), math.Abs(in.Sampler.Low), math.Abs(in.Sampler.High))
			if low, high := slices.Min(values), slices.Max(values); max(-low, high) > most {
				return words.WithHint(fmt.Errorf("%s, sample %d: values of %s range from %.3g to %.3g", o.Name, i, in.Name, low, high),
					"values up to %.3g are accepted: %g times the size of %s (network.scales, network.initial_scale), its network.centers or the ends of the PDE file's distribution", most, maxInitial, u.Name)
			}
		}
		if o.RemoveMean {
			continue
		}
		if err := dataset.CheckInitial(p, u0); err != nil {
			return words.WithHint(fmt.Errorf("%s, sample %d: %w", o.Name, i, err), "--remove-mean subtracts it")
		}
	}
	return nil
}

func subtractMean(u []float64) {
	mean := 0.0
	for _, v := range u {
		mean += v / float64(len(u))
	}
	for i := range u {
		u[i] -= mean
	}
}

// hashOf tells inputs apart.
func hashOf(inputs [][]float64) string {
	h := sha256.New()
	for _, sample := range inputs {
		binary.Write(h, binary.LittleEndian, sample) // a hash does not fail
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
