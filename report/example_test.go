package report_test

import (
	"fmt"

	"pihc/internal/words"
	"pihc/report"
	"pihc/score"
)

func ExampleTable() {
	t := report.Table{Columns: []report.Column{{Title: "method"}, {Title: "relative L² error", Right: true}}}
	t.Add("PI-HC", words.PercentOf(0.0755, 0.0810))
	t.Add("PI-HC-MoE", words.PercentOf(0.0360, 0.0293))
	fmt.Print(t.String())
	// Output:
	// method     relative L² error
	// ─────────  ─────────────────
	// PI-HC          7.55 ± 8.10 %
	// PI-HC-MoE      3.60 ± 2.93 %
}

func ExampleSummarize() {
	errors := []float64{0.02, 0.03, 0.07}
	s := score.Summarize(errors)
	fmt.Println(words.PercentOf(s.Mean, s.Std), "worst", words.Percent(s.Max))
	// Output: 4.00 ± 2.16 % worst 7.00 %
}
