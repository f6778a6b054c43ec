package model

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"pihc/ffno"
	"pihc/fno"
	"pihc/grid"
	"pihc/internal/config"
	"pihc/internal/words"
	"pihc/network"
	"pihc/pde"
)

// NetworkKeys are the keys that the network block of a spec has for its kind.
type NetworkKeys interface {
	// Network returns the network on the given axes (the slowest first). The error
	// begins with the key that is wrong.
	Network(axes []string, inputs, outputs int) (network.Network, error)
	// Small returns keys of a like network on the given axes that is small enough to
	// be differenced in seconds, or the keys themselves where the kind has none.
	Small(axes []string) NetworkKeys

	// withModes returns the keys with the resolution that the axes hold, where the kind has one.
	withModes(modes map[string]int) NetworkKeys
	// sameForm is an error for a key of another network of the kind that differs and is neither a size, which shapes of
	// parameters tell, nor a number that parameters are drawn by.
	sameForm(other NetworkKeys) error
	decode(n config.Node, shared *NetworkShared) (NetworkKeys, error)
	encode(shared NetworkShared) any
}

// NetworkBlock is what a kind of network has for its block of a spec: a struct of keys, with yaml tags, and with
// tags `want` that say which values a file may have (as in [Spec]). A kind S may have two methods besides:
//
//	Small(axes []string) S                // keys of a like network that is differenced in seconds (`pihc check`)
//	WithModes(modes map[string]int) S     // keys with the resolution that the axes hold
type NetworkBlock interface {
	// Network is that of NetworkKeys.
	Network(axes []string, inputs, outputs int) (network.Network, error)
}

// DefaultNetwork is the kind of a network block that names none.
const DefaultNetwork = "fno"

// networkKinds has the default keys of every kind.
var networkKinds = map[string]NetworkKeys{DefaultNetwork: keysOf[fno.Keys]{fno.DefaultKeys()}, "ffno": keysOf[ffno.Keys]{ffno.DefaultKeys()}}

// RegisterNetwork makes a kind of network available by name (network.kind), with the defaults of its keys. It panics
// if the name is taken, and is to be called before any spec is read.
func RegisterNetwork[S NetworkBlock](name string, defaults S) {
	if _, ok := networkKinds[name]; ok {
		panic("model: RegisterNetwork: kind " + name + " is registered already")
	}
	networkKinds[name] = keysOf[S]{defaults}
}

// keysOf makes the keys of one kind NetworkKeys.
type keysOf[S NetworkBlock] struct{ Spec S }

func (k keysOf[S]) Network(axes []string, inputs, outputs int) (network.Network, error) {
	return k.Spec.Network(axes, inputs, outputs)
}

func (k keysOf[S]) Small(axes []string) NetworkKeys {
	if s, ok := any(k.Spec).(interface{ Small(axes []string) S }); ok {
		return keysOf[S]{s.Small(axes)}
	}
	return k
}

func (k keysOf[S]) withModes(modes map[string]int) NetworkKeys {
	if s, ok := any(k.Spec).(interface{ WithModes(modes map[string]int) S }); ok {
		return keysOf[S]{s.WithModes(modes)}
	}
	return k
}

func (k keysOf[S]) sameForm(other NetworkKeys) error {
	mine, theirs := reflect.ValueOf(k.Spec), reflect.ValueOf(other.(keysOf[S]).Spec)
	for mine.Kind() == reflect.Pointer {
		mine, theirs = mine.Elem(), theirs.Elem()
	}
	if mine.Kind() != reflect.Struct {
		return nil
	}
	for i := range mine.NumField() {
		switch field := mine.Type().Field(i); field.Type.Kind() {
		case reflect.Bool, reflect.String:
			if a, b := mine.Field(i).Interface(), theirs.Field(i).Interface(); a != b {
				name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
				return fmt.Errorf("its network.%s is %v, this spec's %v", name, b, a)
			}
		}
	}
	return nil
}

// networkBlock is the network block of a spec: the keys of all kinds and those K of one.
type networkBlock[K any] struct {
	NetworkShared `yaml:",inline"`
	Keys          K `yaml:",inline"`
}

// decode reads a block over the values it has.
func (k keysOf[S]) decode(n config.Node, shared *NetworkShared) (NetworkKeys, error) {
	b := networkBlock[S]{*shared, k.Spec}
	err := n.Decode(&b)
	*shared = b.NetworkShared
	return keysOf[S]{b.Keys}, err
}

func (k keysOf[S]) encode(shared NetworkShared) any { return networkBlock[S]{shared, k.Spec} }

// NetworkSpec describes the network: what all kinds share, and the keys of one.
type NetworkSpec struct {
	NetworkShared
	Keys NetworkKeys
}

// Values of NetworkShared.Matmul besides "", which is float32: the digits that factors keep are 11 and 8, in base 2.
const (
	TF32 = "tf32"
	BF16 = "bf16"
)

// NetworkShared are the keys of a network of any kind.
type NetworkShared struct {
	Kind      string `yaml:"kind"`
	Basis     int    `yaml:"basis" want:"at least 1"` // N; soft has one output
	Precision string `yaml:"precision" want:"float32, float64"`
	// Matmul is what factors of the network's products are rounded to, where not to Precision:
	// TF32 or BF16; sums stay float32. Engine cpu refuses it.
	Matmul       string  `yaml:"matmul,omitempty" want:"float32, tf32, bf16"`
	InitialScale float64 `yaml:"initial_scale" want:"a positive number"` // initial conditions are divided by this at the input
	// Scales are sizes of several unknowns, by name: in the place of InitialScale for their
	// initial conditions, and over that of the first unknown what their outputs are
	// multiplied by.
	Scales map[string]float64 `yaml:"scales,flow,omitempty" want:"a positive number"`
	// Centers are subtracted from initial conditions and from features of unknowns, by name, before these are divided by their sizes.
	Centers map[string]float64 `yaml:"centers,flow"`
	// OmitCoordinates names axes whose coordinates are not inputs. Without those of
	// the periodic axes the network commutes with translations along them.
	OmitCoordinates []string `yaml:"omit_coordinates,flow"`
	// Features are further inputs: the unknowns, terms of the residuals, and the
	// residuals themselves, of the field that is to be corrected (in the first pass the
	// one that keeps its initial values), each divided by the number given.
	Features map[string]float64 `yaml:"features,flow" want:"a positive number"`
	// Passes is how often the network runs: from the second pass on it corrects the
	// field of the one before.
	Passes int `yaml:"passes" want:"at least 1"`
}

// UnmarshalConfig reads the keys of the kind that the block names.
func (n *NetworkSpec) UnmarshalConfig(decode func(dst any) error) error {
	var node config.Node
	if err := decode(&node); err != nil {
		return err
	}
	if at, ok := node.Lookup("kind"); ok {
		kind := n.Kind
		if err := at.Decode(&kind); err != nil {
			return err
		}
		keys, ok := networkKinds[kind]
		if !ok {
			return at.Errorf("network.kind: %q: want %s", kind, strings.Join(slices.Sorted(maps.Keys(networkKinds)), ", "))
		}
		if kind != n.Kind {
			n.Keys = keys
		}
	}
	var err error
	n.Keys, err = n.Keys.decode(node, &n.NetworkShared)
	return err
}

// Schema implements config.Schemer: the keys of the default kind.
func (NetworkSpec) Schema() any { return networkBlock[fno.Keys]{} }

// MarshalYAML implements yaml.Marshaler: both parts are one mapping.
func (n NetworkSpec) MarshalYAML() (any, error) { return n.Keys.encode(n.NetworkShared), nil }

// ScaleOf is the size of an unknown.
func (n *NetworkSpec) ScaleOf(unknown string) float64 {
	if v, ok := n.Scales[unknown]; ok {
		return v
	}
	return n.InitialScale
}

// NewNetwork returns the network a spec describes for its problem. Its outputs are the
// basis (N, C). Its inputs are the coordinates, each scaled to [0, 1] on the axis's range,
// the inputs of the problem, and the features: fixed scales, so that a longer horizon or
// another grid does not change their meaning (docs/reference/constraint.md, Q12).
func (s *Spec) NewNetwork(p *pde.Problem) (network.Network, error) {
	if err := s.fitted(); err != nil {
		return nil, err
	}
	if s.Rollout > 1 {
		of, q, err := s.Segment(p)
		if err != nil {
			return nil, err
		}
		return of.NewNetwork(q)
	}
	in, err := s.NewInputs(p)
	if err != nil {
		return nil, err
	}
	for name := range s.Network.Centers {
		if !slices.Contains(p.UnknownNames(), name) {
			return nil, fmt.Errorf("network.centers: %q: want an unknown of problem %s: %s", name, p.Name, words.List(p.UnknownNames()))
		}
	}
	for name := range s.Network.Scales {
		if !slices.Contains(p.UnknownNames(), name) || len(p.Unknowns) == 1 {
			return nil, fmt.Errorf("network.scales: %q: want one of several unknowns of problem %s: %s", name, p.Name, words.List(p.UnknownNames()))
		}
	}
	if s.Network.Passes > 1 && !p.HasOffset() {
		return nil, fmt.Errorf("network.passes: %d: problem %s has no `ansatz: offset`, which later passes replace by the field they correct; want 1", s.Network.Passes, p.Name)
	}
	n, err := s.Network.Keys.Network(p.AxisNames(), in.Count(), s.Outputs()*len(p.Unknowns))
	if err != nil {
		return nil, fmt.Errorf("network.%w", err)
	}
	return n, nil
}

// CheckNetwork reports why a network does not fit a grid, by the spec's keys.
func CheckNetwork(n network.Network, g *grid.Grid) error {
	if err := n.Validate(g.Shape()); err != nil {
		return fmt.Errorf("network.%w", err)
	}
	return nil
}
