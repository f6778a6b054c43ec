package main

import (
	"strings"
	"testing"

	"pihc/experiment"
)

// The last line tells of --no-estimates where most of the time went into estimates, and that was long.
func TestEvaluatedIn(t *testing.T) {
	for _, x := range []struct {
		seconds, estimates float64
		want               string
	}{
		{100, 80, "evaluated in 1 min 40 s, of which 1 min 20 s waiting for estimates of errors: --no-estimates leaves them out\n"},
		{100, 40, "evaluated in 1 min 40 s\n"},
		{9, 8, "evaluated in 9.0 s\n"},
	} {
		var m experiment.Metrics
		m.Seconds, m.EstimateSeconds = x.seconds, x.estimates
		var out strings.Builder
		if err := printMetrics(&out, &m); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(out.String(), x.want) {
			t.Errorf("%s, want %s", out.String(), x.want)
		}
	}
}
