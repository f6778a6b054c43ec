//go:build faults && unix

package data

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
)

// A build with the tag faults counts the operations on files that go through this
// package, from 1. $PIHC_FAULT says what happens at one of them:
//
//	kill N   the process ends before operation N, as by SIGKILL
//	torn N   the same, but if it is a write, half of it is done
//	power N  the same as kill, and logs lose what was not synchronised
//	full N   the operation fails with ENOSPC, as on a full disk
//	io N     the operation fails with EIO
//
// $PIHC_FAULT_TRACE names a file that gets a line for each operation.
var fault struct {
	sync.Mutex
	kind   string
	at     int
	count  int
	trace  *os.File
	synced map[string]int64 // size of each log when it was last synchronised
}

func init() {
	fault.synced = map[string]int64{}
	fmt.Sscan(os.Getenv("PIHC_FAULT"), &fault.kind, &fault.at)
	if path := os.Getenv("PIHC_FAULT_TRACE"); path != "" {
		fault.trace, _ = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	}
}

// inject counts an operation, before it is done.
func inject(operation, path string) error {
	_, err := injected(operation, path, nil, nil)
	return err
}

func writeFile(f *os.File, p []byte) (int, error) {
	if n, err := injected("write", f.Name(), f, p); err != nil {
		return n, err
	}
	return f.Write(p)
}

func injected(operation, path string, f *os.File, p []byte) (int, error) {
	fault.Lock()
	defer fault.Unlock()
	fault.count++
	if fault.trace != nil {
		fmt.Fprintln(fault.trace, fault.count, operation, path)
	}
	log := strings.HasSuffix(path, ".jsonl")
	if fault.count == fault.at {
		switch fault.kind {
		case "full", "io":
			err := syscall.ENOSPC
			if fault.kind == "io" {
				err = syscall.EIO
			}
			return 0, &os.PathError{Op: operation, Path: path, Err: err}
		case "torn":
			if f != nil {
				f.Write(p[:len(p)/2])
			}
		case "power":
			for path, size := range fault.synced {
				os.Truncate(path, size)
			}
		}
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	if log && operation == "create" {
		fault.synced[path] = 0
	}
	if log && (operation == "sync" || operation == "open") {
		if info, err := os.Stat(path); err == nil {
			fault.synced[path] = info.Size()
		}
	}
	return 0, nil
}
