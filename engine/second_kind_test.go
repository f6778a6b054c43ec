package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pihc/compute"
	"pihc/model"
	"pihc/network"
	"pihc/pde"
)

// pointwiseKeys are the keys of a kind of network for tests: every output is a
// polynomial of second degree in the inputs at the same point.
type pointwiseKeys struct {
	Gain float64 `yaml:"gain" want:"a positive number"`
}

func (k pointwiseKeys) Network(_ []string, inputs, outputs int) (network.Network, error) {
	return pointwise{k.Gain, inputs, outputs}, nil
}

type pointwise struct {
	gain    float64
	in, out int
}

func (n pointwise) Fields() (int, int) { return n.in, n.out }

func (n pointwise) Layout() (all network.Layout) {
	all.Add("weight", n.out, 2*n.in)
	all.Add("bias", n.out)
	return all
}

func (n pointwise) Init(params []float64, rng *rand.Rand) {
	for i := range params[:2*n.in*n.out] {
		params[i] = n.gain * rng.NormFloat64()
	}
}

func (n pointwise) Validate([]int) error     { return nil }
func (n pointwise) FLOP(shape []int) float64 { return float64(4 * n.in * n.out * product(shape)) }
func (n pointwise) Memory([]int, int, int, int, bool) (float64, float64) {
	return 0, float64(n.Layout().Size())
}

func (n pointwise) Float32(shape []int, batch int, _ *compute.Pool) network.Evaluator[float32] {
	return &polynomial[float32]{n, batch, product(shape), nil}
}

func (n pointwise) Float64(shape []int, batch int, _ *compute.Pool) network.Evaluator[float64] {
	return &polynomial[float64]{n, batch, product(shape), nil}
}

func product(shape []int) int {
	size := 1
	for _, n := range shape {
		size *= n
	}
	return size
}

type polynomial[T compute.Float] struct {
	pointwise
	batch, size int
	input       []T
}

func (e *polynomial[T]) Forward(dst, params, input []T) {
	e.input = slices.Clone(input)
	e.ForwardOnly(dst, params, input)
}

// each calls f with an output's index, its parameters' position, and the input it
// multiplies by them.
func (e *polynomial[T]) each(input []T, f func(at, weight int, x T)) {
	for b := range e.batch {
		for o := range e.out {
			for i := range e.in {
				for p := range e.size {
					x := input[(b*e.in+i)*e.size+p]
					at, weight := (b*e.out+o)*e.size+p, 2*(o*e.in+i)
					f(at, weight, x)
					f(at, weight+1, x*x)
				}
			}
		}
	}
}

func (e *polynomial[T]) ForwardOnly(dst, params, input []T) {
	bias := params[2*e.in*e.out:]
	for i := range dst {
		dst[i] = bias[i/e.size%e.out]
	}
	e.each(input, func(at, weight int, x T) { dst[at] += params[weight] * x })
}

func (e *polynomial[T]) Backward(grad, _, dstBar []T) {
	bias := grad[2*e.in*e.out:]
	for i, d := range dstBar {
		bias[i/e.size%e.out] += d
	}
	e.each(e.input, func(at, weight int, x T) { grad[weight] += dstBar[at] * x })
}

// A second kind of network goes the whole way: its keys in the spec, its parameters
// in the engine, its gradient.
func TestSecondNetworkKind(t *testing.T) {
	model.RegisterNetwork("pointwise", pointwiseKeys{Gain: 0.1})
	src := strings.Replace(toySpec, "width: 6, layers: 2, modes: {t: 3, x: 3}, projection: 8,", "kind: pointwise, gain: 0.25,", 1)
	spec, err := model.LoadSpec("toy", fmt.Appendf(nil, src, "diffusion-sorption", model.Hard, "mean-square", 2))
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := spec.Encode()
	if err != nil || !strings.Contains(string(encoded), "network:\n  kind: pointwise\n  basis: 4\n") || !strings.Contains(string(encoded), "  passes: 1\n  gain: 0.25\n") {
		t.Errorf("%s, %v", encoded, err)
	}
	again, err := model.LoadSpec("again", encoded)
	if err != nil || again.Network.Keys != spec.Network.Keys {
		t.Errorf("read back: %+v, %v", again, err)
	}
	p, err := pde.Open(spec.Problem)
	if err != nil {
		t.Fatal(err)
	}
	e, err := newCPU[float64](spec, p, Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if n := e.Parameters(); n != 2*3*4+4 {
		t.Errorf("%d parameters", n)
	}
	worst, err := CheckGradient(e, toyBatch(24, 2), 2)
	if err != nil || !(worst < 1e-6) {
		t.Errorf("relative error %.2g, %v", worst, err)
	}
}
