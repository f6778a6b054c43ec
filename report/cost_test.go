package report

import (
	"slices"
	"strings"
	"testing"
)

// The coarsest run that is as good counts, whatever comes after it; a method pays off where a
// prediction takes less time than a solution.
func TestCostMatch(t *testing.T) {
	p := samplePage()
	c := p.Cost
	soft, hard, moe := c.Methods[0], c.Methods[1], c.Methods[2]
	if soft.Matched != 0 || soft.BreakEven != 0 {
		t.Errorf("soft: %+v", soft)
	}
	// 64 s of training over 1/1999 - 1/2500 s saved by each prediction.
	if hard.Matched != 1 || hard.BreakEven != 638404 {
		t.Errorf("hard: %+v", hard)
	}
	if moe.Matched != -1 || moe.BreakEven != 0 {
		t.Errorf("moe: %+v", moe)
	}
	if text := c.claim(func(string) bool { return true }); !strings.Contains(text, "as accurate as PI-SC is 81.7 times faster") || !strings.Contains(text, "PI-HC pays for its training after 638\u202f404 predictions") || strings.Contains(text, "MoE") {
		t.Error(text)
	}
	if notes := c.notes(); !strings.Contains(notes[len(notes)-1], "no run that was tried is as accurate; the finest has "+gridText(c.Classical[1].Grid)) {
		t.Error(notes)
	}
	c.Classical[0].Error = 0
	if text := strings.Join(c.notes(), " "); !strings.Contains(text, "an error of 0 is the truth itself") {
		t.Error(text)
	}
	// 30 solutions, in whose place stand 8 steps of three predictions each.
	if rows := c.UsesTable().Rows; !slices.Equal(rows[3], []string{"fit of phi, D", "2", "8", "30", "24", "1.25", "0.85 ms"}) || rows[0][3] != "81.7" {
		t.Error(rows)
	}
	var none *Cost
	if none.Table() != nil || none.UsesTable() != nil || none.claim(nil) != "" {
		t.Error("something of nothing")
	}
}
