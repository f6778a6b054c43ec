package model

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pihc/internal/kernel"
	"pihc/pde"
)

// pointwiseKeys are the keys of a kind of network for tests: every output is a
// polynomial of second degree in the inputs at the same point.
type pointwiseKeys struct {
	Gain float64 `yaml:"gain" place:"1"`
}

func (k pointwiseKeys) Validate(bad func(key, reason string)) {
	if k.Gain <= 0 {
		bad("gain", fmt.Sprintf("%g: want a positive number", k.Gain))
	}
}

func (k pointwiseKeys) Network(_ []string, inputs, outputs int) (Network, error) {
	return pointwise{k.Gain, inputs, outputs}, nil
}

func (k pointwiseKeys) Small([]string) pointwiseKeys { return k }

func (k pointwiseKeys) WithModes(map[string]int) pointwiseKeys { return k }

type pointwise struct {
	gain    float64
	in, out int
}

func (n pointwise) Fields() (int, int) { return n.in, n.out }
func (n pointwise) Size() int          { return 2*n.in*n.out + n.out }

func (n pointwise) Layout() []kernel.Tensor {
	return []kernel.Tensor{{Name: "weight", Shape: []int{n.out, 2 * n.in}}, n.OutputBias()}
}

func (n pointwise) OutputBias() kernel.Tensor {
	return kernel.Tensor{Name: "bias", Shape: []int{n.out}, Offset: 2 * n.in * n.out}
}

func (n pointwise) Init(params []float64, rng *rand.Rand) {
	for i := range params[:2*n.in*n.out] {
		params[i] = n.gain * rng.NormFloat64()
	}
}

func (n pointwise) Validate([]int) error     { return nil }
func (n pointwise) FLOP(shape []int) float64 { return float64(4 * n.in * n.out * product(shape)) }
func (n pointwise) Memory([]int, int, int, int, bool) (float64, float64) {
	return 0, float64(n.Size())
}

func (n pointwise) Float32(shape []int, batch int, _ *kernel.Pool) Evaluator[float32] {
	return &polynomial[float32]{n, batch, product(shape), nil}
}

func (n pointwise) Float64(shape []int, batch int, _ *kernel.Pool) Evaluator[float64] {
	return &polynomial[float64]{n, batch, product(shape), nil}
}

func product(shape []int) int {
	size := 1
	for _, n := range shape {
		size *= n
	}
	return size
}

type polynomial[T kernel.Float] struct {
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
	networkKinds["pointwise"] = keysOf[pointwiseKeys]{pointwiseKeys{Gain: 0.1}}
	t.Cleanup(func() { delete(networkKinds, "pointwise") })
	src := strings.Replace(toySpec, "width: 6, layers: 2, modes: {t: 3, x: 3}, projection: 8,", "kind: pointwise, gain: 0.25,", 1)
	spec, err := LoadSpec("toy", fmt.Appendf(nil, src, "diffusion-sorption", Hard, "mean-square", 2))
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := spec.Encode()
	if err != nil || !strings.Contains(string(encoded), "network:\n  kind: pointwise\n  gain: 0.25\n  basis: 4\n") {
		t.Errorf("%s, %v", encoded, err)
	}
	again, err := LoadSpec("again", encoded)
	if err != nil || again.Network.Keys != spec.Network.Keys {
		t.Errorf("read back: %+v, %v", again, err)
	}
	p, err := pde.Open(spec.Problem)
	if err != nil {
		t.Fatal(err)
	}
	e, err := newCPU[float64](spec, p, EngineOptions{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if n := e.info.Parameters(); n != 2*3*4+4 {
		t.Errorf("%d parameters", n)
	}
	worst, err := CheckGradient(e, toyBatch(24, 2), 2)
	if err != nil || !(worst < 1e-6) {
		t.Errorf("relative error %.2g, %v", worst, err)
	}
}

// The keys of a block are those of its kind and those of all: mistakes are located,
// hints know both, and the default kind is not written.
func TestNetworkKinds(t *testing.T) {
	networkKinds["pointwise"] = keysOf[pointwiseKeys]{pointwiseKeys{Gain: 0.1}}
	t.Cleanup(func() { delete(networkKinds, "pointwise") })
	for src, want := range map[string][]string{
		"network: {kind: cnn}":                      {`s.yaml:2:17: network.kind: "cnn": want ffno, fno, pointwise`},
		"network: {kind: [fno]}":                    {`s.yaml:2:17: network.kind: want a text`},
		"network: {kind: pointwise, width: 3}":      {`s.yaml:2:28: unknown key "width" in network`, "known keys: kind, basis"},
		"network: {kind: pointwise, gain: 0}":       {`s.yaml:2:34: network.gain: 0: want a positive number`},
		"network: {kind: fno, gain: 1, widht: 2}":   {`s.yaml:2:22: unknown key "gain" in network`, `s.yaml:2:31: unknown key "widht" in network`, `did you mean "width"?`},
		"network: {kind: ffno, expansion: 0}":       {`s.yaml:2:34: network.expansion: 0: want at least 1`},
		"network: {kind: ffno, last_activation: 1}": {`s.yaml:2:23: unknown key "last_activation" in network`, "expansion, shared_weights"},
		"network: {steps: 3}":                       {`s.yaml:2:11: unknown key "steps" in network`, `"steps" belongs in training`},
		"modes: {x: 3}":                             {`s.yaml:2:1: unknown key "modes"`, `"modes" belongs in network`},
		"training: {passes: 3}":                     {`"passes" belongs in network`},
		"network: {width: x, basis: 0, passes: no}": {`s.yaml:2:18: network.width: want an integer`, `network.passes: want an integer`},
	} {
		_, err := LoadSpec("s.yaml", []byte("problem: a\n"+src+"\n"))
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v; want %s", src, err, w)
			}
		}
	}
	for _, src := range []string{"version: 1\nproblem: a\n", "version: 1\nproblem: a\nnetwork:\n", "version: 1\nproblem: a\nnetwork: {kind: fno, width: 64}\n"} {
		s, err := LoadSpec("s.yaml", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		text, err := s.Encode()
		if err != nil || strings.Contains(string(text), "kind") || !strings.Contains(string(text), "  width: 64\n") {
			t.Errorf("%q: %s, %v", src, text, err)
		}
	}
}

// The keys of the factorised network keep their order and are read back.
func TestFactorisedKeys(t *testing.T) {
	spec, err := LoadSpec("s.yaml", []byte("problem: a\nnetwork: {kind: ffno, shared_weights: true, modes: {x: 5}, passes: 2}\n"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := spec.Encode()
	want := "network:\n  kind: ffno\n  width: 64\n  layers: 4\n  modes: {x: 5}\n  projection: 128\n  basis: 16\n  expansion: 4\n  shared_weights: true\n  precision: float32\n"
	if err != nil || !strings.Contains(string(text), want) {
		t.Errorf("%s, %v", text, err)
	}
	again, err := LoadSpec("again", text)
	if err != nil || !reflect.DeepEqual(again.Network, spec.Network) {
		t.Errorf("read back: %+v, %v", again, err)
	}
}
