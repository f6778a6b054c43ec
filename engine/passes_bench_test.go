package engine

import (
	"fmt"
	"testing"

	"pihc/constraint"
	"pihc/data"
	"pihc/internal/dataset"
	"pihc/internal/machine"
	"pihc/model"
	"pihc/pde"
)

// BenchmarkPasses predicts one sample of navier-stokes-small untrained, with all rows and eight
// corrections of earlier passes as functions; cpu-ms/pass is processor time of a pass with its solve.
func BenchmarkPasses(b *testing.B) {
	for _, size := range [][2]int{{32, 12}, {128, 3}} {
		points, passes := size[0], size[1]
		b.Run(fmt.Sprint(points), func(b *testing.B) {
			spec, err := model.OpenSpec("navier-stokes-small", "method=hard", "constraint.points=0", "constraint.directions=8",
				fmt.Sprintf("network.passes=%d", passes), fmt.Sprintf("grid={t: 32, x: %d, y: %d}", points, points))
			if err != nil {
				b.Fatal(err)
			}
			p, err := pde.Open(spec.Problem)
			if err != nil {
				b.Fatal(err)
			}
			e, err := New[float32](spec, p, Options{Workers: 1})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			info := e.Info()
			next, err := dataset.NewSampler(p, info.Grid)
			if err != nil {
				b.Fatal(err)
			}
			sample := make([]float64, info.InputSize())
			if err := next(data.SampleRand(1, 0), sample); err != nil {
				b.Fatal(err)
			}
			params, batch := InitialParams[float32](info), Batch{Inputs: [][]float64{sample}, Seeds: []constraint.Seed{{}}}
			before := machine.CPUSeconds()
			for b.Loop() {
				if err := e.Predict(params, batch, func(int, *Prediction) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((machine.CPUSeconds()-before)*1e3/float64(b.N*passes), "cpu-ms/pass")
		})
	}
}
