// Package pjrt drives a PJRT plugin: a shared library, loaded at run time, that
// compiles StableHLO for its device (a CPU, NVIDIA, AMD or TPU) and runs it there. The
// interface is that of the public C header pjrt_c_api.h (openxla/xla, xla/pjrt/c).
//
//	client, err := pjrt.Open(path)
//	program, err := client.Compile(text)
//	x, err := pjrt.Upload(client, []float64{1, 2}, 2)
//	out, err := program.Run(x)
//	err = pjrt.Download(out[0], dst)
//
// Programs run on the client's first device.
package pjrt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"pihc/internal/disk"
)

// Functions by their place in the table PJRT_Api, in words, of which the first five
// are its size, extensions and version.
const (
	errorDestroy          = 5
	errorMessage          = 6
	errorGetCode          = 7
	pluginInitialize      = 8
	pluginAttributes      = 9
	eventDestroy          = 10
	eventAwait            = 13
	clientCreate          = 15
	clientPlatformName    = 17
	clientPlatformVersion = 19
	clientDevices         = 21 // addressable ones
	clientCompile         = 25
	clientUpload          = 27
	descriptionKind       = 31
	deviceDescription     = 34
	executableDestroy     = 45
	executableNumOutputs  = 49
	loadedDestroy         = 55
	loadedGetExecutable   = 56
	loadedExecute         = 60
	bufferDestroy         = 63
	bufferToHost          = 75
	topologyCreate        = 87
	compileFor            = 94
	executableMemory      = 101
	tableWords            = 102 // that this package reads

	leastMinor = 81 // of the version 0.x: the oldest that was tried
)

// args is an argument struct of the interface, every field of which takes a word:
// its size, a pointer to extensions, and operands and results from word 2 on. Plugins
// reject a struct that is shorter than they know it, and structs only grow at their
// end with fields that may be zero: all are longer than any.
type args [40]uintptr

func newArgs(operands ...uintptr) *args {
	a := new(args)
	a[0] = unsafe.Sizeof(*a)
	copy(a[2:], operands)
	return a
}

// pointer reads word i as an address outside of Go's memory.
func (a *args) pointer(i int) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&a[i])) }

// text is the string whose address and length are words i and i+1.
func (a *args) text(i int) string {
	if a[i] == 0 {
		return ""
	}
	return string(unsafe.Slice((*byte)(a.pointer(i)), int(a[i+1])))
}

// An Error is a failure that the plugin reports.
type Error struct {
	Code    int // of absl: 8 is RESOURCE_EXHAUSTED
	Message string
}

// Error implements error: the first line of the message.
func (e *Error) Error() string {
	line, _, _ := strings.Cut(strings.TrimSpace(e.Message), "\n")
	return line
}

// OutOfMemory reports whether err is a plugin's for want of device memory.
func OutOfMemory(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == 8
}

// A Client is a plugin at work on its first device.
type Client struct {
	table          *[tableWords]uintptr
	client, device uintptr
	info           Info
}

// Info describes a plugin.
type Info struct {
	Path, SHA256 string
	Major, Minor int    // version of the interface
	Platform     string // of the device, such as cpu or cuda
	Version      string // of the platform, one line
	Devices      []string
	StableHLO    string // version that the plugin's compiler is of; "" where it does not say
}

var (
	mu   sync.Mutex
	open = map[string]*Client{} // by path: a plugin is started once in a process
)

// Open loads the plugin at path and starts it on its devices. Clients last as long as
// the process: calls with the same path return the same one.
func Open(path string) (*Client, error) {
	mu.Lock()
	defer mu.Unlock()
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if c := open[path]; c != nil {
		return c, nil
	}
	c, err := start(path)
	if err != nil {
		return nil, fmt.Errorf("plugin %s: %w", path, err)
	}
	open[path] = c
	return c, nil
}

// initialise loads the plugin at path, without its devices.
func initialise(path string) (*Client, error) {
	_, sum, err := disk.HashFile(path)
	if err != nil {
		return nil, err
	}
	// A plugin returns as errors what it logs besides. A user's setting stays.
	if _, set := os.LookupEnv("TF_CPP_MIN_LOG_LEVEL"); !set {
		os.Setenv("TF_CPP_MIN_LOG_LEVEL", "3")
	}
	table, err := load(path)
	if err != nil {
		return nil, err
	}
	c := &Client{info: Info{Path: path, SHA256: sum}}
	head := (*[5]uintptr)(table)
	version := (*[2]int32)(unsafe.Pointer(&head[4]))
	c.info.Major, c.info.Minor = int(version[0]), int(version[1])
	if c.info.Major != 0 || c.info.Minor < leastMinor || head[0] < tableWords*unsafe.Sizeof(head[0]) {
		return nil, fmt.Errorf("its PJRT interface is version %d.%d; want 0.%d or later", c.info.Major, c.info.Minor, leastMinor)
	}
	c.table = (*[tableWords]uintptr)(table)
	if err := c.call(pluginInitialize, newArgs()); err != nil {
		return nil, fmt.Errorf("it cannot be initialised: %w", err)
	}
	return c, nil
}

func start(path string) (*Client, error) {
	c, err := initialise(path)
	if err != nil {
		return nil, err
	}
	a := newArgs()
	if err := c.call(clientCreate, a); err != nil {
		return nil, fmt.Errorf("it finds no device: %w", err)
	}
	c.client = a[8]
	return c, c.describe()
}

// describe fills info, and finds the device.
func (c *Client) describe() error {
	a := newArgs(c.client)
	if err := c.call(clientPlatformName, a); err != nil {
		return err
	}
	c.info.Platform = a.text(3)
	a = newArgs(c.client)
	if err := c.call(clientPlatformVersion, a); err != nil {
		return err
	}
	c.info.Version = strings.Join(strings.Fields(a.text(3)), " ")
	a = newArgs(c.client)
	if err := c.call(clientDevices, a); err != nil {
		return err
	}
	devices := unsafe.Slice((*uintptr)(a.pointer(3)), int(a[4]))
	if len(devices) == 0 {
		return errors.New("it finds no device")
	}
	c.device = devices[0]
	for _, d := range devices {
		a := newArgs(d)
		if err := c.call(deviceDescription, a); err != nil {
			return err
		}
		a = newArgs(a[3])
		if err := c.call(descriptionKind, a); err != nil {
			return err
		}
		c.info.Devices = append(c.info.Devices, a.text(3))
	}
	a = newArgs()
	if err := c.call(pluginAttributes, a); err != nil {
		return nil // not all plugins have attributes
	}
	// struct PJRT_NamedValue: size, extension, name, length, type, value, length.
	for _, v := range unsafe.Slice((*[7]uintptr)(a.pointer(2)), int(a[3])) {
		w := args{2: v[2], 3: v[3], 5: v[5], 6: v[6]}
		if w.text(2) != "stablehlo_current_version" || int32(v[4]) != 2 {
			continue
		}
		var parts []string
		for _, n := range unsafe.Slice((*int64)(w.pointer(5)), int(v[6])) {
			parts = append(parts, fmt.Sprint(n))
		}
		c.info.StableHLO = strings.Join(parts, ".")
	}
	return nil
}

// Info describes the plugin.
func (c *Client) Info() Info { return c.info }

// call calls function f of the table.
func (c *Client) call(f int, a *args) error {
	var pin runtime.Pinner
	pin.Pin(a)
	defer pin.Unpin()
	e := call(c.table[f], unsafe.Pointer(a))
	if e == 0 {
		return nil
	}
	code, message, destroy := newArgs(e), newArgs(e), newArgs(e)
	pin.Pin(code)
	pin.Pin(message)
	pin.Pin(destroy)
	call(c.table[errorGetCode], unsafe.Pointer(code))
	call(c.table[errorMessage], unsafe.Pointer(message))
	err := &Error{int(int32(code[3])), message.text(3)}
	call(c.table[errorDestroy], unsafe.Pointer(destroy))
	return err
}

// await waits for an event and frees it.
func (c *Client) await(event uintptr) error {
	if event == 0 {
		return nil
	}
	err := c.call(eventAwait, newArgs(event))
	return errors.Join(err, c.call(eventDestroy, newArgs(event)))
}

// A Program is compiled code on the device.
type Program struct {
	c                  *Client
	loaded, executable uintptr
	outputs            int
}

// compileOptions is a CompileOptionsProto: executable_build_options (3) with one
// replica (4) and one partition (5). On CPUs env_option_overrides (7) turns off a flag
// besides: with it XLA runs a Fourier transform on its pool of threads and has that wait
// for others of the same pool, which may be waiting alike, for ever (jaxlib 0.11,
// openxla/xla pull request 46347).
func compileOptions(platform string) []byte {
	options := []byte{0x1a, 4, 0x20, 1, 0x28, 1}
	if platform == "cpu" {
		const flag = "xla_cpu_multi_thread_eigen"
		options = append(options, 0x3a, byte(len(flag)+6), 0x0a, byte(len(flag)))
		options = append(options, flag...)
		options = append(options, 0x12, 2, 0x10, 0) // bool_field (2): false
	}
	return options
}

// source is a module in text form as compilers take it: a PJRT_Program and options.
type source struct {
	pin     runtime.Pinner
	program *args
	options [2]uintptr // address, length
}

func newSource(text string, options []byte) *source {
	s := &source{}
	address := func(b []byte) uintptr {
		s.pin.Pin(&b[0])
		return uintptr(unsafe.Pointer(&b[0]))
	}
	format := []byte("mlir")
	s.program = newArgs(address([]byte(text)), uintptr(len(text)), address(format), uintptr(len(format)))
	s.pin.Pin(s.program)
	s.options = [2]uintptr{address(options), uintptr(len(options))}
	return s
}

// Compile compiles a StableHLO module in text form. The caller frees it.
func (c *Client) Compile(text string) (*Program, error) {
	s := newSource(text, compileOptions(c.info.Platform))
	defer s.pin.Unpin()
	a := newArgs(c.client, uintptr(unsafe.Pointer(s.program)), s.options[0], s.options[1])
	if err := c.call(clientCompile, a); err != nil {
		return nil, err
	}
	p := &Program{c: c, loaded: a[6]}
	a = newArgs(p.loaded)
	if err := c.call(loadedGetExecutable, a); err != nil {
		return nil, err
	}
	p.executable = a[3]
	a = newArgs(p.executable)
	if err := c.call(executableNumOutputs, a); err != nil {
		return nil, err
	}
	p.outputs = int(a[3])
	return p, nil
}

// Memory returns the bytes that the compiler plans for arguments, outputs and
// intermediate results.
func (p *Program) Memory() (arguments, outputs, between int64, err error) {
	a := newArgs(p.executable)
	err = p.c.call(executableMemory, a)
	return int64(a[4]), int64(a[5]), int64(a[7]), err
}

// Free frees the program.
func (p *Program) Free() {
	_ = p.c.call(executableDestroy, newArgs(p.executable))
	if p.loaded != 0 {
		_ = p.c.call(loadedDestroy, newArgs(p.loaded))
	}
}

// A Buffer is an array on the device.
type Buffer struct {
	c  *Client
	at uintptr
}

// Run runs the program, which owns none of its arguments, and returns its outputs,
// which the caller frees. It may return before they are computed.
func (p *Program) Run(arguments ...*Buffer) ([]*Buffer, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	list := make([]uintptr, len(arguments)+1)
	keep := make([]int64, len(arguments)+1) // arguments that are not to be overwritten
	for i, b := range arguments {
		list[i], keep[i] = b.at, int64(i)
	}
	outputs := make([]uintptr, p.outputs+1)
	pin.Pin(&list[0])
	pin.Pin(&keep[0])
	pin.Pin(&outputs[0])
	lists := []uintptr{uintptr(unsafe.Pointer(&list[0])), uintptr(unsafe.Pointer(&outputs[0]))}
	pin.Pin(&lists[0])
	options := newArgs(0, 0, 0, 0, 0, uintptr(unsafe.Pointer(&keep[0])), uintptr(len(arguments)))
	pin.Pin(options)
	a := newArgs(p.loaded, uintptr(unsafe.Pointer(options)), uintptr(unsafe.Pointer(&lists[0])), 1, uintptr(len(arguments)), uintptr(unsafe.Pointer(&lists[1])))
	if err := p.c.call(loadedExecute, a); err != nil {
		return nil, err
	}
	out := make([]*Buffer, p.outputs)
	for i := range out {
		out[i] = &Buffer{c: p.c, at: outputs[i]}
	}
	runtime.KeepAlive(arguments)
	return out, nil
}

// Element is the type of an array's values.
type Element interface{ ~int32 | ~float32 | ~float64 }

// elementType is the PJRT_Buffer_Type of T.
func elementType[T Element]() uintptr {
	switch any(T(0)).(type) {
	case int32:
		return 4
	case float32:
		return 11
	}
	return 12
}

// Upload copies data of the given shape, the last axis fastest, to the device. It
// panics unless the shape holds as many elements.
func Upload[T Element](c *Client, data []T, shape ...int) (*Buffer, error) {
	size := 1
	dims := make([]int64, len(shape)+1)
	for i, n := range shape {
		size *= n
		dims[i] = int64(n)
	}
	if size != len(data) || size == 0 {
		panic("pjrt: Upload: the shape is not that of the data")
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&data[0])
	pin.Pin(&dims[0])
	a := newArgs(c.client, uintptr(unsafe.Pointer(&data[0])), elementType[T](), uintptr(unsafe.Pointer(&dims[0])), uintptr(len(shape)), 0, 0,
		0 /* immutable during the call alone */, c.device)
	if err := c.call(clientUpload, a); err != nil {
		return nil, err
	}
	return &Buffer{c: c, at: a[14]}, c.await(a[13])
}

// Download waits for a buffer and copies it to dst, which has its number of elements.
func Download[T Element](b *Buffer, dst []T) error {
	if len(dst) == 0 {
		panic("pjrt: Download: nothing to copy to")
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&dst[0])
	a := newArgs(b.at, 0, uintptr(unsafe.Pointer(&dst[0])), uintptr(len(dst))*unsafe.Sizeof(dst[0]))
	if err := b.c.call(bufferToHost, a); err != nil {
		return err
	}
	return b.c.await(a[6])
}

// Free frees the buffer; a nil one is none.
func (b *Buffer) Free() {
	if b != nil && b.at != 0 {
		_ = b.c.call(bufferDestroy, newArgs(b.at))
		b.at = 0
	}
}
