//go:build !(goexperiment.simd && amd64 && go1.26 && !go1.27)

package kernel

func machineLevel() Level { return Portable }
