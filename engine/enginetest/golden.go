package enginetest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"

	"pihc/engine"
	"pihc/model"
)

//go:embed testdata/golden.json
var stored []byte

// rounding is the least scale of a mean square: that of rows which hold for every field is rounding.
const rounding = 1e-18

// goldenTolerance is the relative difference from stored results that another order
// of sums may make: solves multiply rounding by the condition of their rows.
const goldenTolerance = 1e-7

// golden is a case's result in few numbers.
type golden struct {
	Loss        float64   `json:"loss"`
	MeanSquares []float64 `json:"mean_squares"`
	JumpSquare  float64   `json:"jump_square"`
	// Root mean squares, and projections on random directions of that length.
	Gradient [4]float64 `json:"gradient"`
	Field    [4]float64 `json:"field"` // of the last sample
}

// project returns the root mean square of x and its projections on three random
// directions.
func project(x []float64) (out [4]float64) {
	rng := rand.New(rand.NewPCG(11, 12))
	n := math.Sqrt(float64(len(x)))
	for _, v := range x {
		out[0] += v * v
		for j := 1; j < len(out); j++ {
			out[j] += v * rng.NormFloat64() / n
		}
	}
	out[0] = math.Sqrt(out[0]) / n
	return out
}

// measure returns a case's result.
func (s *setup) measure() (g golden, err error) {
	err = with(s, engine.Options{}, func(e engine.Engine[float64], _ *model.Spec) error {
		r, err := evaluate(e, params(e), s.batch)
		if err != nil {
			return err
		}
		all, err := predict(e, params(e), s.batch)
		if err != nil {
			return err
		}
		g = golden{r.stats.Loss, r.stats.MeanSquares, r.stats.JumpSquare, project(r.grad), project(all[len(all)-1].Field)}
		return nil
	})
	return g, err
}

// checkGolden compares a case with its stored result.
func checkGolden(s *setup) error {
	all := map[string]golden{}
	if err := json.Unmarshal(stored, &all); err != nil {
		return err
	}
	want, ok := all[s.name]
	if !ok {
		return fmt.Errorf("no result is stored; write it with go test ./engine/enginetest -regenerate")
	}
	got, err := s.measure()
	if err != nil {
		return err
	}
	type number struct {
		what             string
		got, want, scale float64
	}
	numbers := []number{{"loss", got.Loss, want.Loss, want.Loss}, {"mean square jump", got.JumpSquare, want.JumpSquare, want.JumpSquare}}
	for i, v := range want.MeanSquares {
		scale := v
		if v > 0 {
			scale = max(v, rounding)
		}
		numbers = append(numbers, number{fmt.Sprint("mean square ", i), got.MeanSquares[i], v, scale})
	}
	for i := range want.Gradient {
		numbers = append(numbers, number{fmt.Sprint("gradient ", i), got.Gradient[i], want.Gradient[i], want.Gradient[0]},
			number{fmt.Sprint("field ", i), got.Field[i], want.Field[i], want.Field[0]})
	}
	for _, n := range numbers {
		if !(math.Abs(n.got-n.want) <= goldenTolerance*n.scale) {
			return fmt.Errorf("%s is %.12g, stored %.12g", n.what, n.got, n.want)
		}
	}
	return nil
}
