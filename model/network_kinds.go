package model

import (
	"pihc/ffno"
	"pihc/fno"
	"pihc/internal/config"
	"pihc/internal/kernel"
)

// fnoKeys are the keys of a Fourier neural operator.
type fnoKeys struct{ fno.Spec }

// Network implements NetworkKeys.
func (k fnoKeys) Network(axes []string, inputs, outputs int) (Network, error) {
	c, err := k.Config(axes, inputs, outputs)
	return fnoNetwork{c}, err
}

// Small implements NetworkKeys.
func (k fnoKeys) Small(axes []string) NetworkKeys { return fnoKeys{k.Spec.Small(axes)} }

func (k fnoKeys) withModes(modes map[string]int) NetworkKeys {
	k.Modes = modes
	return k
}

func (k fnoKeys) decode(n config.Node, shared *NetworkShared) (NetworkKeys, error) {
	keys, err := decodeNetwork(n, shared, k.Spec)
	return fnoKeys{keys}, err
}

func (k fnoKeys) encode(shared NetworkShared) (any, error) {
	return config.Placed(networkBlock[fno.Spec]{shared, k.Spec})
}

// fnoNetwork is a Fourier neural operator as a Network.
type fnoNetwork struct{ fno.Config }

// Fields implements Network.
func (n fnoNetwork) Fields() (inputs, outputs int) { return n.Inputs, n.Outputs }

// Float32 implements Network.
func (n fnoNetwork) Float32(shape []int, batch int, pool *kernel.Pool) Evaluator[float32] {
	return fno.New[float32](n.Config, shape, batch, pool)
}

// Float64 implements Network.
func (n fnoNetwork) Float64(shape []int, batch int, pool *kernel.Pool) Evaluator[float64] {
	return fno.New[float64](n.Config, shape, batch, pool)
}

// FNO returns the configuration of a network that is a Fourier neural operator, for
// engines that evaluate it themselves.
func FNO(n Network) (c fno.Config, ok bool) {
	f, ok := n.(fnoNetwork)
	return f.Config, ok
}

// ffnoKeys are the keys of a factorised Fourier neural operator.
type ffnoKeys struct{ ffno.Spec }

// Network implements NetworkKeys.
func (k ffnoKeys) Network(axes []string, inputs, outputs int) (Network, error) {
	c, err := k.Config(axes, inputs, outputs)
	return ffnoNetwork{c}, err
}

// Small implements NetworkKeys.
func (k ffnoKeys) Small(axes []string) NetworkKeys { return ffnoKeys{k.Spec.Small(axes)} }

func (k ffnoKeys) withModes(modes map[string]int) NetworkKeys {
	k.Modes = modes
	return k
}

func (k ffnoKeys) decode(n config.Node, shared *NetworkShared) (NetworkKeys, error) {
	keys, err := decodeNetwork(n, shared, k.Spec)
	return ffnoKeys{keys}, err
}

func (k ffnoKeys) encode(shared NetworkShared) (any, error) {
	return config.Placed(networkBlock[ffno.Spec]{shared, k.Spec})
}

// ffnoNetwork is a factorised Fourier neural operator as a Network.
type ffnoNetwork struct{ ffno.Config }

// Fields implements Network.
func (n ffnoNetwork) Fields() (inputs, outputs int) { return n.Inputs, n.Outputs }

// Float32 implements Network.
func (n ffnoNetwork) Float32(shape []int, batch int, pool *kernel.Pool) Evaluator[float32] {
	return ffno.New[float32](n.Config, shape, batch, pool)
}

// Float64 implements Network.
func (n ffnoNetwork) Float64(shape []int, batch int, pool *kernel.Pool) Evaluator[float64] {
	return ffno.New[float64](n.Config, shape, batch, pool)
}
