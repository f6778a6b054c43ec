package pde

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// definitions are so many expressions, each of the one before, and a residual.
func definitions(n int, first, level, residual string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "expressions:\n  d0: %s\n", first)
	for k := 1; k < n; k++ {
		fmt.Fprintf(&b, "  d%d: %s\n", k, strings.ReplaceAll(level, "d", fmt.Sprintf("d%d", k-1)))
	}
	fmt.Fprintf(&b, "residual: {expression: %s}\n", strings.ReplaceAll(residual, "d", fmt.Sprintf("d%d", n-1)))
	return b.String()
}

// A few lines that stand for a huge expression are done with as fast as any others, or refused in one mistake.
func TestBombs(t *testing.T) {
	for _, test := range []struct {
		name, src string
		want      string // what Load or Discretize says, "" if they accept it
	}{
		{"squares", definitions(40, "u*u", "d*d", "u + d"), ""},
		{"squares of a coordinate", definitions(40, "x*x", "d*d", "u + d"), ""},
		{"squares of what is infinite", definitions(40, "1/0", "d*d", "u + d"), ""},
		{"powers of powers", definitions(40, "u + 2", "d^d", "u + d"), ""},
		{"min", definitions(40, "u", "min(d, x*d)", "d"), ""},
		{"abs and max", definitions(40, "u", "abs(d) + max(d, x*d)", "d"), ""},
		{"where", definitions(40, "u", "where(d > x, d*d, d)", "d"), ""},
		{"quotients", definitions(40, "u + 3", "d/(1 + d*d)", "d"), ""},
		{"gates", definitions(2000, "u", "where(x > 0.5, d, 0)", "d"+strings.Repeat("*u", 2000)), "operations at a point; more than 10000 are not tried"},
		{"a long chain", definitions(30_000, "u", "d*x", "d"), "toy.yaml:20009:11: expression d20001: with it the expressions of this file have more than 20000 operations"},
		{"names of names", definitions(30_000, "u", "d", "d"), ""},
		{"sums", "residual: {expression: u" + strings.Repeat(" + u", 10_000) + "}\n", "operations at a point; more than 10000 are not tried"},
		{"a product of many terms", terms(300, "*"), "operations at a point; more than 10000 are not tried"},
		{"a sum of many terms", terms(300, "+"), ""},
		{"many exponents", "residual: {expression: u" + exponents(1300) + "}\n", "operations at a point; more than 10000 are not tried"},
		{"parentheses", "residual: {expression: " + strings.Repeat("(", 10_000) + "u" + strings.Repeat(")", 10_000) + "}\n", "nested more than 500 deep"},
		{"a weight", definitions(40, "1 + x*x", "d*d", "u") + "conditions: {wall: {at: {x: low}, expression: u, weight: d39}}\n", ""},
		{"an offset", definitions(40, "1 + x*x", "d*d", "u") + "ansatz: {offset: 1 + d39*t, multiplier: t}\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			begin := time.Now()
			p, err := Load("toy.yaml", []byte(header+test.src))
			if err == nil {
				for _, line := range p.Describe() {
					if len(line) > 3000 {
						t.Errorf("a line of %d bytes", len(line))
					}
				}
				g, gridErr := p.Grid(nil)
				if gridErr != nil {
					t.Fatal(gridErr)
				}
				_, err = p.Discretize(g)
			}
			switch {
			case err == nil && test.want != "", err != nil && test.want == "":
				t.Errorf("%v, want %q", err, test.want)
			case err != nil:
				if first, _, _ := strings.Cut(err.Error(), "\n"); !strings.Contains(first, test.want) || len(err.Error()) > 1000 {
					t.Errorf("%.300v, want %q", err, test.want)
				}
			}
			if took := time.Since(begin); took > 30*time.Second { // at most a second, alone
				t.Errorf("took %v", took)
			}
		})
	}
}

func terms(n int, operator string) string {
	var b strings.Builder
	b.WriteString("terms:\n")
	names := make([]string, n)
	for k := range names {
		names[k] = fmt.Sprintf("w%d", k)
		fmt.Fprintf(&b, "  w%d: {axis: x, derivative: 2}\n", k)
	}
	return b.String() + "residual: {expression: u + " + strings.Join(names, operator) + "}\n"
}

func exponents(n int) string {
	var b strings.Builder
	for k := range n {
		fmt.Fprintf(&b, " + u^1.%04d", k)
	}
	return b.String()
}
