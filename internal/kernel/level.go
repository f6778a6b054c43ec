package kernel

// The vectors of float64 kernels, transforms and stencils follow; till then they run
// their references.
const level, AVX2 = 0, 1
