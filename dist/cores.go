package dist

import (
	"bytes"
	"runtime"
)

// Cores is how many threads this rank should use so that the ranks of a machine
// share its cores: those it is bound to, divided by the ranks bound to the same.
func Cores(c Comm) (int, error) {
	mine, err := binding()
	if err != nil {
		return 0, err
	}
	all, err := gather(c, mine)
	if err != nil {
		return 0, err
	}
	sharing := 0
	for _, theirs := range all {
		if bytes.Equal(theirs, mine) {
			sharing++
		}
	}
	return max(1, runtime.NumCPU()/sharing), nil
}
