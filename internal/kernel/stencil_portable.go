//go:build !(goexperiment.simd && amd64 && go1.26 && !go1.27)

package kernel

func gatherStencilsSIMD(_, _ []float64, _ int, _ []int32, _ *Stencils) int { return 0 }
func applyStencilSIMD(_, _ []float64, _ int, _ []int32, _ []float64) int   { return 0 }
func addScaledSIMD(_ []float64, _ float64, _ []float64) int                { return 0 }

func gatherStencils32SIMD(_, _ []float32, _ int, _ []int32, _ *Stencils) int { return 0 }
