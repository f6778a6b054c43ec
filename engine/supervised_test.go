package engine

import (
	"math"
	"testing"

	"pihc/model"
)

// loss.data adds the relative mean square distance to a sample's solution, with its gradient,
// and nothing where a batch has none.
func TestSupervisedLoss(t *testing.T) {
	for _, method := range model.Methods {
		t.Run(method, func(t *testing.T) {
			const weight = 0.7
			e := toyEngine[float64](t, "diffusion-sorption", method, "mean-square", 2, 2, "loss.data=0.7")
			batch := toyBatch(e.InputSize(), 3)
			params := InitialParams[float64](e.Info())
			loss := func(b Batch) float64 {
				st, err := e.LossAndGrad(make([]float64, len(params)), params, b)
				if err != nil {
					t.Fatal(err)
				}
				return st.Loss
			}
			without := loss(batch)
			want := 0.0
			if err := e.Predict(params, batch, func(i int, p *Prediction) error {
				truth := make([]float64, len(p.Field))
				square, size := 0.0, 0.0
				for j := range truth {
					truth[j] = 0.5 + 0.3*math.Sin(float64(j+7*i))
					square += (p.Field[j] - truth[j]) * (p.Field[j] - truth[j])
					size += truth[j] * truth[j]
				}
				want += weight * square / size / 3
				batch.Truth = append(batch.Truth, truth)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if got := loss(batch) - without; math.Abs(got-want) > 1e-9*math.Abs(want) {
				t.Errorf("added %g, want %g", got, want)
			}
			worst, err := CheckGradient(e, batch, 2)
			if err != nil || worst > 1e-5 {
				t.Errorf("gradient: %g, %v", worst, err)
			}
		})
	}
}
