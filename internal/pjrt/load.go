//go:build (linux || darwin) && (amd64 || arm64) && !static

package pjrt

import (
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"
)

// load opens a plugin and returns its table of functions.
func load(path string) (unsafe.Pointer, error) {
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	get, err := purego.Dlsym(lib, "GetPjrtApi")
	if err != nil {
		return nil, fmt.Errorf("it is no PJRT plugin: it has no GetPjrtApi")
	}
	var table func() unsafe.Pointer
	purego.RegisterFunc(&table, get)
	return table(), nil
}

// call calls a function of the table with its argument struct.
func call(f uintptr, args unsafe.Pointer) uintptr {
	r, _, _ := purego.SyscallN(f, uintptr(args))
	return r
}
