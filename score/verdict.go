package score

import (
	"fmt"
	"math"
	"strings"

	"pihc/internal/words"
)

// Verdicts on predictions.
const (
	Trusted  = "trusted"
	Doubtful = "doubtful"
	Failed   = "failed"
)

// Errors of predictions, or estimates of them where there are no solutions, above which they are doubtful: the mean and the worst
// of samples; and above which they have failed: the mean (docs/formats.md, Verdict).
const (
	doubtfulMean, doubtfulWorst = 0.05, 0.2
	failedMean                  = 0.3
)

// Judge returns the verdict on samples from one kind of error that each has, NaN for none, and what of it is above a limit, "" for
// nothing. Samples without one, or none at all, are doubtful.
func Judge(name string, errors []float64) (verdict, reason string) {
	var known []float64
	for _, v := range errors {
		if !math.IsNaN(v) {
			known = append(known, v)
		}
	}
	if reason = excess(name, errors, doubtfulMean, doubtfulWorst); len(known) > 0 && Summarize(known).Mean > failedMean {
		return Failed, reason
	}
	if reason != "" || len(known) == 0 || len(known) < len(errors) {
		return Doubtful, reason
	}
	return Trusted, ""
}

// VerdictLine is the line that begins what is said of predictions: their verdict, and of errors and of estimates, as far as there
// are any, the mean and the worst.
func VerdictLine(verdict string, errors, estimates []float64) string {
	say := func(name string, values []float64) string {
		mean, worst, count := 0.0, -1, 0
		for i, v := range values {
			if math.IsNaN(v) {
				continue
			}
			mean, count = mean+v, count+1
			if worst < 0 || v > values[worst] {
				worst = i
			}
		}
		if count == 0 {
			return ""
		}
		of := ""
		if count < len(values) {
			of = fmt.Sprintf(" of the %d samples that have one", count)
		}
		text := fmt.Sprintf("%s %s", name, words.Percent(mean/float64(count)))
		if len(values) > 1 {
			text += fmt.Sprintf(" in the mean%s, %s at worst (sample %d)", of, words.Percent(values[worst]), worst)
		}
		return text
	}
	parts := []string{say("error", errors), say("estimate without solutions", estimates)}
	switch {
	case parts[0] == "" && parts[1] == "":
		return verdict + ": nothing is known of the error"
	case parts[0] == "":
		return verdict + ": " + say("estimated error", estimates)
	case parts[1] == "":
		return verdict + ": " + parts[0]
	}
	return verdict + ": " + strings.Join(parts, "; ")
}

// VerdictLine is that of the evaluation.
func (e *Evaluation) VerdictLine() string {
	var errors, estimates []float64
	for _, s := range e.PerSample {
		errors, estimates = append(errors, s.RelativeL2), append(estimates, s.ErrorEstimate)
	}
	return VerdictLine(e.Verdict, errors, estimates)
}

// excess says where the mean or the worst of a metric is above a limit, "" if neither is; NaN is none.
func excess(name string, values []float64, mean, worst float64) string {
	var known []float64
	at := 0
	for i, v := range values {
		if math.IsNaN(v) {
			continue
		}
		if len(known) == 0 || v > values[at] {
			at = i
		}
		known = append(known, v)
	}
	if len(known) == 0 {
		return ""
	}
	var parts []string
	s := Summarize(known)
	if s.Mean > mean {
		parts = append(parts, fmt.Sprintf("%s in the mean (above %g %%)", words.Percent(s.Mean), 100*mean))
	}
	if s.Max > worst {
		parts = append(parts, fmt.Sprintf("%s in sample %d, the worst (above %g %%)", words.Percent(s.Max), at, 100*worst))
	}
	if len(parts) == 0 {
		return ""
	}
	return name + " is " + strings.Join(parts, ", ")
}
