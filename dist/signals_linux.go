//go:build (amd64 || arm64) && !static

package dist

import (
	"syscall"
	"unsafe"
)

// signalActions are the kernel's records (handler, flags, restorer, mask) of
// signals 1 to 64.
type signalActions [65][4]uint64

// MPI libraries install handlers of their own, for SIGSEGV and SIGTERM among
// others, which the Go runtime needs: they are read before and put back after.
func readSignals() (s signalActions) {
	for i := 1; i < len(s); i++ {
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(i), 0, uintptr(unsafe.Pointer(&s[i])), 8, 0, 0)
	}
	return s
}

func (s *signalActions) restore() {
	for i := 1; i < len(s); i++ {
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(i), uintptr(unsafe.Pointer(&s[i])), 0, 8, 0, 0)
	}
}
