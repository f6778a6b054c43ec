package main

import (
	"math"
	"testing"
)

func TestExtent(t *testing.T) {
	if got := extent([]float64{68}); got != "68" {
		t.Error(got)
	}
	if got := extent([]float64{7, 5, 9}); got != "5 to 9" {
		t.Error(got)
	}
}

func TestResidualText(t *testing.T) {
	inf := math.Inf(1)
	if got := residualText([]float64{0.1, inf, inf, inf}); got != "residual over rate ∞ % (median), ∞ % at most" {
		t.Error(got)
	}
}
