package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pihc/model"
	"pihc/pde"
)

// Several samples side by side have the bits that one engine gives, with one pass and several, experts and segments of the time, whatever the number of threads.
func TestSeveral(t *testing.T) {
	problem := strings.ReplaceAll(stiff, "POWER", "1")
	for _, overrides := range [][]string{
		{"method=soft"}, {"method=hard"}, {"method=moe"}, {"method=moe", "rollout=2", "constraint.experts={t: 2}"}, {"method=hard", "network.passes=1", "network.features={}"},
	} {
		t.Run(strings.Join(overrides, " "), func(t *testing.T) {
			spec, p := specFor(t, problem, strings.ReplaceAll(stiffSpec, "METHOD", "moe"), append(overrides, "network.precision=float32")...)
			want := evaluated(t, spec, p, Options{Workers: 1}, 5)
			for _, o := range []Options{{Workers: 2, Samples: 2}, {Workers: 4, Samples: 5}, {Workers: 3, Samples: 3}} {
				if got := evaluated(t, spec, p, o, 5); got != want {
					t.Errorf("%d threads, %d samples side by side: %s\nwant %s", o.Workers, sideBySide(o.Samples, o.Workers), got, want)
				}
			}
		})
	}
}

// evaluated says what an engine makes of a batch, twice, all bits of it.
func evaluated(t *testing.T, spec *model.Spec, p *pde.Problem, o Options, samples int) string {
	t.Helper()
	e, err := New[float32](spec, p, o)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, ok := e.(*several[float32]); ok != (o.Samples > 1) {
		t.Fatalf("several engines: %v", ok)
	}
	info := e.Info()
	batch, params, fields := drawn(t, info, samples), InitialParams[float32](info), 0.0
	if spec.Rollout < 2 {
		batch.Field = func(i int, field []float64) {
			for p, v := range field {
				fields += v * float64(i+p+1)
			}
		}
	}
	var b strings.Builder
	for range 2 {
		for pass := range spec.Network.Passes {
			batch.Pass = pass + 1
			grad := make([]float32, len(params))
			stats, err := e.LossAndGrad(grad, params, batch)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for i, v := range grad {
				sum += float64(v) * float64(1+i%97)
			}
			fmt.Fprintf(&b, "%x %x %x; ", stats, sum, fields)
		}
		next := 0
		if err := e.Predict(params, Batch{Inputs: batch.Inputs, Seeds: batch.Seeds}, func(i int, p *Prediction) error {
			if i != next {
				t.Errorf("sample %d after %d", i, next-1)
			}
			next++
			sum := 0.0
			for p, v := range p.Field {
				sum += v * float64(p+1)
			}
			fmt.Fprintf(&b, "%x %x; ", sum, p.Loss)
			return nil
		}); err != nil || next != samples {
			t.Fatalf("%d predictions: %v", next, err)
		}
	}
	return b.String()
}

// An error of the caller ends a batch, and the engine goes on with the next one; so does one that is called off.
func TestSeveralEnds(t *testing.T) {
	spec, p := specFor(t, strings.ReplaceAll(stiff, "POWER", "1"), strings.ReplaceAll(stiffSpec, "METHOD", "hard"), "network.precision=float32")
	e, err := New[float32](spec, p, Options{Workers: 2, Samples: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	batch, params := drawn(t, e.Info(), 6), InitialParams[float32](e.Info())
	wrong := errors.New("wrong")
	for range 3 {
		var seen []int
		err := e.Predict(params, batch, func(i int, _ *Prediction) error {
			if seen = append(seen, i); i == 2 {
				return wrong
			}
			return nil
		})
		if !errors.Is(err, wrong) || !slices.Equal(seen, []int{0, 1, 2}) {
			t.Errorf("%v after samples %v", err, seen)
		}
	}
	done := make(chan struct{})
	close(done)
	ended := batch
	ended.Done = done
	if _, err := e.LossAndGrad(make([]float32, len(params)), params, ended); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := e.LossAndGrad(make([]float32, len(params)), params, batch); err != nil {
		t.Errorf("%v", err)
	}
}

// Samples side by side have a thread each where there are as many, and several where there are fewer.
func TestSideBySide(t *testing.T) {
	for _, c := range []struct{ samples, threads, want int }{{1, 16, 1}, {0, 2, 1}, {4, 1, 1}, {4, 2, 2}, {2, 2, 2}, {4, 16, 4}, {6, 4, 2}, {32, 16, 16}, {5, 2, 2}} {
		if got := sideBySide(c.samples, c.threads); got != c.want {
			t.Errorf("%d samples, %d threads: %d, want %d", c.samples, c.threads, got, c.want)
		}
	}
}
