package compute

// Float is the pair of types the network's kernels are written for.
type Float interface{ ~float32 | ~float64 }
