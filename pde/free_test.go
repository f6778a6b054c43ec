package pde

import (
	"slices"
	"testing"
)

// Constants that are expressions of a free one follow it.
func TestFreeOfOthers(t *testing.T) {
	p, err := Load("free.yaml", []byte(`name: free
unknown: u
axes: {t: {range: [0, 1], points: 9, boundary: nodes}, x: {range: [0, 1], points: 8, boundary: periodic}}
constants: {Re: 50, nu: 1/Re, half: nu/2}
terms: {u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2}}
residual: {expression: u_t - half*u_xx}
conditions: {start: {kind: initial, at: {t: low}, expression: u - u0}}
initial: {distribution: random-sines, low: -1, high: 1}
`))
	if err != nil {
		t.Fatal(err)
	}
	q, err := p.Free("Re")
	if err != nil {
		t.Fatal(err)
	}
	if want := []Constant{{"Re", 50}, {"nu", 0.02}, {"half", 0.01}}; !slices.Equal(q.Constants[len(q.Constants)-3:], want) {
		t.Errorf("constants %v, want %v", q.Constants, want)
	}
	if !q.Residuals[0].Expr.DependsOn("Re") || !slices.Contains(q.InputNames(), "Re") {
		t.Errorf("the residual is %v of inputs %v", q.Residuals[0].Expr, q.InputNames())
	}
	if p.Residuals[0].Expr.DependsOn("Re") {
		t.Error("without it the residual depends on it")
	}
}
