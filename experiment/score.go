package experiment

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pihc/data"
	"pihc/grid"
	"pihc/internal/disk"
	"pihc/internal/words"
	"pihc/model"
	"pihc/score"
	"pihc/train"
)

// metricsVersion changes when an evaluation says more than before that reports show; these score
// runs with metrics of another version again.
const metricsVersion = 10

// Metrics is metrics.json: an evaluation and how it came about. RelativeL2.Mean is the mean relative L2 error; RelativeL2 is
// nil of samples without solutions, as those of training are.
type Metrics struct {
	Version int `json:"version"`
	score.Evaluation
	Split       string  `json:"split"`
	Checkpoint  string  `json:"checkpoint"` // SHA-256 of its tensors
	Step        int     `json:"step"`
	Points      int     `json:"points"` // per expert, 0 for all
	Tolerance   float64 `json:"tolerance"`
	DatasetHash string  `json:"dataset_hash"`
	// What is not as trained beyond points, tolerance and grid.
	Set          []string `json:"set,omitempty"`           // values of --set
	Repeat       string   `json:"repeat,omitempty"`        // passes where not as trained; "auto": each sample has its own number
	TrustedEdits []string `json:"trusted_edits,omitempty"` // files of the run folder that are not those of its training
}

// Edits says which files of the run folder were used though they are not those of its training.
func (m *Metrics) Edits() string { return editsText(m.TrustedEdits) }

// ScoreOptions say what is scored, and how.
type ScoreOptions struct {
	Evaluation
	Data    string               // folder of the dataset; "": the one of training
	Split   string               // of the dataset; "": test
	Samples int                  // the first so many; 0: all
	Done    func(*Metrics) error // called after every grid, with the scores so far; nil: nobody
}

// Score predicts the samples of a split and scores them against its solutions: on the grid of the options, or on the run's
// own and those of data.test.grids in its spec.
func (r *Run) Score(ctx context.Context, o ScoreOptions) (*Metrics, error) {
	o.Split = cmp.Or(o.Split, "test")
	set, err := r.Dataset(o.Data)
	if err != nil {
		return nil, err
	}
	if err := o.Agree(r.Spec, r.Problem, [2]string{"dataset", set.Checksum}); err != nil {
		return nil, err
	}
	if err := r.checkData(set); err != nil {
		return nil, err
	}
	for _, s := range r.overrides {
		if strings.HasPrefix(s, "data.test.grids") && (o.Split != "test" || len(o.Grid) > 0) {
			return nil, words.WithHint(usagef("--set %s: these grids are scored beside the run's own, on test samples", s), "leave out --grid and --split")
		}
	}
	m, err := r.scoreOn(ctx, set, &o)
	if err != nil {
		return nil, err
	}
	o.warnEdits(nil, r.Dir, m.TrustedEdits) // TrustedEdits say it
	done := func() error {
		m.Set = r.overrides
		if o.Done == nil {
			return nil
		}
		return o.Done(m)
	}
	if err := done(); err != nil || len(o.Grid) > 0 || o.Split != "test" {
		return m, err
	}
	return m, r.scoreGrids(ctx, m, set, o, done)
}

// scoreOn scores a run on one grid.
func (r *Run) scoreOn(ctx context.Context, set *data.Dataset, o *ScoreOptions) (*Metrics, error) {
	e, err := r.open(o.Evaluation, "eval")
	if err != nil {
		return nil, err
	}
	defer e.Close()
	return r.score(ctx, set, e, o)
}

// score scores an open predictor.
func (r *Run) score(ctx context.Context, set *data.Dataset, e Predictor, o *ScoreOptions) (*Metrics, error) {
	g, spec := e.Info().Grid, e.Info().Spec
	samples, err := LoadSamples(set, o.Split, r.Problem, g, o.Samples)
	if err != nil {
		return nil, err
	}
	bar := o.Stage(fmt.Sprintf("evaluate %s on %s", model.MethodLabel(spec.Method), words.Shape(g.Shape())), len(samples.Inputs))
	defer bar.End()
	samples.ReferenceError, samples.Workers, samples.NoEstimates = referenceError(set, o.Split, g), o.Workers, o.NoEstimates
	result, err := e.Evaluate(samples, bar.While(ctx, nil))
	if err != nil {
		return nil, err
	}
	if result.TrainSeconds, err = r.TrainSeconds(); err != nil {
		return nil, err
	}
	if linear, err := interpolation(r.Problem, g, samples); err == nil && linear != nil { // a baseline less, and no reason for no scores
		result.Interpolation = linear.Evaluation.RelativeL2
	}
	m := &Metrics{
		Version: metricsVersion, Evaluation: *result, Split: o.Split,
		Step: e.Meta().Step, Checkpoint: e.Meta().TensorsHash, DatasetHash: set.Checksum, TrustedEdits: e.Meta().Edited,
		Repeat: e.Repeat(),
	}
	if spec.Method != model.Soft {
		m.Points, m.Tolerance = spec.Constraint.Points, spec.Constraint.Tolerance
	}
	return m, nil
}

// referenceError is what generate measured of a split's solutions; 0 where it did not, or where
// others are scored against, on another grid.
func referenceError(set *data.Dataset, split string, g *grid.Grid) float64 {
	s, err := set.Split(split)
	if err != nil || !slices.Equal(s.GridShape(), g.Shape()) {
		return 0
	}
	v, _ := strconv.ParseFloat(set.Metadata["reference_error"], 64)
	return v
}

// scoreGrids adds the evaluations on the further grids of the spec that m lacks,
// one engine at a time, and calls done after each.
func (r *Run) scoreGrids(ctx context.Context, m *Metrics, set *data.Dataset, o ScoreOptions, done func() error) error {
	grids, err := r.Spec.EvaluationGrids(r.Problem)
	if err != nil {
		return err
	}
	have, most := m.Grids, o.Samples
	m.Grids = nil
	for _, g := range grids {
		at := slices.IndexFunc(have, func(x score.Evaluation) bool { return slices.Equal(x.Grid, g.Shape()) })
		if at >= 0 {
			m.Grids = append(m.Grids, have[at])
			continue
		}
		o.Grid, o.Samples = g.PointsByName(), most
		if g.Samples > 0 && (most == 0 || g.Samples < most) {
			o.Samples = g.Samples
		}
		other, err := r.scoreOn(ctx, set, &o)
		if err != nil {
			return fmt.Errorf("on %s: %w", words.Shape(g.Shape()), err)
		}
		other.TrainSeconds = 0
		m.Grids = append(m.Grids, other.Evaluation)
		if err := done(); err != nil {
			return err
		}
	}
	return nil
}

// storedMetrics returns the evaluation of the whole test split in the run
// folder, if it is of this checkpoint, dataset and settings. Further grids may be
// missing. One that was altered is not used, and named.
func (r *Run) storedMetrics(e Predictor, set *data.Dataset, warn func(format string, args ...any)) (*Metrics, bool) {
	var m Metrics
	path := train.Folder(r.Dir).MetricsFile()
	if err := disk.ReadSealedJSON(path, &m); err != nil {
		var older struct{ Version int }
		if text, _ := disk.ReadFile(path); len(text) > 0 && (json.Unmarshal(text, &older) != nil || older.Version >= metricsVersion) {
			warn("%v; the run is scored again", err)
		}
		return nil, false
	}
	split, err := set.Split("test")
	if err != nil {
		return nil, false
	}
	same := m.Version == metricsVersion && m.Split == "test" && m.Samples == split.Count && m.Checkpoint == e.Meta().TensorsHash &&
		m.DatasetHash == set.Checksum && slices.Equal(m.Grid, e.Info().Grid.Shape()) &&
		len(m.Set) == 0 && m.Repeat == e.Repeat() && len(m.TrustedEdits) == 0 && len(e.Meta().Edited) == 0
	if spec := e.Info().Spec; spec.Method != model.Soft {
		same = same && m.Points == spec.Constraint.Points && m.Tolerance == spec.Constraint.Tolerance
	}
	return &m, same
}

// editsText says which files of a run folder were used though they are not those of its training.
func editsText(files []string) string {
	return fmt.Sprintf("not the %s of its training (--trust-edits)", strings.Join(files, " and "))
}

// warnEdits names the files of a run folder that were trusted.
func (o Options) warnEdits(to *[]string, dir string, files []string) {
	if len(files) > 0 {
		o.warn(to, "run %s: %s", dir, editsText(files))
	}
}
