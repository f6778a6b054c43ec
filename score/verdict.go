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
// of samples; and above which they have failed: the mean (docs/reference/metrics.md, Verdict).
const (
	doubtfulMean, doubtfulWorst = 0.05, 0.2
	failedMean                  = 0.3
)

// Judge returns the verdict on samples from one kind of error that each has, NaN for none, and what of it is above a limit, "" for
// nothing. Samples without one, or none at all, are doubtful.
func Judge(name string, errors []float64) (verdict, reason string) {
	count, mean, _ := numbersOf(errors)
	reason = excess(name, errors, doubtfulMean, doubtfulWorst)
	switch {
	case count > 0 && mean > failedMean:
		return Failed, reason
	case reason != "" || count == 0 || count < len(errors):
		return Doubtful, reason
	}
	return Trusted, ""
}

// numbersOf counts the values that are numbers; mean is theirs, and worst the place of the largest, -1 without any.
func numbersOf(values []float64) (count int, mean float64, worst int) {
	worst = -1
	for i, v := range values {
		if math.IsNaN(v) {
			continue
		}
		if worst < 0 || v > values[worst] {
			worst = i
		}
		count++
		mean += v
	}
	return count, mean / float64(count), worst
}

// Estimates are estimates of errors by sample, NaN for none, each nil or as long as the others: of the whole, the distance from the
// solution of the equation, and of its parts (dataset.Estimated).
type Estimates struct{ Error, Grid, Rows []float64 }

// VerdictLine is the line that begins what is said of predictions: their verdict, and of errors, the distances from reference solutions,
// and of estimates, as far as there are any, the mean and the worst, and how much of these is the grid's.
func VerdictLine(verdict string, errors []float64, estimates Estimates) string {
	say := func(name string, values []float64) string {
		count, mean, worst := numbersOf(values)
		if count == 0 {
			return ""
		}
		of := ""
		if count < len(values) {
			of = fmt.Sprintf(" of the %d samples that have one", count)
		}
		text := fmt.Sprintf("%s %s", name, words.Percent(mean))
		if len(values) > 1 {
			text += fmt.Sprintf(" in the mean%s, %s at worst (sample %d)", of, words.Percent(values[worst]), worst)
		}
		return text
	}
	of, estimate := say("error", errors), say("estimated error", estimates.Error)
	if of != "" && estimate != "" {
		estimate = say("estimated", estimates.Error) + ", from that of the equation"
	}
	if of != "" {
		of += ", from the reference solution"
	}
	switch count, grid, _ := numbersOf(estimates.Grid); {
	case estimate == "" && of == "":
		return verdict + ": nothing is known of the error"
	case estimate == "":
		return verdict + ": " + of + "; what the grid and the reference add to it is not known"
	case count > 0:
		_, rows, _ := numbersOf(estimates.Rows)
		estimate += fmt.Sprintf(" (%s from the solution of the rows on this grid, %s of the grid)", words.Percent(rows), words.Percent(grid))
	default:
		estimate += " (how much of it is the grid's is not known)"
	}
	if of != "" {
		of += "; "
	}
	return verdict + ": " + of + estimate
}

// VerdictLine is that of the evaluation.
func (e *Evaluation) VerdictLine() string {
	var errors []float64
	var estimates Estimates
	for _, s := range e.PerSample {
		errors = append(errors, s.RelativeL2)
		estimates.Error, estimates.Grid, estimates.Rows = append(estimates.Error, s.ErrorEstimate), append(estimates.Grid, s.GridError), append(estimates.Rows, s.RowsError)
	}
	return VerdictLine(e.Verdict, errors, estimates)
}

// excess says where the mean or the worst of a metric is above a limit, "" if neither is; NaN is none.
func excess(name string, values []float64, mostMean, most float64) string {
	count, mean, worst := numbersOf(values)
	if count == 0 {
		return ""
	}
	var parts []string
	if mean > mostMean {
		parts = append(parts, fmt.Sprintf("%s in the mean (above %g %%)", words.Percent(mean), 100*mostMean))
	}
	if v := values[worst]; v > most {
		parts = append(parts, fmt.Sprintf("%s in sample %d, the worst (above %g %%)", words.Percent(v), worst, 100*most))
	}
	if len(parts) == 0 {
		return ""
	}
	return name + " is " + strings.Join(parts, ", ")
}
