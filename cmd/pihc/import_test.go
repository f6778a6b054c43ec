package main

import (
	"slices"
	"strings"
	"testing"

	"pihc/data"
)

// The last dimension of solutions becomes an array for each unknown.
func TestChannels(t *testing.T) {
	values := make([]float64, 2*3*2*2)
	for i := range values {
		values[i] = float64(i)
	}
	o := &importOptions{unknowns: []string{"u", "v"}}
	arrays, err := o.channels("a.h5", data.NewArray([]int{2, 3, 2, 2}, values))
	if err != nil {
		t.Fatal(err)
	}
	for c, name := range o.unknowns {
		a := arrays[c]
		if a.Name != name || !slices.Equal(a.Array.Shape, []int{2, 3, 2}) || a.Array.Float64()[5] != float64(10+c) {
			t.Errorf("%s: %v", name, a)
		}
	}
	if _, err := o.channels("a.h5", data.NewArray([]int{2, 3, 4, 1}, values)); err == nil || !strings.Contains(err.Error(), "--unknowns names 2 values") {
		t.Errorf("one channel for two unknowns: %v", err)
	}
	o.unknowns = nil
	arrays, err = o.channels("a.h5", data.NewArray([]int{2, 3, 4, 1}, values))
	if err != nil || len(arrays) != 1 || arrays[0].Name != "solution" || !slices.Equal(arrays[0].Array.Shape, []int{2, 3, 4}) {
		t.Errorf("%v, %v", arrays, err)
	}
}
