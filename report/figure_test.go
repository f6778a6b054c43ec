package report

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// A legend that is wider than its figure goes on in further lines.
func TestLegendLines(t *testing.T) {
	const width = vg.Length(300)
	p := plot.New()
	var keys []key
	for i := range 5 {
		keys = append(keys, key{label: fmt.Sprintf("key %d of the legend", i)})
	}
	src, err := plotFigure("legend", "", width, 200, p, keys...).SVG()
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for _, m := range regexp.MustCompile(`<text x="([^"]*)" y="([^"]*)"[^>]*>(key \d of the legend)<`).FindAllStringSubmatch(string(src), -1) {
		lines[m[2]]++
		if x, err := strconv.ParseFloat(m[1], 64); err != nil || vg.Length(x)+p.Y.Label.TextStyle.Width(m[3]) > width {
			t.Errorf("%s at %s (%v) ends beyond %g", m[3], m[1], err, width)
		}
	}
	drawn := 0
	for _, n := range lines {
		drawn += n
	}
	if drawn != len(keys) || len(lines) < 2 {
		t.Errorf("%d keys in lines %v", drawn, lines)
	}
}
