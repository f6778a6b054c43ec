package model

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// Repeat against passes asked for one by one: it stops by its rule, goes on from the
// pass with the lowest loss, and does not care how many samples it holds together.
func TestRepeat(t *testing.T) {
	for _, directions := range []int{0, 2} {
		t.Run(fmt.Sprintf("directions %d", directions), func(t *testing.T) { testRepeat(t, directions) })
	}
}

func testRepeat(t *testing.T, directions int) {
	e := flowEngine[float64](t, MoE, 1, "constraint.points=0", "loss.border_jump=0", fmt.Sprintf("constraint.directions=%d", directions))
	params := InitialParams[float64](e.info)
	batch := flowBatch(t, e, 3)
	predict := func(b Batch) (field []float64, loss float64) {
		if err := e.Predict(params, b, func(_ int, p *Prediction) error {
			field, loss = slices.Clone(p.Field), p.Loss
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return field, loss
	}
	type outcome struct {
		field    []float64
		passes   int
		residual float64
	}
	run := func(o RepeatOptions) (out []outcome) {
		t.Helper()
		r, err := Repeat[float64](e, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Predict(params, batch, func(i int, p *Prediction) error {
			if i != len(out) {
				t.Fatalf("sample %d after %d", i, len(out))
			}
			out = append(out, outcome{slices.Clone(p.Field), p.Passes, p.Residual})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	const limit = 12
	got := run(RepeatOptions{Limit: limit, Together: 1})
	for i := range batch.Initial {
		one := Batch{Initial: batch.Initial[i : i+1], Seeds: batch.Seeds[i : i+1], Pass: 1}
		field, loss := predict(one)
		fields, losses := [][]float64{field}, []float64{loss}
		still := slices.Repeat(batch.Initial[i], len(field)/len(batch.Initial[i]))
		led := [][]float64{difference(field, still)}
		for len(losses) < limit-1 {
			if n := len(losses); n > repeatPatience && slices.Min(losses[n-repeatPatience:]) >= (1-repeatFall)*slices.Min(losses[:n-repeatPatience]) {
				break
			}
			one.Pass, one.Previous, one.Directions = 2, [][]float64{field}, [][][]float64{led}
			field, loss = predict(one)
			led = slices.Insert(led, 0, difference(field, fields[len(fields)-1]))[:min(len(led)+1, max(directions, 1))]
			fields, losses = append(fields, field), append(losses, loss)
		}
		best := slices.Index(losses, slices.Min(losses))
		one.Pass, one.Previous, one.Directions = 3, fields[best:best+1], [][][]float64{led}
		field, loss = predict(one)
		want := math.Sqrt(loss / e.loss.Evaluate(make([]float64, 1), still, batch.Initial[i], nil, 0))
		if !slices.Equal(got[i].field, field) || got[i].passes != best+2 || got[i].residual != want {
			t.Errorf("sample %d: %d passes, residual %g; want %d and %g of losses %g", i, got[i].passes, got[i].residual, best+2, want, losses)
		}
		if best == 0 {
			t.Errorf("sample %d: the first pass has the lowest loss: nothing is tested", i)
		}
	}
	for i, x := range run(RepeatOptions{Limit: limit, Together: 2}) {
		if !slices.Equal(x.field, got[i].field) || x.passes != got[i].passes {
			t.Errorf("sample %d differs when two are held together", i)
		}
	}
	for i, x := range run(RepeatOptions{Limit: limit, Tolerance: 1e3, Together: 2}) {
		if x.passes != 2 {
			t.Errorf("sample %d: %d passes where the first meets the tolerance", i, x.passes)
		}
	}
}

func difference(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - b[i]
	}
	return out
}

// The corrections of earlier passes lower the residual that a number of passes leaves, and
// the passes of one call are those asked for one by one.
func TestDirectionsLowerResidual(t *testing.T) {
	residual := map[int]float64{}
	for _, directions := range []int{0, 1, 3} {
		e := flowEngine[float64](t, Hard, 1, "constraint.points=0", "network.passes=6", fmt.Sprintf("constraint.directions=%d", directions))
		params := InitialParams[float64](e.info)
		batch := flowBatch(t, e, 2)
		var want [][]float64
		if err := e.Predict(params, batch, func(_ int, p *Prediction) error {
			residual[directions] += p.Loss
			want = append(want, slices.Clone(p.Field))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for i := range batch.Initial {
			one := Batch{Initial: batch.Initial[i : i+1], Seeds: batch.Seeds[i : i+1]}
			var led [][]float64
			before := slices.Repeat(batch.Initial[i], len(want[i])/len(batch.Initial[i]))
			for one.Pass = 1; one.Pass <= 6; one.Pass++ {
				if err := e.Predict(params, one, func(_ int, p *Prediction) error {
					led = slices.Insert(led, 0, difference(p.Field, before))[:min(len(led)+1, max(directions, 1))]
					before = slices.Clone(p.Field)
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				one.Previous, one.Directions = [][]float64{before}, [][][]float64{led}
			}
			if !slices.Equal(before, want[i]) {
				t.Errorf("directions %d, sample %d: passes one by one differ", directions, i)
			}
		}
	}
	if !(residual[1] < residual[0]) || !(residual[3] < residual[1]) {
		t.Errorf("losses after six passes: %v; want less with more directions", residual)
	}
}

func TestRepeatNeedsPasses(t *testing.T) {
	e := flowEngine[float64](t, Soft, 1, "network.passes=2")
	if _, err := Repeat[float64](e, RepeatOptions{Limit: 5}); err == nil || !strings.Contains(err.Error(), "network.passes: 2: want 3 at least") {
		t.Errorf("%v", err)
	}
}
