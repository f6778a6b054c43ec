package pjrt

import (
	"fmt"
	"runtime"
	"unsafe"
)

// A Compiler compiles for devices that need not be there.
type Compiler struct {
	c        *Client
	topology uintptr
}

// An Option is a value that the plugin knows by its name.
type Option struct{ Name, Value string }

// OpenCompiler loads the plugin at path, for the devices that the options describe; for
// CUDA they are `target_config`, a GpuTargetConfigProto in text form, and `topology`, such
// as 1x1x1. It asks the machine for no device.
func OpenCompiler(path string, options ...Option) (*Compiler, error) {
	c, err := initialise(path)
	if err != nil {
		return nil, fmt.Errorf("plugin %s: %w", path, err)
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	address := func(s string) uintptr {
		b := append([]byte(s), 0)
		pin.Pin(&b[0])
		return uintptr(unsafe.Pointer(&b[0]))
	}
	// struct PJRT_NamedValue: size, extension, name, length, type (0: a string), value, length.
	values := make([][7]uintptr, len(options)+1)
	for i, o := range options {
		values[i] = [7]uintptr{unsafe.Sizeof(values[0]), 0, address(o.Name), uintptr(len(o.Name)), 0, address(o.Value), uintptr(len(o.Value))}
	}
	pin.Pin(&values[0])
	a := newArgs(address(""), 0, uintptr(unsafe.Pointer(&values[0])), uintptr(len(options)))
	if err := c.call(topologyCreate, a); err != nil {
		return nil, fmt.Errorf("plugin %s: it cannot compile for that device: %w", path, err)
	}
	return &Compiler{c, a[6]}, nil
}

// Compile compiles a StableHLO module in text form. The program can tell its Memory, but
// cannot run. The caller frees it.
func (c *Compiler) Compile(text string) (*Program, error) {
	s := newSource(text, compileOptions(""))
	defer s.pin.Unpin()
	a := newArgs(c.topology, uintptr(unsafe.Pointer(s.program)), s.options[0], s.options[1], 0)
	if err := c.c.call(compileFor, a); err != nil {
		return nil, err
	}
	return &Program{c: c.c, executable: a[7]}, nil
}
