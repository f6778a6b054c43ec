package inverse

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"pihc/pde"
)

func TestUnseen(t *testing.T) {
	m := free(t, loadDecay(t), map[string]float64{"a": 0.5, "b": 1.5, "k": 0.3}, "a", "b", "k")
	m.observe(30, 0.01, 0.01, decayed(1, 0.1*math.Pi*math.Pi+0.5))
	fit := m.run(t)
	if len(fit.Unseen) != 1 || fit.Unseen[0].Seen != "a*b^2" || math.Abs(fit.Unseen[0].Value-1) > 0.05 || !(fit.Unseen[0].Low < 1 && 1 < fit.Unseen[0].High) {
		t.Errorf("unseen: %+v", fit.Unseen)
	}
	if !math.IsInf(fit.Low[0], -1) || !math.IsInf(fit.High[1], 1) || math.IsInf(fit.High[2], 0) {
		t.Errorf("intervals from %v to %v", fit.Low, fit.High)
	}
	// What decays is one number as well, but a sum: it is named along its direction.
	m = free(t, loadDecay(t), map[string]float64{"D": 0.08, "k": 0.3}, "D", "k")
	m.observe(30, 0.01, 0.01, decayed(1, 0.1*math.Pi*math.Pi+0.5))
	fit = m.run(t)
	if len(fit.Unseen) != 1 || fit.Unseen[0].Seen != "" || !strings.HasPrefix(fit.Unseen[0].Text, "D, k: nothing that was observed changes along ") {
		t.Errorf("unseen: %+v", fit.Unseen)
	}
}

// TestUnseenPlane has three numbers of which the data see one product: two directions are named, the same ones from any start and in any
// order, and of no two numbers that the data see a product of them.
func TestUnseenPlane(t *testing.T) {
	p, err := pde.Load("decay.yaml", []byte(strings.NewReplacer("a*b^2", "a*b^2/c", "b: 1}", "b: 1, c: 1}").Replace(decay)))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a, c: nothing that was observed changes along +1 log a +1 log c",
		"b, c: nothing that was observed changes along +1 log b +2 log c",
	}
	for _, names := range [][]string{{"a", "b", "c", "k"}, {"k", "c", "b", "a"}, {"b", "k", "a", "c"}} {
		for _, start := range []float64{1.5, 0.3} {
			m := free(t, p, map[string]float64{"a": 0.5, "b": start, "c": 2, "k": 0.3}, names...)
			m.observe(30, 0.01, 0.01, decayed(1, 0.1*math.Pi*math.Pi+0.5))
			var got []string
			for _, u := range m.run(t).Unseen {
				if got = append(got, u.Text); u.Seen != "" {
					t.Errorf("free %v: %q is seen", names, u.Seen)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("free %v from b = %g: %q", names, start, got)
			}
		}
	}
	// Two pairs that share no number are named each, whichever number is the first.
	m := free(t, loadDecay(t), map[string]float64{"a": 0.5, "b": 1.5, "k": 0.3, "D": 0.1}, "b", "k", "a", "D")
	m.observe(30, 0.01, 0.01, decayed(1, 0.1*math.Pi*math.Pi+0.5))
	if all := m.run(t).Unseen; len(all) != 2 || all[0].Seen+all[1].Seen != "a*b^2" {
		t.Errorf("unseen: %+v", all)
	}
}

// TestFactorOfRows has numbers that no solution depends on, whose derivatives are rounding: the others are found as without them, and they
// are unseen, not what a fit goes after from grid to grid.
func TestFactorOfRows(t *testing.T) {
	p, err := pde.Load("decay.yaml", []byte(strings.NewReplacer("u_t - D*u_xx + k*u,", "g*(u_t - D*u_xx + k*u),", "rows: {t: [1, 0]}, expression: u", "rows: {t: [1, 0]}, expression: w*u", "b: 1}", "b: 1, g: 2, w: 3}").Replace(decay)))
	if err != nil {
		t.Fatal(err)
	}
	m := free(t, loadDecay(t), map[string]float64{"k": 3}, "k")
	m.observe(30, 0.01, 0.01, decayed(1, 0.1*math.Pi*math.Pi+0.5))
	want := m.run(t)
	for _, log := range []bool{true, false} {
		m = free(t, p, map[string]float64{"g": 2, "w": 3, "k": 3}, "g", "k", "w")
		m.Parameters[0].Log = log
		m.observe(30, 0.01, 0.01, decayed(1, 0.1*math.Pi*math.Pi+0.5))
		fit := m.run(t)
		if len(fit.Unseen) != 2 || fit.Unseen[0].Text != "g changes nothing that was observed" || fit.Unseen[1].Text != "w changes nothing that was observed" {
			t.Errorf("unseen: %+v", fit.Unseen)
		}
		if d := want.Deviations[0]; math.Abs(fit.Refined[1]-want.Refined[0]) > 0.01*d || math.Abs(fit.Low[1]-want.Low[0]) > 0.01*d || len(fit.Warnings) > 0 {
			t.Errorf("log k is %g from %g, without the factors %g from %g; %q", fit.Refined[1], fit.Low[1], want.Refined[0], want.Low[0], fit.Warnings)
		}
	}
	// A number that is a trillion times too small has derivatives as small, but not of rounding.
	if got := math.Exp(free(t, loadDecay(t), map[string]float64{"k": 5e-12}, "k").withData(m).run(t).Coordinates[0]); math.Abs(got-math.Exp(want.Coordinates[0])) > 1e-3 {
		t.Errorf("k from 5e-12 is %g, want %g", got, math.Exp(want.Coordinates[0]))
	}
}

// TestIdle has a number whose derivatives have the wrong sign, as it enters by small steps as well: the fit leads nowhere, says so, and does
// not look for the minimum on finer and finer grids.
func TestIdle(t *testing.T) {
	p, err := pde.Load("decay.yaml", []byte(strings.Replace(decay, "k*u,", "(2*floor(1e5*k)/1e5 - k)*u,", 1)))
	if err != nil {
		t.Fatal(err)
	}
	m := free(t, p, map[string]float64{"k": 2}, "k")
	m.observe(30, 1e-6, 1e-6, decayed(1, 0.1*math.Pi*math.Pi+0.5))
	fit, err := m.fit(context.Background(), level{}, m.coordinates(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	if l := fit.level; max(l.time, l.space) > 1 || len(fit.Warnings) == 0 || !strings.HasPrefix(fit.Warnings[0], "the fit may not be at its end: ") {
		t.Errorf("on %v, %q", fit.Grid.Shape(), fit.Warnings)
	}
}

// TestHeld has numbers without a derivative that the data see all the same: where a source ends, by a comparison and by a sign, and a number
// of which the square enters, at zero. They are not unseen, also with a prior and beside a derivative that another number has as well, and
// the fit warns of them. Where nothing depends on the comparison it is unseen.
func TestHeld(t *testing.T) {
	for _, c := range []struct {
		name, row, free string
		start           float64
		prior           bool
		want            string
	}{
		{"where", "k*u + where(x > e, 0.1, 0)", "e", 0.6, false, "e = 0.6 is not fitted: "},
		{"prior", "k*u + where(x > e, 0.1, 0)", "e", 0.6, true, "e = 0.6 is not fitted: "},
		{"sign", "k*u + 0.1*sign(x - e)", "e", 0.6, false, "e = 0.6 is not fitted: "},
		{"square", "(k + e^2)*u", "e", 0, false, "e = 0 is not fitted: "},
		{"both", "k*e*u + where(x > e, 0.1, 0)", "e", 0.6, false, "e, k are not all fitted: "},
		{"outside", "k*u + where(t > 9 + e, 0.1, 0)", "e", 0.6, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := pde.Load("decay.yaml", []byte(strings.NewReplacer("u_t - D*u_xx + k*u,", `"u_t - D*u_xx + `+c.row+`",`, "b: 1}", "b: 1, e: 1}").Replace(decay)))
			if err != nil {
				t.Fatal(err)
			}
			m := free(t, p, map[string]float64{"k": 0.5, "e": c.start}, "k", "e")
			m.Parameters[1].Log = c.start > 0
			if c.prior {
				m.Parameters[1].Prior = &Prior{Mean: math.Log(0.6), Deviation: 1e-3}
			}
			m.observe(30, 0.01, 0.01, decayed(1, 0.1*math.Pi*math.Pi+0.5))
			fit := m.run(t)
			warned := slices.ContainsFunc(fit.Warnings, func(text string) bool { return c.want != "" && strings.HasPrefix(text, c.want) })
			if warned != (c.want != "") || len(fit.Unseen) > 0 == warned {
				t.Errorf("warnings %q, unseen %+v", fit.Warnings, fit.Unseen)
			}
			if fit.Held[0] || fit.Held[1] != strings.HasPrefix(c.want, "e = ") {
				t.Errorf("held: %v", fit.Held)
			}
		})
	}
}
