package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pihc/constraint"
	"pihc/grid"
	"pihc/internal/check"
	"pihc/internal/dataset"
	"pihc/model"
	"pihc/pde"
)

// Repeat against passes asked for one by one: it stops by its rule, goes on from the
// pass with the lowest loss, and does not care how many samples it holds together.
func TestRepeat(t *testing.T) {
	for _, directions := range []int{0, 2} {
		t.Run(fmt.Sprintf("directions %d", directions), func(t *testing.T) { testRepeat(t, directions) })
	}
}

func testRepeat(t *testing.T, directions int) {
	e := flowEngine[float64](t, model.MoE, 1, "constraint.points=0", "loss.border_jump=0", fmt.Sprintf("constraint.directions=%d", directions))
	params := InitialParams[float64](e.Info())
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
	for i := range batch.Inputs {
		fields, led, _ := settleByHand(t, e, params, batch.Inputs[i], nil, batch.Seeds[i], limit-1)
		best := len(fields)
		field, loss := predict(Batch{Inputs: batch.Inputs[i : i+1], Seeds: batch.Seeds[i : i+1], Pass: 3, Previous: fields[best-1:], Directions: [][][]float64{led}})
		still := slices.Repeat(batch.Inputs[i], len(field)/len(batch.Inputs[i]))
		kept, _ := e.loss.Evaluate(still, batch.Inputs[i])
		want := math.Sqrt(loss / kept)
		if !slices.Equal(got[i].field, field) || got[i].passes != best+1 || got[i].residual != want {
			t.Errorf("sample %d: %d passes, residual %g; want %d and %g", i, got[i].passes, got[i].residual, best+1, want)
		}
		if best == 1 {
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

// On a finer grid passes begin where those on the coarser ones end, here the same one twice,
// whatever the number of samples held together, and there is a limit to all.
func TestRepeatNested(t *testing.T) {
	const limit = 9
	override := []string{"constraint.points=0", "loss.border_jump=0", "constraint.directions=2"}
	e := flowEngine[float64](t, model.MoE, 1, override...)
	fine := flowEngine[float64](t, model.MoE, 1, append(override, fmt.Sprintf("grid={t: %d, x: %d, y: %d}", 2*e.Grid.Axes[0].Points, 2*e.Grid.Axes[1].Points, 2*e.Grid.Axes[2].Points))...)
	params := InitialParams[float64](e.Info())
	batch := flowBatch(t, fine, 3)
	for _, most := range []int{limit, 3 * limit} {
		var got [2][][]float64
		var passes, points []int
		for together := range got {
			r, err := Repeat[float64](fine, RepeatOptions{Limit: most, Together: together + 1}, e, e)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Predict(params, batch, func(_ int, p *Prediction) error {
				got[together] = append(got[together], slices.Clone(p.Field))
				if together == 0 {
					passes, points = append(passes, p.Passes), append(points, p.Points)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range batch.Inputs {
			if !slices.Equal(got[0][i], got[1][i]) {
				t.Errorf("sample %d differs when two are held together", i)
			}
			u0 := dataset.InputsOn(e.Problem, batch.Inputs[i], fine.Grid, e.Grid)
			first, _, used := settleByHand(t, e, params, u0, nil, batch.Seeds[i], most-1)
			second, _, more := settleByHand(t, e, params, u0, carried(e, e, first[len(first)-1], u0, u0), batch.Seeds[i], max(most-used, repeatPatience+1)-1)
			start := carried(e, fine, second[len(second)-1], u0, batch.Inputs[i])
			fields, led, last := settleByHand(t, fine, params, batch.Inputs[i], start, batch.Seeds[i], max(most-int(math.Ceil(float64((used+more)*e.Grid.Size())/float64(fine.Grid.Size()))), repeatPatience+1)-1)
			one := Batch{Inputs: batch.Inputs[i : i+1], Seeds: batch.Seeds[i : i+1], Pass: 3, Previous: fields[len(fields)-1:], Directions: [][][]float64{led}}
			if err := fine.Predict(params, one, func(_ int, p *Prediction) error {
				check.Close(t, got[0][i], p.Field, 0, 0)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if want := len(first) + len(second) + len(fields) + 1; passes[i] != want {
				t.Errorf("sample %d: %d passes, want %d", i, passes[i], want)
			}
			if want := (used+more)*e.Grid.Size() + (last+1)*fine.Grid.Size(); points[i] != want {
				t.Errorf("sample %d: %d points, want %d", i, points[i], want)
			}
		}
	}
}

// carried is a field of one grid as the passes of another begin with it.
func carried(from, to *cpu[float64], field, coarse, fine []float64) []float64 {
	before, out := make([]float64, from.FieldSize()), make([]float64, to.FieldSize())
	from.System.Offset(before, coarse)
	to.System.Offset(out, fine)
	for p, v := range grid.Resample(difference(field, before), from.Grid.Axes, to.Grid.Axes) {
		out[p] += v
	}
	return out
}

// Whatever the passes, grids and directions: where the multiplier of the ansatz is zero the field
// is its offset, for inputs that the coarser grid cannot hold and offsets that are not the initial
// condition at all times.
func TestRepeatMeetsAnsatz(t *testing.T) {
	for _, tt := range []struct{ example, coarse, fine, modes string }{
		{"fisher-kpp", "{t: 9, x: 16}", "{t: 9, x: 16}", "{t: 3, x: 4}"},
		{"fisher-kpp", "{t: 9, x: 16}", "{t: 9, x: 32}", "{t: 3, x: 4}"},
		{"burgers", "{t: 9, x: 16}", "{t: 17, x: 48}", "{t: 3, x: 4}"},
		{"fitzhugh-nagumo", "{t: 9, x: 16}", "{t: 9, x: 32}", "{t: 3, x: 4}"},
		{"laplace", "{x: 9, y: 12}", "{x: 9, y: 12}", "{x: 3, y: 4}"},
		{"laplace", "{x: 9, y: 12}", "{x: 17, y: 20}", "{x: 3, y: 4}"},
	} {
		file := "../examples/" + tt.example + "/problem.yaml"
		p, err := pde.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		on := func(grid string) *cpu[float64] {
			s, err := model.LoadSpec("spec", []byte("defaults: fitted\nproblem: "+file+"\n"), "method=hard", "grid="+grid, "network={width: 6, layers: 1, projection: 6, basis: 5, precision: float64, modes: "+tt.modes+"}", "constraint.directions=3", "constraint.points=0")
			if err == nil {
				err = s.Fit(p)
			}
			if err != nil {
				t.Fatal(err)
			}
			e, err := newCPU[float64](s, p, Options{Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(e.Close)
			return e
		}
		coarse, fine := on(tt.coarse), on(tt.fine)
		u0 := make([]float64, fine.System.InputSize())
		for i := range u0 {
			u0[i] = 0.1 + 0.05*math.Sin(float64(3*i*i))
		}
		offset, multiplier := make([]float64, fine.FieldSize()), fine.System.Multiplier()
		fine.System.Offset(offset, u0)
		var grids []Engine[float64]
		if tt.coarse != tt.fine {
			grids = append(grids, coarse)
		}
		r, err := Repeat[float64](fine, RepeatOptions{Limit: 12}, grids...)
		if err != nil {
			t.Fatal(err)
		}
		batch := Batch{Inputs: [][]float64{u0}, Seeds: make([]constraint.Seed, 1)}
		for _, e := range []Engine[float64]{r, fine} { // and the passes of training
			if err := e.Predict(InitialParams[float64](fine.Info()), batch, func(_ int, x *Prediction) error {
				met, moved := 0, 0.0
				for p, m := range multiplier {
					if d := math.Abs(x.Field[p] - offset[p]); m == 0 {
						if met++; d > 1e-12 {
							t.Errorf("%s on %s: value %d is %g from the ansatz", tt.example, tt.fine, p, d)
							return nil
						}
					} else {
						moved = max(moved, d)
					}
				}
				if met == 0 || moved == 0 {
					t.Errorf("%s on %s: nothing is tested", tt.example, tt.fine)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A sample that comes to nothing on the coarser grid begins on the finer one, with others that do not.
func TestRepeatNestedFailing(t *testing.T) {
	override := []string{"constraint.points=0", "loss.border_jump=0"}
	e := flowEngine[float64](t, model.MoE, 1, override...)
	fine := flowEngine[float64](t, model.MoE, 1, append(override, fmt.Sprintf("grid={x: %d, y: %d}", 2*e.Grid.Axes[1].Points, 2*e.Grid.Axes[2].Points))...)
	params := InitialParams[float64](e.Info())
	batch := flowBatch(t, fine, 3)
	run := func(coarse ...Engine[float64]) (fields [][]float64) {
		r, err := Repeat[float64](fine, RepeatOptions{Limit: 8, Together: 3}, coarse...)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Predict(params, batch, func(_ int, p *Prediction) error {
			fields = append(fields, slices.Clone(p.Field))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return fields
	}
	alone, nested := run(), run(e)
	got := run(failing{e, dataset.InputsOn(e.Problem, batch.Inputs[1], fine.Grid, e.Grid)})
	for i, want := range [][]float64{nested[0], alone[1], nested[2]} {
		if !slices.Equal(got[i], want) {
			t.Errorf("sample %d", i)
		}
	}
}

// failing gives no number for one sample.
type failing struct {
	Engine[float64]
	on []float64
}

func (e failing) Predict(params []float64, b Batch, each func(int, *Prediction) error) error {
	return e.Engine.Predict(params, b, func(i int, p *Prediction) error {
		if slices.Equal(b.Inputs[i], e.on) {
			p.Loss = math.NaN()
			p.Field[0] = math.NaN()
		}
		return each(i, p)
	})
}

// settleByHand is Repeat's rule on one sample, by passes asked for one by one: the fields up to
// the one with the lowest loss, the corrections before the last pass of all, and the number of passes.
func settleByHand(t *testing.T, e *cpu[float64], params, u0, start []float64, seed constraint.Seed, most int) (fields, led [][]float64, count int) {
	t.Helper()
	var losses []float64
	before := start
	if start == nil {
		before = make([]float64, e.FieldSize())
		e.System.Offset(before, u0)
	}
	for len(losses) < most {
		if n := len(losses); n > repeatPatience && slices.Min(losses[n-repeatPatience:]) >= (1-repeatFall)*slices.Min(losses[:n-repeatPatience]) {
			break
		}
		one := Batch{Inputs: [][]float64{u0}, Seeds: []constraint.Seed{seed}, Pass: 1}
		if start != nil || len(losses) > 0 {
			one.Pass, one.Previous, one.Directions = 2, [][]float64{before}, [][][]float64{led}
		}
		if err := e.Predict(params, one, func(_ int, p *Prediction) error {
			led = slices.Insert(slices.Clone(led), 0, difference(p.Field, before))
			led = led[:min(len(led), e.Spec.Constraint.Directions)]
			before = slices.Clone(p.Field)
			fields, losses = append(fields, before), append(losses, p.Loss)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return fields[:slices.Index(losses, slices.Min(losses))+1], led, len(losses)
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
		e := flowEngine[float64](t, model.Hard, 1, "constraint.points=0", "network.passes=6", fmt.Sprintf("constraint.directions=%d", directions))
		params := InitialParams[float64](e.Info())
		batch := flowBatch(t, e, 2)
		var want [][]float64
		if err := e.Predict(params, batch, func(_ int, p *Prediction) error {
			residual[directions] += p.Loss
			want = append(want, slices.Clone(p.Field))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for i := range batch.Inputs {
			one := Batch{Inputs: batch.Inputs[i : i+1], Seeds: batch.Seeds[i : i+1]}
			var led [][]float64
			before := slices.Repeat(batch.Inputs[i], len(want[i])/len(batch.Inputs[i]))
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
	e := flowEngine[float64](t, model.Soft, 1, "network.passes=2")
	if _, err := Repeat[float64](e, RepeatOptions{Limit: 5}); err == nil || !strings.Contains(err.Error(), "network.passes: 2: want 3 at least") {
		t.Errorf("%v", err)
	}
}
