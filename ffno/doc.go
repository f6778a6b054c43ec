// Package ffno is the factorised Fourier neural operator of Tran, Mathews, Xie and
// Ong (arXiv:2111.13802): one transform per axis instead of one over all of them,
// and residual blocks with a feed-forward part, on a box grid of two or more axes,
// with a forward and a backward pass written by hand.
//
//	v_0     = a·lift.weight + lift.bias                              a: the input fields
//	s_l     = sum over the axes of K_{l,axis} v_l                    l = 0..layers-1
//	v_{l+1} = v_l + gelu(s_l·inner.weight_l + inner.bias_l)·outer.weight_l + outer.bias_l
//	output  = gelu(v·projection.weight + projection.bias)·output.weight + output.bias
//
// K_{l,axis} transforms v_l along one axis of n points, multiplies each kept mode
// k = 0..m-1 by its own complex matrix and transforms back:
//
//	v^[k] = sum_x v[x] exp(-i θ),   y[x] = 1/n sum_k c_k Re( (R_k v^[k]) exp(iθ) ),   θ = 2π k x/n
//
// with c_k = 2, and 1 for k = 0 and k = n/2: the inverse real transform of a truncated
// spectrum. The layers may share the matrices R, as the publication's deeper networks
// do. The feed-forward part follows the authors' code, which ends without an
// activation; GELU takes the place of its ReLU, since equations differentiate the
// outputs twice.
//
// # How it is computed
//
// A field is point-major, channels innermost and padded with zeros to a multiple of
// kernel.Lane. Along an axis it is a number of blocks (n, columns), and a truncated
// transform is a small real matrix applied to blocks of columns; backward runs the same chain with the
// transposed matrices and the conjugate R. The pointwise parts, feed-forward and
// projection alike, are one two-layer perceptron on tiles of points, whose hidden
// layer backward computes again. A layer keeps s_l and the spectra of v_l, and no v_l.
//
// A sample's gradient is summed over a fixed number of chunks of its points and then
// over the chunks in order, and samples are added in their order, so results are
// bitwise equal for any number of workers and any division into batches. After the
// first Forward and Backward nothing that grows with the grid is allocated.
package ffno
