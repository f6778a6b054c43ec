//go:build !((linux || darwin) && (amd64 || arm64) && !static)

package pjrt

import (
	"errors"
	"unsafe"
)

// load reports that this build cannot load a library.
func load(string) (unsafe.Pointer, error) {
	return nil, errors.New("this build of pihc loads no plugins (it needs linux or darwin on amd64 or arm64, without the build tag static)")
}

func call(uintptr, unsafe.Pointer) uintptr { panic("pjrt: no plugin") }
