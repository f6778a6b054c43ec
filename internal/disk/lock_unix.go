//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package disk

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// nonblock makes opening a named pipe not wait for its other end.
const nonblock = syscall.O_NONBLOCK

// openLock opens and locks a file. The file is nil if another process holds it;
// held is false where the file system has no locks.
func openLock(path string) (f *os.File, held bool, err error) {
	if f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return nil, false, err
	}
	switch err = flock(f, syscall.LOCK_NB); {
	case err == nil:
		return f, true, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		f.Close()
		return nil, false, nil
	}
	return f, false, nil
}

// lockPartial locks a new file. A process that is about to remove it, which
// it may until then, is waited for.
func lockPartial(f *os.File) { _ = flock(f, 0) }

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|how)
		if err != syscall.EINTR {
			return err
		}
	}
}

func removeLocked(path string, f *os.File) {
	os.Remove(path)
	f.Close()
}

// alive reports whether a process of this host exists.
func alive(process int) bool {
	err := syscall.Kill(process, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// removeAbandoned removes an unfinished file that no living process has locked,
// or, where there are no locks, one of an hour ago.
func removeAbandoned(path string) {
	f, err := Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	switch err := flock(f, syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return
	case err != nil:
		if info, err := f.Stat(); err != nil || time.Since(info.ModTime()) < time.Hour {
			return
		}
	}
	os.Remove(path)
}

// renameOpen renames an open file, which is locked until it has its name, and
// closes it.
func renameOpen(f *os.File, from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return f.Close()
}
