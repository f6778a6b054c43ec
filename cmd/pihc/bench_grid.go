package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"pihc/internal/kernel"
	"pihc/lm"
	"pihc/report"
)

// solverGrid is what bench constraint measures on random rows.
type solverGrid struct {
	Solves []solveCase `json:"solves"`
	Passes []passCase  `json:"passes"`
	Twenty float64     `json:"twenty_thousand_by_16_s"` // one solve of 20,000 x 16, 15 iterations, one thread
	Read   float64     `json:"read_gb_s"`               // one thread summing an array far larger than the caches
}

// solveCase is one size of solve; many problems at once share all threads.
type solveCase struct {
	Rows       int     `json:"rows"`
	Basis      int     `json:"basis"`
	Precision  string  `json:"precision"` // of the rows
	Linear     string  `json:"linear"`
	Problems   int     `json:"problems"`
	Solve      float64 `json:"solve_s"` // of all problems, over their number
	Iterations float64 `json:"iterations"`
}

// passCase is one evaluation of terms, residual, partials, JᵀJ and Jᵀr on one
// thread, beside the two limits of the machine.
type passCase struct {
	Rows      int     `json:"rows"`
	Basis     int     `json:"basis"`
	Precision string  `json:"precision"`
	Pass      float64 `json:"pass_s"`
	GFLOPS    float64 `json:"gflops"`
	OfPeak    float64 `json:"fraction_of_peak"`
	Bandwidth float64 `json:"gb_s"`
	OfRead    float64 `json:"fraction_of_read"`
}

// short is a time with three digits.
func short(seconds float64) string {
	d, digit := time.Duration(seconds*1e9), time.Duration(1)
	for d >= 1000*digit {
		digit *= 10
	}
	return d.Round(digit).String()
}

// mostOfMany bounds the rows of 24 problems at once: ten times as many take
// minutes.
const mostOfMany = 100_000

// gridRows are the row counts of the solves and of the passes at a scale.
func gridRows(scale string) (solves, passes []int) {
	solves = []int{100, 1000, 10_000, 100_000, 1_000_000}
	switch scale {
	case "demo":
		return solves[:2], solves[1:2]
	case "small":
		solves = solves[:4]
	}
	return solves, []int{20_000, 100_000}
}

func (b *bench) solverGrid(peak float64) (solverGrid, error) {
	g := solverGrid{Read: readBandwidth()}
	for _, n := range []int{16, 64} {
		solves, passes := gridRows(b.options.scale)
		for _, m := range solves {
			for _, problems := range []int{1, 24} {
				if problems > 1 && m > mostOfMany {
					continue
				}
				if err := measureSolves[float64](b, &g, m, n, problems, "float64"); err != nil {
					return g, err
				}
				if err := measureSolves[float32](b, &g, m, n, problems, "float32"); err != nil {
					return g, err
				}
			}
		}
		for _, m := range passes {
			measurePass[float64](&g, m, n, 8, peak)
			measurePass[float32](&g, m, n, 4, peak)
		}
	}
	var err error
	g.Twenty, err = b.twentyThousand()
	return g, err
}

// measureSolves adds the solves by both linear solvers of problems at once.
func measureSolves[T kernel.Float](b *bench, g *solverGrid, m, n, problems int, precision string) error {
	var pool *kernel.Pool
	if problems > 1 {
		pool = kernel.NewPool(b.workers)
		defer pool.Close()
	}
	rows, w, results := make([]*syntheticRows[T], problems), make([][]float64, problems), make([]lm.Result, problems)
	for i := range rows {
		rows[i], w[i] = newSyntheticRows[T](m, n, rowsMemory/problems, uint64(i)), make([]float64, n)
	}
	for _, linear := range []lm.LinearSolver{lm.LinearCholesky, lm.LinearQR} {
		solvers := make([]*lm.Solver, pool.Workers())
		for i := range solvers {
			solvers[i] = lm.NewSolver(n, lm.Options{Linear: linear, Ridge: 1e-4})
		}
		t, err := b.brief(func() {
			pool.Run(problems, func(worker, i int) {
				clear(w[i])
				results[i] = solvers[worker].Solve(rows[i], w[i])
			})
		})
		if err != nil {
			return err
		}
		c := solveCase{Rows: m, Basis: n, Precision: precision, Linear: linear.String(), Problems: problems, Solve: t / float64(problems)}
		for _, r := range results {
			if err := r.Status.Err(); err != nil {
				return err
			}
			c.Iterations += float64(r.Iterations) / float64(problems)
		}
		g.Solves = append(g.Solves, c)
	}
	return nil
}

// measurePass adds the fastest evaluation in a third of a second: the peak and
// the bandwidth beside it are the best of many too.
func measurePass[T kernel.Float](g *solverGrid, m, n, size int, peak float64) {
	p := newSyntheticRows[T](m, n, rowsMemory, 1)
	a, gradient, w := make([]float64, n*n), make([]float64, n), make([]float64, n)
	t := math.Inf(1)
	for begin := time.Now(); time.Since(begin) < 300*time.Millisecond; {
		start := time.Now()
		p.Normal(a, gradient, w)
		t = min(t, time.Since(start).Seconds())
	}
	c := passCase{Rows: m, Basis: n, Precision: fmt.Sprintf("float%d", 8*size), Pass: t}
	// JᵀJ n(n+1), Jᵀr 2n, three products A_j w 6n, J = Σ F_j A_j 5n.
	c.GFLOPS = float64(m*(n*(n+1)+13*n)) / t / 1e9
	c.OfPeak = c.GFLOPS / peak
	c.Bandwidth = float64(3*m*n*size) / t / 1e9
	c.OfRead = c.Bandwidth / g.Read
	g.Passes = append(g.Passes, c)
}

// twentyThousand solves one problem of 20,000 x 16 on one thread in 15 iterations:
// strong damping at the start keeps it from converging earlier.
func (b *bench) twentyThousand() (float64, error) {
	p, w := newSyntheticRows[float64](20_000, 16, rowsMemory, 1), make([]float64, 16)
	s := lm.NewSolver(16, lm.Options{MaxIterations: benchIterations, GTol: -1, FTol: -1, XTol: -1, Descent: lm.LevenbergMarquardt{InitialDamping: 1e6}, NoRestart: true})
	iterations := 0
	t, err := b.brief(func() {
		clear(w)
		iterations = s.Solve(p, w).Iterations
	})
	if err == nil && iterations != benchIterations {
		err = fmt.Errorf("solve of 20,000 x 16 stopped after %d iterations", iterations)
	}
	return t, err
}

// brief is median for things that may take seconds: it stops repeating after
// half a second, and what takes longer than that runs once.
func (b *bench) brief(f func()) (float64, error) {
	const budget = 0.5
	var times []float64
	for spent := 0.0; len(times) <= b.options.repeat && spent < budget; {
		if err := b.command.Context().Err(); err != nil {
			return 0, err
		}
		begin := time.Now()
		f()
		times = append(times, time.Since(begin).Seconds())
		spent += times[len(times)-1]
	}
	if len(times) > 1 {
		times = times[1:] // the first run warms up
	}
	return median(times), nil
}

// readBandwidth returns the GB/s of one thread summing 256 MB.
func readBandwidth() float64 {
	x := make([]float64, 32<<20)
	for i := range x {
		x[i] = 1
	}
	best, sum := 0.0, 0.0
	for range 3 {
		start := time.Now()
		sum += kernel.SumSquares64(x)
		best = max(best, float64(8*len(x))/time.Since(start).Seconds()/1e9)
	}
	if sum == 0 {
		return 0 // keeps the sums alive
	}
	return best
}

// solveTable has a row for each size and one pair of columns, time and
// iterations, for each way of solving it.
func (g *solverGrid) solveTable(workers int) *report.Table {
	t := &report.Table{
		Title:   "Solves of random rows: time per problem, iterations",
		Columns: []report.Column{{Title: "basis", Right: true}, {Title: "rows", Right: true}},
		Notes:   []string{fmt.Sprintf("x24: 24 problems at once on %d threads; all others on one.", workers)},
	}
	var size []string
	for _, c := range g.Solves {
		title := c.Precision + " " + c.Linear
		if c.Problems > 1 {
			title += fmt.Sprintf(" x%d", c.Problems)
		}
		column := slices.IndexFunc(t.Columns, func(c report.Column) bool { return c.Title == title })
		if column < 0 {
			column = len(t.Columns)
			t.Columns = append(t.Columns, report.Column{Title: title, Right: true})
		}
		if now := []string{strconv.Itoa(c.Basis), strconv.Itoa(c.Rows)}; !slices.Equal(size, now) {
			size = now
			t.Add(slices.Clone(now)...)
		}
		row := &t.Rows[len(t.Rows)-1]
		for len(*row) <= column {
			*row = append(*row, "-")
		}
		(*row)[column] = short(c.Solve) + ", " + strconv.FormatFloat(math.Round(10*c.Iterations)/10, 'g', -1, 64)
	}
	return t
}

func (g *solverGrid) passTable() *report.Table {
	t := &report.Table{Title: "One evaluation (terms, residual, partials, JᵀJ, Jᵀr) on one thread"}
	for _, title := range []string{"basis", "rows", "precision", "time", "GFLOP/s", "of the FMA peak", "GB/s", "of reading alone"} {
		t.Columns = append(t.Columns, report.Column{Title: title, Right: true})
	}
	for _, c := range g.Passes {
		t.Add(strconv.Itoa(c.Basis), strconv.Itoa(c.Rows), c.Precision, short(c.Pass), fmt.Sprintf("%.1f", c.GFLOPS), fmt.Sprintf("%.3f", c.OfPeak),
			fmt.Sprintf("%.1f", c.Bandwidth), fmt.Sprintf("%.3f", c.OfRead))
	}
	return t
}
