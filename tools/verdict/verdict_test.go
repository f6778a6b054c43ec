// Package verdict measures how good estimates of errors and verdicts without solutions are: small networks for equations of the
// gallery, the built-in ones and three of testdata are looked at after 1 to 100 % of their training, and compared with solutions.
//
//	go test ./tools/verdict           # one equation
//	make verdict                      # all, and docs/runs/verdict.txt
//	make verdict VERDICT='-only burgers,wave'
package verdict

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pihc/engine"
	"pihc/experiment"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/pde"
	"pihc/score"
)

var (
	full    = flag.Bool("full", false, "all equations, in the place of one")
	only    = flag.String("only", "", "equations, separated by commas")
	logFile = flag.String("log", "", "file of the log")
)

// trial is one training.
type trial struct {
	problem, method string
	steps, samples  int
}

// Steps are what a core does in half a minute; samples are fewer where solutions take long.
var trials = []trial{
	{"advection", "hard", 400, 8},
	{"advection", "soft", 400, 8},
	{"allen-cahn", "hard", 400, 8},
	{"allen-cahn-2d", "moe", 30, 4},
	{"burgers", "moe", 500, 8},
	{"cubic", "hard", 400, 8},
	{"darcy", "moe", 800, 8},
	{"darcy-smooth", "hard", 600, 8},
	{"diffusion-reaction", "hard", 20, 2},
	{"diffusion-sorption-demo", "moe", 400, 8},
	{"fisher-kpp", "moe", 600, 8},
	{"fitzhugh-nagumo", "hard", 300, 8},
	{"gray-scott", "moe", 30, 4},
	{"heat", "hard", 1000, 8},
	{"heat", "soft", 1000, 8},
	{"kuramoto-sivashinsky", "moe", 150, 8},
	{"laplace", "hard", 400, 8},
	{"navier-stokes-demo", "hard", 100, 8},
	{"poisson", "hard", 800, 8},
	{"shallow-water", "hard", 400, 8},
	{"sorption", "moe", 400, 8},
	{"spinodal", "moe", 300, 8},
	{"telegraph", "hard", 400, 8},
	{"wave", "moe", 800, 8},
}

// look is a run at one time: errors and estimates of the samples, and the verdict without solutions.
type look struct {
	trial
	share             int
	errors, estimates []float64
	verdict           string
}

func TestVerdict(t *testing.T) {
	chosen := trials
	switch {
	case *only != "":
		chosen = slices.DeleteFunc(slices.Clone(trials), func(c trial) bool { return !slices.Contains(strings.Split(*only, ","), c.problem) })
	case !*full:
		chosen = []trial{{"heat", "hard", 200, 4}}
	}
	begin := time.Now()
	var looks []look
	for _, c := range chosen {
		begin := time.Now()
		if err := trained(t, c, func(share int, run string) { looks = append(looks, lookAt(t, c, share, run)) }); err != nil {
			t.Errorf("%s, %s: %v", c.problem, c.method, err)
		}
		t.Logf("%s, %s: %.0f s", c.problem, c.method, time.Since(begin).Seconds())
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d runs at %d times each, in %.0f s\n", len(chosen), len(shares), time.Since(begin).Seconds())
	for _, l := range looks {
		fmt.Fprintf(&text, "%-24s %-5s %3d %%  error %-10s estimate %-10s within a factor of three %d of %d  %s\n", l.problem, l.method, l.share, percent(l.errors), percent(l.estimates), l.within(), len(l.errors), l.verdict)
	}
	judge(t, &text, looks)
	t.Log("\n" + text.String())
	if *logFile != "" {
		if err := os.WriteFile(*logFile, []byte(text.String()), 0o666); err != nil {
			t.Error(err)
		}
	}
}

// judge requires what verdicts are held to, of all equations together and without each in turn.
func judge(t *testing.T, text *strings.Builder, looks []look) {
	var problems []string
	for _, l := range looks {
		problems = append(problems, l.problem)
	}
	problems = slices.Compact(problems)
	rates := func(without string) (near, far, good [2]int) { // how many are, of how many
		for _, l := range looks {
			if l.problem == without {
				continue
			}
			near[0], near[1] = near[0]+l.within(), near[1]+len(l.errors)
			switch e := score.Summarize(l.errors).Mean; {
			case !(e <= 0.1):
				far[1]++
				if l.verdict != score.Trusted {
					far[0]++
				}
			case e < 0.02:
				good[1]++
				if l.verdict != score.Trusted {
					good[0]++
				}
			}
		}
		return near, far, good
	}
	check := func(without string) {
		near, far, good := rates(without)
		name := "all"
		if without != "" {
			name = "without " + without
		}
		fmt.Fprintf(text, "%-32s within a factor of three %d of %d samples; doubtful or failed %d of %d runs above 10 %%, %d of %d below 2 %%\n", name, near[0], near[1], far[0], far[1], good[0], good[1])
		if near[0]*10 < near[1]*9 || far[0]*20 < far[1]*19 || good[0]*20 > good[1] {
			t.Errorf("%s: %v, %v, %v", name, near, far, good)
		}
	}
	check("")
	if len(problems) > 1 {
		for _, p := range problems {
			check(p)
		}
	}
}

// within counts the samples whose estimate is within a factor of three.
func (l *look) within() (count int) {
	for i, e := range l.errors {
		if r := l.estimates[i] / e; r > 1.0/3 && r < 3 {
			count++
		}
	}
	return count
}

// lookAt scores the test samples with the newest checkpoint as if there were no solutions, and compares with these.
func lookAt(t *testing.T, c trial, share int, dir string) look {
	t.Helper()
	l := look{trial: c, share: share}
	err := func() error {
		run, err := experiment.OpenRun(dir)
		if err != nil {
			return err
		}
		set, err := run.Dataset("")
		if err != nil {
			return err
		}
		e, err := run.Open(experiment.Evaluation{Last: true, AsTrained: true})
		if err != nil {
			return err
		}
		defer e.Close()
		s, err := experiment.LoadSamples(set, "test", run.Problem, e.Info().Grid, 0)
		if err != nil {
			return err
		}
		solution := s.Truth
		s.Truth = nil
		if run.Problem.Reference.Solver != pde.DiscreteSolver {
			if solution, err = classical(run.Problem, e.Info().Grid, s.Inputs); err != nil {
				return err
			}
		}
		scored, err := e.Evaluate(s, func(i int, p *engine.Prediction) error {
			v, err := solution(i)
			l.errors = append(l.errors, grid.RelativeL2(p.Field, v, len(run.Problem.Unknowns)))
			return err
		})
		if err != nil {
			return err
		}
		for _, s := range scored.PerSample {
			l.estimates = append(l.estimates, s.ErrorEstimate)
		}
		l.verdict = scored.Verdict
		return nil
	}()
	if err != nil {
		t.Fatalf("%s, %s: %v", c.problem, c.method, err)
	}
	return l
}

// classical returns solutions by the classical solver on five times the cells, four times other points: those of a dataset are on the
// run's own points, and have the error of that grid.
func classical(p *pde.Problem, g *grid.Grid, inputs [][]float64) (func(i int) ([]float64, error), error) {
	fine := &grid.Grid{Axes: slices.Clone(g.Axes)}
	for i := range fine.Axes[1:] {
		if a := &fine.Axes[1+i]; a.Boundary == grid.Cells {
			a.Points *= 5
		} else {
			a.Points *= 4
		}
	}
	solver, err := dataset.ClassicalSolver(p, fine, nil)
	return func(i int) ([]float64, error) {
		all, out := make([]float64, len(p.Unknowns)*fine.Size()), make([]float64, len(p.Unknowns)*g.Size())
		if _, err := solver.Solve(all, dataset.InputsOn(p, inputs[i], g, fine)); err != nil {
			return nil, err
		}
		grid.Thin(out, all, g.Axes, fine.Axes)
		return out, nil
	}, err
}

func percent(values []float64) string {
	mean := score.Summarize(values).Mean
	if math.IsNaN(mean) {
		return "none"
	}
	return fmt.Sprintf("%.3g %%", 100*mean)
}
