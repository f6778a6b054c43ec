// Package fno is the Fourier neural operator of Li et al. (arXiv:2010.08895) as
// the paper behind pihc uses it: a pointwise lift, Fourier layers, a pointwise
// projection with one hidden layer, on a box grid of two or more axes, with a
// forward and a backward pass written by hand.
//
//	v_0     = a·lift.weight + lift.bias                         a: the input fields
//	pre_l   = v_l·weight_l + bias_l + K_l v_l                   l = 0..layers-1
//	v_{l+1} = gelu(pre_l)                                       last one: see Network
//	hidden  = gelu(v·projection.weight + projection.bias)
//	output  = hidden·output.weight + output.bias                gelu of it: see Network
//
// K_l transforms v_l along all axes, multiplies each kept mode by its own complex
// matrix and transforms back. With points P, n points and coordinate index x on
// the last axis, kept modes k = 0..m-1 there and q = -m..m-1 on every other axis,
//
//	v^[q,k] = sum_p v[p] exp(-i θ),   y[p] = 1/P sum_qk c_k Re( (R_qk v^[q,k]) exp(iθ) )
//
// θ = 2π (q t/n_t + ... + k x/n_x), c_0 = 1, c_k = 2, and 1 for k = n/2: the inverse
// real transform of a truncated spectrum, which like numpy.fft.irfftn ignores the
// imaginary part of k = 0 after the other axes are transformed.
//
// # How it is computed
//
// Internally a field is point-major, channels innermost: a row is a line of
// points along the last axis (the outer axes enumerate rows), a tile 64 points of
// a row. Channels are padded with zeros to a multiple of 16.
//
//   - A truncated transform along an axis is a small real matrix. Along the last
//     axis it is E (points x 2m: cosines, then minus sines), applied to each row
//     while the row's tiles are in cache; along the outer axes the matrices act on
//     row spectra only. The transposed matrix is both the inverse (up to c_k/P)
//     and the adjoint, so backward runs the same chain with the conjugate R.
//   - The inverse transform along the last axis joins the pointwise part in one
//     matrix product, [v | E]·[weight; S_row] + bias; no full spectrum or
//     separate inverse field exists. Backward is [g | E]·[weightᵀ; S'_row].
//   - The lift is linear, so layer 0 applies lift·weight_0 to the input fields
//     and never forms v_0; its backward needs only inputsᵀ·g and the spectra.
//   - Only pre-activations are kept for backward, which recomputes gelu together with its
//     derivative. Activations go from a layer to the next in one field, which backward
//     uses for the gradient.
//   - A sample's gradient is summed over a fixed number of chunks of its rows and
//     then over the chunks in order, and samples are added in their order, so results
//     are bitwise equal for any number of workers and any division into batches.
//
// After the first Forward and Backward nothing that grows with the grid is allocated.
package fno
