package conv

import (
	"fmt"
	"math"
	"testing"

	"example.com/pihc-go/internal/trial"
	"pihc/engine/enginetest"
	"pihc/network/networktest"
)

// The suite of networks, on grids of two and three axes and of sizes that nothing divides.
func TestNetwork(t *testing.T) {
	for _, c := range []networktest.Case{
		{Name: "2-D", Network: Net{Keys{Width: 5, Layers: 3}, 2, 3, 4}, Shape: []int{7, 11}, Batch: 2, Dense: dense},
		{Name: "no layers", Network: Net{Keys{Width: 5, Layers: 0}, 2, 3, 4}, Shape: []int{3, 2}, Batch: 1, Dense: dense},
		{Name: "3-D", Network: Net{Keys{Width: 4, Layers: 2}, 3, 2, 3}, Shape: []int{4, 5, 3}, Batch: 2},
	} {
		c.Run(t)
	}
}

// dense is the network on two axes by the formulas of the package comment, one point and one channel at a time.
func dense(c networktest.Case, params, input []float64) (outputs []float64) {
	n, rows, columns := c.Network.(Net), c.Shape[0], c.Shape[1]
	tensor := map[string]func(k, i, o int) float64{}
	for _, t := range n.Layout() {
		tensor[t.Name] = func(k, i, o int) float64 {
			if len(t.Shape) == 1 {
				return params[t.Offset+o]
			}
			return params[t.Offset+(k*t.Shape[1]+i)*t.Shape[2]+o]
		}
	}
	inside := func(i, points int) int { return min(max(i, 0), points-1) }
	var value func(l, channel, row, column int) float64
	value = func(l, channel, row, column int) float64 {
		row, column = inside(row, rows), inside(column, columns)
		if l == 0 {
			return input[(channel*rows+row)*columns+column]
		}
		name, far, in := fmt.Sprintf("layers.%d.", l-1), 1<<(l-1), n.Width
		if l == 1 {
			in = n.Inputs
		}
		sum := tensor[name+"bias"](0, 0, channel)
		for k, step := range [][2]int{{0, 0}, {far, 0}, {-far, 0}, {0, far}, {0, -far}} {
			for i := range in {
				sum += tensor[name+"weight"](k, i, channel) * value(l-1, i, row+step[0], column+step[1])
			}
		}
		return math.Tanh(sum)
	}
	last := n.Width
	if n.Layers == 0 {
		last = n.Inputs
	}
	for o := range n.Outputs {
		for p := range rows * columns {
			sum := tensor["output.bias"](0, 0, o)
			for i := range last {
				sum += tensor["output.weight"](0, i, o) * value(n.Layers, i, p/columns, p%columns)
			}
			outputs = append(outputs, sum)
		}
	}
	return outputs
}

// The suite of engines: with this network the gradient of the whole loss, through the solves of the experts, is that
// of differences, and results do not depend on workers or micro-batches.
func TestEngine(t *testing.T) {
	enginetest.RunCPU(t, "network={kind: conv, width: 4, layers: 2, basis: 4, initial_scale: 0.5}")
}

// A spec chooses the network by its name, and a short training lowers the loss.
func TestTraining(t *testing.T) {
	_, first, last := trial.Train(t, "diffusion-sorption-demo", "network={kind: conv, width: 8, layers: 3, basis: 6, initial_scale: 0.2}", "training.steps=90")
	if !(last < first/2) {
		t.Errorf("the residual of validation samples goes from %g to %g", first, last)
	}
}
