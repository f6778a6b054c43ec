package engine

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pihc/constraint"
	"pihc/data"
	"pihc/internal/dataset"
	"pihc/internal/machine"
	"pihc/model"
	"pihc/pde"
)

// benchPredictions is an engine of a spec, and a function that predicts so many samples, a number of them at a time,
// untrained.
func benchPredictions(b *testing.B, workers int, name string, overrides ...string) (e Engine[float32], predict func(samples, together int)) {
	spec, err := model.OpenSpec(name, overrides...)
	if err != nil {
		b.Fatal(err)
	}
	p, err := pde.Open(spec.Problem)
	if err != nil {
		b.Fatal(err)
	}
	if e, err = New[float32](spec, p, Options{Workers: workers}); err != nil {
		b.Fatal(err)
	}
	info := e.Info()
	next, err := dataset.NewSampler(p, info.Grid)
	if err != nil {
		b.Fatal(err)
	}
	params := InitialParams[float32](info)
	return e, func(samples, together int) {
		for lo := 0; lo < samples; lo += together {
			var batch Batch
			for i := lo; i < min(lo+together, samples); i++ {
				sample := make([]float64, info.InputSize())
				if err := next(data.SampleRand(1, i), sample); err != nil {
					b.Fatal(err)
				}
				batch.Inputs, batch.Seeds = append(batch.Inputs, sample), append(batch.Seeds, constraint.Seed{})
			}
			if err := e.Predict(params, batch, func(int, *Prediction) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkPasses predicts one sample of navier-stokes-small untrained, with all rows and eight
// corrections of earlier passes as functions; cpu-ms/pass is processor time of a pass with its solve.
func BenchmarkPasses(b *testing.B) {
	for _, size := range [][2]int{{32, 12}, {128, 3}} {
		points, passes := size[0], size[1]
		b.Run(fmt.Sprint(points), func(b *testing.B) {
			e, predict := benchPredictions(b, 1, "navier-stokes-small", "method=hard", "constraint.points=0", "constraint.directions=8",
				fmt.Sprintf("network.passes=%d", passes), fmt.Sprintf("grid={t: 32, x: %d, y: %d}", points, points))
			defer e.Close()
			before := machine.CPUSeconds()
			for b.Loop() {
				predict(1, 1)
			}
			b.ReportMetric((machine.CPUSeconds()-before)*1e3/float64(b.N*passes), "cpu-ms/pass")
		})
	}
}

// BenchmarkBatches predicts sixteen samples of the demos one at a time and together, in turn; ratio is predictions a
// second together over those one at a time, of the least times.
func BenchmarkBatches(b *testing.B) {
	const samples = 16
	for _, name := range []string{"diffusion-sorption-demo", "navier-stokes-demo"} {
		for _, method := range []string{model.Soft, model.Hard, model.MoE} {
			for _, workers := range []int{1, 2} {
				b.Run(fmt.Sprint(name, "/", method, "/workers=", workers), func(b *testing.B) {
					e, predict := benchPredictions(b, workers, name, "method="+method)
					defer e.Close()
					least := [2]float64{math.Inf(1), math.Inf(1)}
					for b.Loop() {
						for i, together := range []int{1, samples} {
							begin := time.Now()
							predict(samples, together)
							least[i] = min(least[i], time.Since(begin).Seconds())
						}
					}
					b.ReportMetric(least[0]/samples*1e3, "ms-alone")
					b.ReportMetric(least[1]/samples*1e3, "ms-together")
					b.ReportMetric(least[0]/least[1], "ratio")
				})
			}
		}
	}
}
