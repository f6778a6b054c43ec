package verdict

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pihc/engine"
	"pihc/experiment"
	"pihc/internal/dataset"
	"pihc/model"
)

// BenchmarkEstimate compares the time of an estimate with that of a prediction as specs are shipped, by `hard` after one step of
// training, on one core: what the estimate takes over what the prediction takes, of fields that are 1 % off and of solutions, for which
// all grids are needed.
//
//	GOMAXPROCS=1 go test ./tools/verdict -run '^$' -bench . -benchtime 1x
func BenchmarkEstimate(b *testing.B) {
	specs, err := filepath.Glob(filepath.Join("..", "..", "examples", "*", "spec.yaml"))
	if err != nil || len(specs) == 0 {
		b.Fatalf("no gallery: %v", err)
	}
	for _, spec := range append(specs, "diffusion-sorption-demo", "navier-stokes-demo") {
		name := spec
		if filepath.Ext(spec) != "" {
			name = filepath.Base(filepath.Dir(spec))
		}
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			x, err := experiment.Open(spec, "method="+model.Hard, "data.train.count=4", "data.validation.count=1", "data.test.count=2", "training.steps=1", "training.batch=1", "training.validate_count=1")
			if err != nil {
				b.Fatal(err)
			}
			o := experiment.Options{Workers: 1}
			if _, err := x.Generate(b.Context(), filepath.Join(dir, "data"), o); err != nil {
				b.Fatal(err)
			}
			run, err := x.Train(b.Context(), filepath.Join(dir, "run"), filepath.Join(dir, "data"), o)
			if err != nil {
				b.Fatal(err)
			}
			e, err := run.Open(experiment.Evaluation{Options: o})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			set, err := run.Dataset("")
			if err != nil {
				b.Fatal(err)
			}
			s, err := experiment.LoadSamples(set, "test", run.Problem, e.Info().Grid, 0)
			if err != nil {
				b.Fatal(err)
			}
			estimator, count := dataset.NewEstimator(run.Problem, e.Info().Grid), float64(len(s.Inputs))
			// estimate is the time of estimates for solutions that are made larger by a part.
			estimate := func(by float64) (total time.Duration) {
				for i, inputs := range s.Inputs {
					v, err := s.Truth(i)
					if err != nil {
						b.Fatal(err)
					}
					u := slices.Clone(v)
					for q := range u {
						u[q] *= 1 + by
					}
					begin := time.Now()
					if _, err := estimator.Estimate(u, inputs); err != nil {
						b.Fatal(err)
					}
					total += time.Since(begin)
				}
				return total
			}
			estimate(0) // makes the solvers
			for b.Loop() {
				begin := time.Now()
				if err := e.Predict(engine.Batch{Inputs: s.Inputs, Seeds: s.Seeds}, func(int, *engine.Prediction) error { return nil }); err != nil {
					b.Fatal(err)
				}
				predict := time.Since(begin)
				b.ReportMetric(1000*predict.Seconds()/count, "ms/prediction")
				b.ReportMetric(estimate(0.01).Seconds()/predict.Seconds(), "at-1%")
				b.ReportMetric(estimate(0).Seconds()/predict.Seconds(), "at-0%")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}
