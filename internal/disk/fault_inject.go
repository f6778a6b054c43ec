//go:build faults && unix

package disk

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// A build with the tag faults counts the operations on files that go through this
// package, from 1. $PIHC_FAULT says what happens at one of them:
//
//	kill N        the process ends before operation N, as by SIGKILL
//	torn N        the same, but if it is a write, half of it is done
//	power N SEED  the same as kill, and what was not synchronised is lost: lines of
//	              logs, and what files were made, replaced and removed in a folder
//	              since it was synchronised; all of that, or with a seed other than 0
//	              each by chance
//	full N        the operation fails with ENOSPC, as on a full disk
//	io N          the operation fails with EIO
//
// $PIHC_FAULT_TRACE names a file that gets a line for each operation.
var fault struct {
	sync.Mutex
	kind  string
	at    int
	seed  uint64
	count int
	trace *os.File
	// The contents that a power cut may restore: of logs when they were last synchronised,
	// and of names that changed since their folder was; nil: no file.
	logs, names map[string][]byte
}

func init() {
	fault.logs, fault.names = map[string][]byte{}, map[string][]byte{}
	fmt.Sscan(os.Getenv("PIHC_FAULT"), &fault.kind, &fault.at, &fault.seed)
	if path := os.Getenv("PIHC_FAULT_TRACE"); path != "" {
		fault.trace, _ = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	}
}

// Inject counts an operation, before it is done.
func Inject(operation, path string) error {
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
	path = filepath.Clean(path)
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
			powerCut()
		}
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	if fault.kind == "power" {
		note(operation, path)
	}
	return 0, nil
}

// note keeps contents that a power cut may restore.
func note(operation, path string) {
	log := strings.HasSuffix(path, ".jsonl")
	switch operation {
	case "sync folder":
		maps.DeleteFunc(fault.names, func(name string, _ []byte) bool { return filepath.Dir(name) == path })
	case "make folder":
		for _, err := os.Stat(path); err != nil && path != filepath.Dir(path); _, err = os.Stat(path) {
			fault.names[path] = nil
			path = filepath.Dir(path)
		}
	case "create", "open", "lock", "rename", "remove", "release":
		if _, known := fault.names[path]; !known {
			fault.names[path] = content(path)
		}
		if log {
			fault.logs[path] = content(path)
		}
	case "sync":
		if log {
			fault.logs[path] = content(path)
		}
	}
}

// content is that of a file, nil if there is none.
func content(path string) []byte {
	text, err := os.ReadFile(path)
	if err == nil && text == nil {
		text = []byte{}
	}
	return text
}

// powerCut undoes changes that were not synchronised: of files first, then of folders.
func powerCut() {
	rng := rand.New(rand.NewPCG(fault.seed, 1))
	lost := func() bool { return fault.seed == 0 || rng.IntN(2) == 0 }
	for _, path := range slices.Sorted(maps.Keys(fault.logs)) {
		if _, err := os.Stat(path); err == nil && lost() {
			os.WriteFile(path, fault.logs[path], 0o666)
		}
	}
	for _, path := range slices.Backward(slices.Sorted(maps.Keys(fault.names))) {
		if !lost() {
			continue
		}
		if was := fault.names[path]; was == nil {
			os.RemoveAll(path)
		} else if now := content(path); now == nil || string(now) != string(was) && !strings.HasSuffix(path, ".jsonl") {
			os.WriteFile(path, was, 0o666)
		}
	}
}
