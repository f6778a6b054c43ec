package xla

import (
	"fmt"
	"math"

	"pihc/compute"
	"pihc/fno"
	"pihc/model"
)

// network writes the forward and backward pass of a Fourier neural operator, as package
// fno states it, for S samples: fields are (channels, S P), so that every product is one of
// two matrices, spectra (channels, S, 2, modes) with the real part first and the modes in the
// order of the layout. The gradient is the sum of theirs.
type network struct {
	*builder
	fno.Network
	samples int // S
	shape   []int
	dtype   dtype
	matmul  string // as in model.NetworkShared
	params  map[string]value
	axes    []value // per axis: the matrix of the truncated transform
	scale   value   // (modes): c_k/P
	modes   int

	// What the forward pass leaves.
	input  value
	layers []layer
	hidden value // pre-activations
	last   value // what the projection works on
	output value // before the output's activation
}

// layer is what the forward pass leaves of a Fourier layer.
type layer struct{ v, hat, pre value }

// newNetwork declares the parameters as views of the flat vector.
func newNetwork(b *builder, c fno.Network, shape []int, t dtype, matmul string, params value) *network {
	n := &network{builder: b, Network: c, samples: max(1, b.samples), shape: shape, dtype: t, matmul: matmul, params: map[string]value{}, modes: 1}
	for _, p := range c.Layout() {
		n.params[p.Name] = b.reshape(b.slice(params, 0, p.Offset, p.Offset+p.Size()), p.Shape...)
	}
	last := len(shape) - 1
	for a, points := range shape {
		if a == last {
			n.axes = append(n.axes, n.lastAxis(points, c.Modes[a]))
			n.modes *= c.Modes[a]
		} else {
			n.axes = append(n.axes, n.outerAxis(points, c.Modes[a]))
			n.modes *= 2 * c.Modes[a]
		}
	}
	points := float64(product(shape))
	scale := make([]float64, n.modes)
	for i := range scale {
		k := i % c.Modes[last]
		scale[i] = 2 / points
		if k == 0 || 2*k == shape[last] {
			scale[i] = 1 / points
		}
	}
	n.scale = b.numbers(scale, t, n.modes)
	return n
}

// lastAxis is (points, part, mode): exp(-iθ), θ = 2π k x/n, of modes 0..m-1.
func (n *network) lastAxis(points, m int) value {
	e := make([]float64, points*2*m)
	for x := range points {
		for k := range m {
			sin, cos := sincos(k, x, points)
			e[x*2*m+k], e[x*2*m+m+k] = cos, -sin
		}
	}
	return n.numbers(e, n.dtype, points, 2, m)
}

// outerAxis is (part, mode, part, points), with modes 0..m-1, -m..-1: the part of the
// result, from that of the operand.
func (n *network) outerAxis(points, m int) value {
	e := make([]float64, 4*2*m*points)
	at := func(to, mode, from, x int) *float64 { return &e[((to*2*m+mode)*2+from)*points+x] }
	for i := range 2 * m {
		q := i
		if i >= m {
			q -= 2 * m
		}
		for x := range points {
			sin, cos := sincos(q, x, points)
			*at(0, i, 0, x), *at(0, i, 1, x) = cos, sin
			*at(1, i, 0, x), *at(1, i, 1, x) = -sin, cos
		}
	}
	return n.numbers(e, n.dtype, 2, 2*m, 2, points)
}

// sincos is of 2π k x/n, with the angle reduced exactly.
func sincos(k, x, n int) (sin, cos float64) {
	return math.Sincos(2 * math.Pi * float64(k*x%n) / float64(n))
}

// transform is the truncated transform of a field (c, S P) along all axes.
func (n *network) transform(v value) value {
	last, c := len(n.shape)-1, v.shape[0]
	outer, inner := v.size()/n.shape[last], n.Modes[last]
	v = n.dot("ox,xpk->opk", n.reshape(v, outer, n.shape[last]), n.axes[last])
	for a := last - 1; a >= 0; a-- {
		outer /= n.shape[a]
		v = n.dot("oxpk,qmpx->oqmk", n.reshape(v, outer, n.shape[a], 2, inner), n.axes[a])
		inner *= 2 * n.Modes[a]
	}
	return n.reshape(v, c, n.samples, 2, n.modes)
}

// inverse is its transpose: a field (c, S P) of a spectrum.
func (n *network) inverse(hat value) value {
	last, c := len(n.shape)-1, hat.shape[0]
	outer, inner := c*n.samples, n.modes
	for a := range last {
		m := 2 * n.Modes[a]
		inner /= m
		hat = n.dot("oqmk,qmpx->oxpk", n.reshape(hat, outer, 2, m, inner), n.axes[a])
		outer *= n.shape[a]
	}
	v := n.dot("opk,xpk->ox", n.reshape(hat, outer, 2, inner), n.axes[last])
	return n.reshape(v, c, n.samples*product(n.shape))
}

// dot is that of builder, of factors rounded as matmul says. TF32 is rounded to here too, so
// that it means the same on devices whose products have more digits, or cut them off.
func (n *network) dot(spec string, x, y value) value {
	round := func(v value) value {
		if n.matmul == model.TF32 {
			return n.emit(v, "stablehlo.reduce_precision %s, format = e8m10 : %s", v.name, v.mlir())
		}
		return n.convert(v, bf16)
	}
	switch n.matmul {
	case model.TF32:
		return n.product(spec, round(x), round(y), n.dtype, "HIGH")
	case model.BF16:
		return n.product(spec, round(x), round(y), n.dtype, "DEFAULT")
	}
	return n.builder.dot(spec, x, y)
}

// linear is weightᵀ·v + bias.
func (n *network) linear(v value, name string) value {
	y := n.dot("cd,cp->dp", n.params[name+".weight"], v)
	return n.add(y, n.leading(n.params[name+".bias"], y.shape))
}

const (
	geluLinear = 1.5957691216057307117597842397375 // 2 sqrt(2/pi), of the tanh form (package kernel)
	geluCubic  = geluLinear * 0.044715
)

// sigmoid is s in gelu(x) = x s, and x² in the bounds where s is not 0 or 1 to every
// digit.
func (n *network) sigmoid(x value) (s, square value) {
	bounded := n.call(x.shape, x.dtype, "stablehlo.clamp %s, %s, %s", n.scalar(-18, x.dtype), x, n.scalar(18, x.dtype))
	square = n.mul(bounded, bounded)
	return n.unary("logistic", n.mul(bounded, n.plus(n.times(square, geluCubic), geluLinear))), square
}

func (n *network) gelu(x value) value {
	s, _ := n.sigmoid(x)
	return n.mul(x, s)
}

// again is x as what is computed of it a second time, and not kept from the first.
func (n *network) again(x value) value {
	return n.emit(x, "stablehlo.optimization_barrier %s : %s", x.name, x.mlir())
}

// geluBackward is g·gelu'(x).
func (n *network) geluBackward(g, x value) value {
	x = n.again(x)
	s, square := n.sigmoid(x)
	slope := n.mul(n.mul(x, n.sub(n.spread(n.scalar(1, x.dtype), x.shape), s)), n.plus(n.times(square, 3*geluCubic), geluLinear))
	return n.mul(g, n.mul(s, n.plus(slope, 1)))
}

// forward returns the outputs (N, S P) of the input fields (inputs, S P).
func (n *network) forward(input value) value {
	n.input = input
	v := n.linear(input, "lift")
	for l := range n.Layers {
		hat := n.transform(v)
		re, im := n.at(hat, 2, 0), n.at(hat, 2, 1)
		// (2 channels, S, part, mode): (re, -im) and (im, re), beside [Rr; Ri].
		rows := n.stack(2, n.concatenate(0, re, n.neg(im)), n.concatenate(0, im, re))
		matrix := n.reshape(n.params[fmt.Sprintf("layers.%d.spectral", l)], n.modes, 2*n.Width, n.Width)
		mixed := n.dot("csoq,qcd->dsoq", rows, matrix)
		mixed = n.mul(mixed, n.trailing(n.scale, mixed.shape))
		pre := n.add(n.linear(v, fmt.Sprintf("layers.%d", l)), n.inverse(mixed))
		n.layers = append(n.layers, layer{v, hat, pre})
		v = pre
		if l < n.Layers-1 || n.LastActivation {
			v = n.gelu(pre)
		}
	}
	n.last = v
	n.hidden = n.linear(v, "projection")
	n.output = n.linear(n.gelu(n.hidden), "output")
	if n.OutputActivation {
		return n.gelu(n.output)
	}
	return n.output
}

// backward returns the gradient, flat in the order of the layout, from that of the
// outputs (N, S P).
func (n *network) backward(bar value) value {
	grad := map[string]value{}
	// linear is the adjoint of linear for the operand v.
	linear := func(name string, v, g value) value {
		grad[name+".weight"] = n.dot("cp,dp->cd", v, g)
		grad[name+".bias"] = n.sum(g, 1)
		return n.dot("cd,dp->cp", n.params[name+".weight"], g)
	}
	if n.OutputActivation {
		bar = n.geluBackward(bar, n.output)
	}
	bar = n.geluBackward(linear("output", n.gelu(n.again(n.hidden)), bar), n.hidden)
	bar = linear("projection", n.last, bar)
	for l := n.Layers - 1; l >= 0; l-- {
		kept, name := n.layers[l], fmt.Sprintf("layers.%d", l)
		if l < n.Layers-1 || n.LastActivation {
			bar = n.geluBackward(bar, kept.pre)
		}
		hat := n.transform(bar)
		hat = n.mul(hat, n.trailing(n.scale, hat.shape))
		re, im := n.at(hat, 2, 0), n.at(hat, 2, 1)
		// (part of the spectrum, part of the matrix, channel, S, mode)
		pairs := n.stack(0, n.stack(0, re, im), n.stack(0, im, n.neg(re)))
		shape := []int{n.modes, 2, n.Width, n.Width}
		matrix := n.reshape(n.params[name+".spectral"], shape...)
		grad[name+".spectral"] = n.dot("csoq,opdsq->qpcd", kept.hat, pairs)
		mixed := n.dot("opdsq,qpcd->csoq", pairs, matrix)
		bar = n.add(linear(name, kept.v, bar), n.inverse(mixed))
	}
	linear("lift", n.input, bar)
	var all []value
	for _, p := range n.Layout() {
		all = append(all, n.reshape(grad[p.Name], p.Size()))
	}
	return n.concatenate(0, all...)
}

// elementOf is the dtype of a precision.
func elementOf[T compute.Float]() dtype {
	if _, ok := any(T(0)).(float32); ok {
		return f32
	}
	return f64
}
