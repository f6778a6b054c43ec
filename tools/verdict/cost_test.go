package verdict

import (
	"path/filepath"
	"testing"
	"time"

	"pihc/engine"
	"pihc/experiment"
	"pihc/internal/dataset"
	"pihc/model"
)

// BenchmarkEstimate compares the time of an estimate with that of a prediction as specs are shipped, by `hard` after one step of
// training, on one core. The estimate is that of a solution, for which all of its grids are needed.
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
			for b.Loop() {
				begin := time.Now()
				if err := e.Predict(engine.Batch{Inputs: s.Inputs, Seeds: s.Seeds}, func(int, *engine.Prediction) error { return nil }); err != nil {
					b.Fatal(err)
				}
				predict := time.Since(begin)
				for i, inputs := range s.Inputs {
					v, err := s.Truth(i)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := estimator.Estimate(v, inputs); err != nil {
						b.Fatal(err)
					}
				}
				estimate := time.Since(begin) - predict
				b.ReportMetric(1000*predict.Seconds()/count, "ms/prediction")
				b.ReportMetric(1000*estimate.Seconds()/count, "ms/estimate")
				b.ReportMetric(estimate.Seconds()/predict.Seconds(), "estimate/prediction")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}
