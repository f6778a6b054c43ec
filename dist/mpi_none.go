//go:build !((linux || darwin) && (amd64 || arm64) && !static)

package dist

import "errors"

// openMPI reports that this build cannot load a library.
func openMPI(*Launch) (Comm, error) {
	return nil, errors.New("this build of pihc has no MPI (it needs linux or darwin on amd64 or arm64, without the build tag static)")
}
