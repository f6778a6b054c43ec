package model

import (
	"reflect"
	"strings"
	"testing"

	"pihc/network"
)

// blockKeys are the keys of a kind of network for tests: every output is a
// polynomial of second degree in the inputs at the same point.
type blockKeys struct {
	Gain float64 `yaml:"gain" want:"a positive number"`
}

func (blockKeys) Network([]string, int, int) (network.Network, error) { return nil, nil }

// The keys of a block are those of its kind and those of all: mistakes are located,
// and hints know both.
func TestNetworkKinds(t *testing.T) {
	networkKinds["pointwise"] = keysOf[blockKeys]{blockKeys{Gain: 0.1}}
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
	for _, src := range []string{"defaults: paper\nproblem: a\n", "defaults: paper\nproblem: a\nnetwork:\n", "defaults: paper\nproblem: a\nnetwork: {kind: fno, width: 64}\n"} {
		s, err := LoadSpec("s.yaml", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		text, err := s.Encode()
		if err != nil || !strings.Contains(string(text), "  kind: fno\n") || !strings.Contains(string(text), "  width: 64\n") {
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
	want := "\n  passes: 2\n  width: 64\n  layers: 4\n  modes: {x: 5}\n  projection: 128\n  expansion: 4\n  shared_weights: true\n  spectral_gain: 1\n"
	if err != nil || !strings.Contains(string(text), want) {
		t.Errorf("%s, %v", text, err)
	}
	again, err := LoadSpec("again", text)
	if err != nil || !reflect.DeepEqual(again.Network, spec.Network) {
		t.Errorf("read back: %+v, %v", again, err)
	}
}
