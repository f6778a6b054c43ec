//go:build (linux || darwin) && (amd64 || arm64) && !static

package dist

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"pihc/internal/disk"

	"github.com/ebitengine/purego"
)

// handles are the constants of one family of libraries, from its mpi.h: MPICH
// 5.0.2 (its ABI is that of MPICH since 3.1), mpi_abi.h of MPI 5.0. Those of Open
// MPI are addresses of exported objects.
type handles struct {
	world, byteType, errorsReturn uintptr
	threads                       int32 // MPI_THREAD_SERIALIZED
}

var (
	mpichHandles = handles{0x44000000, 0x4c00010d, 0x54000001, 2}
	abiHandles   = handles{0x101, 0x247, 0x143, 2048}
)

// longest is the number of bytes of one call, whose counts are C ints.
const longest = 1 << 30

// mpi calls the library from one thread, which some libraries ask for.
type mpi struct {
	handles
	comm       uintptr // the world, or what Split made of it
	rank, size int
	calls      chan func()

	initThread    func(argc, argv unsafe.Pointer, required int32, provided *int32) int32
	setErrhandler func(comm, handler uintptr) int32
	commRank      func(comm uintptr, rank *int32) int32
	commSize      func(comm uintptr, size *int32) int32
	bcast         func(buffer unsafe.Pointer, count int32, datatype uintptr, root int32, comm uintptr) int32
	allgather     func(src unsafe.Pointer, n int32, sent uintptr, dst unsafe.Pointer, m int32, received, comm uintptr) int32
	alltoall      func(src unsafe.Pointer, n int32, sent uintptr, dst unsafe.Pointer, m int32, received, comm uintptr) int32
	sendrecv      func(src unsafe.Pointer, n int32, sent uintptr, to, sendTag int32, dst unsafe.Pointer, m int32, received uintptr, from, tag int32, comm uintptr, status unsafe.Pointer) int32
	split         func(comm uintptr, color, key int32, part *uintptr) int32
	abort         func(comm uintptr, status int32) int32
	finalize      func() int32
	errorString   func(code int32, text unsafe.Pointer, length *int32) int32
	version       func(text unsafe.Pointer, length *int32) int32
}

// openMPI loads the first of the libraries that can be loaded, which it notes in the launch, and starts it.
func openMPI(l *Launch) (Comm, error) {
	lib, name, err := load(l.libraries)
	if err != nil {
		return nil, err
	}
	m := &mpi{calls: make(chan func())}
	for symbol, f := range map[string]any{
		"MPI_Init_thread": &m.initThread, "MPI_Comm_set_errhandler": &m.setErrhandler, "MPI_Comm_rank": &m.commRank,
		"MPI_Comm_size": &m.commSize, "MPI_Bcast": &m.bcast, "MPI_Allgather": &m.allgather, "MPI_Alltoall": &m.alltoall,
		"MPI_Sendrecv": &m.sendrecv, "MPI_Comm_split": &m.split,
		"MPI_Abort": &m.abort, "MPI_Finalize": &m.finalize, "MPI_Error_string": &m.errorString,
		"MPI_Get_library_version": &m.version,
	} {
		address, err := purego.Dlsym(lib, symbol)
		if err != nil {
			return nil, fmt.Errorf("%s is not an MPI library: it has no %s", name, symbol)
		}
		purego.RegisterFunc(f, address)
	}
	l.Library, l.Version = absolute(name), oneLine(m.version)
	_, l.SHA256, _ = disk.HashFile(l.Library)
	if err := m.family(lib, name, l.Version); err != nil {
		return nil, err
	}
	go func() {
		runtime.LockOSThread()
		for f := range m.calls {
			f()
		}
	}()
	var code int32
	m.do(func() { code = m.start() })
	if code != 0 {
		return nil, fmt.Errorf("MPI_Init_thread of %s: %w", name, m.failure(code))
	}
	return m, nil
}

func load(names []string) (lib uintptr, name string, err error) {
	for _, name := range names {
		// The library's own plugins look for its symbols: they must be global.
		if lib, err = purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL); err == nil {
			return lib, name, nil
		}
	}
	return 0, "", fmt.Errorf("no MPI library could be loaded (%s; name one with --mpi PATH): %w", strings.Join(names, ", "), err)
}

// family takes the handles that the library's header defines.
func (m *mpi) family(lib uintptr, name, version string) error {
	object := func(symbol string) uintptr {
		address, err := purego.Dlsym(lib, symbol)
		if err != nil {
			return 0
		}
		return address
	}
	switch {
	case strings.HasPrefix(filepath.Base(name), "libmpi_abi."):
		m.handles = abiHandles
	case object("ompi_mpi_comm_world") != 0:
		m.handles = handles{object("ompi_mpi_comm_world"), object("ompi_mpi_byte"), object("ompi_mpi_errors_return"), 2}
		if m.byteType == 0 || m.errorsReturn == 0 {
			return fmt.Errorf("%s: an Open MPI without ompi_mpi_byte or ompi_mpi_errors_return", name)
		}
	case strings.Contains(version, "MPICH") || strings.Contains(version, "Intel(R) MPI") || strings.Contains(version, "MVAPICH"):
		m.handles = mpichHandles
	default:
		return fmt.Errorf("%s is %q: neither Open MPI, nor of the MPICH family, nor the MPI-5 ABI", name, version)
	}
	return nil
}

// start initialises the library on its thread and reads rank and size.
func (m *mpi) start() int32 {
	var provided int32
	signals := readSignals()
	code := m.initThread(nil, nil, m.threads, &provided)
	signals.restore()
	if code != 0 {
		return code
	}
	m.comm = m.world
	m.setErrhandler(m.world, m.errorsReturn)
	return m.place()
}

// place reads rank and size of the communicator.
func (m *mpi) place() int32 {
	var rank, size int32
	if code := m.commRank(m.comm, &rank); code != 0 {
		return code
	}
	if code := m.commSize(m.comm, &size); code != 0 {
		return code
	}
	m.rank, m.size = int(rank), int(size)
	return 0
}

func (m *mpi) Split(color int) (Comm, error) {
	part := *m
	part.comm = 0
	err := m.call("MPI_Comm_split", func() int32 {
		if code := m.split(m.comm, int32(color), int32(m.rank), &part.comm); code != 0 {
			return code
		}
		m.setErrhandler(part.comm, m.errorsReturn)
		return part.place()
	})
	return &part, err
}

// statusBytes is more than any library's MPI_Status takes.
const statusBytes = 128

func (m *mpi) Exchange(peer int, dst, src []byte) error {
	for len(dst) > 0 || len(src) > 0 {
		n, k := min(len(dst), longest), min(len(src), longest)
		var status [statusBytes / 8]uint64
		to, from := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
		err := m.call("MPI_Sendrecv", func() int32 {
			return m.sendrecv(from, int32(k), m.byteType, int32(peer), 0, to, int32(n), m.byteType, int32(peer), 0, m.comm, unsafe.Pointer(&status))
		})
		runtime.KeepAlive(dst)
		runtime.KeepAlive(src)
		if err != nil {
			return err
		}
		dst, src = dst[n:], src[k:]
	}
	return nil
}

// do runs f on the library's thread.
func (m *mpi) do(f func()) {
	done := make(chan struct{})
	m.calls <- func() { f(); close(done) }
	<-done
}

// call runs a collective call and turns its code into an error.
func (m *mpi) call(name string, f func() int32) error {
	var code int32
	m.do(func() { code = f() })
	if code != 0 {
		return fmt.Errorf("%s: %w", name, m.failure(code))
	}
	return nil
}

func (m *mpi) failure(code int32) error {
	text := oneLine(func(text unsafe.Pointer, length *int32) int32 { return m.errorString(code, text, length) })
	if text == "" {
		return fmt.Errorf("code %d", code)
	}
	return errors.New(text)
}

// oneLine is the first line of what a function of the library says; "" where it fails.
func oneLine(f func(text unsafe.Pointer, length *int32) int32) string {
	text := make([]byte, 8192)
	var n int32
	if f(unsafe.Pointer(&text[0]), &n) != 0 || n <= 0 {
		return ""
	}
	s, _, _ := strings.Cut(string(text[:n]), "\x00")
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(s)
}

func (m *mpi) Rank() int { return m.rank }
func (m *mpi) Size() int { return m.size }

func (m *mpi) Broadcast(b []byte, root int) error {
	for len(b) > 0 {
		n := min(len(b), longest)
		p := unsafe.Pointer(&b[0])
		err := m.call("MPI_Bcast", func() int32 { return m.bcast(p, int32(n), m.byteType, int32(root), m.comm) })
		runtime.KeepAlive(b)
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func (m *mpi) AllGather(dst, src []byte) error {
	check(m, dst, src, false)
	return m.exchange("MPI_Allgather", m.allgather, dst, src, len(src), false)
}

func (m *mpi) AllToAll(dst, src []byte) error {
	check(m, dst, src, true)
	return m.exchange("MPI_Alltoall", m.alltoall, dst, src, len(src)/m.size, true)
}

// exchange calls f, whose counts are n bytes a rank; blocks says that src has a block a rank. What a C int does not
// count goes in pieces, through buffers of their size.
func (m *mpi) exchange(name string, f func(unsafe.Pointer, int32, uintptr, unsafe.Pointer, int32, uintptr, uintptr) int32, dst, src []byte, n int, blocks bool) error {
	whole := func(dst, src []byte, n int) error {
		to, from := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
		err := m.call(name, func() int32 { return f(from, int32(n), m.byteType, to, int32(n), m.byteType, m.comm) })
		runtime.KeepAlive(dst)
		runtime.KeepAlive(src)
		return err
	}
	switch {
	case n == 0:
		return nil
	case len(dst) <= longest:
		return whole(dst, src, n)
	}
	piece := longest / m.size
	to, from := make([]byte, m.size*piece), make([]byte, m.size*piece)
	for lo := 0; lo < n; lo += piece {
		count := min(piece, n-lo)
		if blocks {
			for r := range m.size {
				copy(from[r*count:(r+1)*count], src[r*n+lo:])
			}
		} else {
			copy(from[:count], src[lo:])
		}
		if err := whole(to, from, count); err != nil {
			return err
		}
		for r := range m.size {
			copy(dst[r*n+lo:][:count], to[r*count:])
		}
	}
	return nil
}

// Abort is called on the caller's thread, since the library's own may be
// waiting for another rank.
func (m *mpi) Abort(status int) {
	m.abort(m.world, int32(status))
	os.Exit(status)
}

func (m *mpi) Close() error {
	err := m.call("MPI_Finalize", m.finalize)
	close(m.calls)
	return err
}

// Exit ends the process as C's exit does: MPICH 5 takes its leave of the launcher
// in a handler of exit, and counts a rank without it as killed, which ends the
// others.
func (m *mpi) Exit(status int) {
	if address, err := purego.Dlsym(purego.RTLD_DEFAULT, "exit"); err == nil {
		purego.SyscallN(address, uintptr(status))
	}
	os.Exit(status)
}

// absolute returns the file a library was loaded from, by the list of mappings
// where the system has one.
func absolute(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	if maps, err := os.ReadFile("/proc/self/maps"); err == nil {
		base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)) // the name may be a link to a longer one
		for line := range strings.Lines(string(maps)) {
			if at := strings.IndexByte(line, '/'); at >= 0 {
				if path := strings.TrimSpace(line[at:]); strings.HasPrefix(filepath.Base(path), base) {
					return path
				}
			}
		}
	}
	if path, err := filepath.Abs(name); err == nil && strings.Contains(name, string(filepath.Separator)) {
		return path
	}
	return name
}
