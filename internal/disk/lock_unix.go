//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package disk

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// noFollow makes opening a symbolic link an error.
const noFollow = syscall.O_NOFOLLOW

// names is how many names an open file has.
func names(f *os.File) int {
	if info, err := f.Stat(); err == nil {
		if s, ok := info.Sys().(*syscall.Stat_t); ok {
			return int(s.Nlink)
		}
	}
	return 1
}

// writable returns an error for a folder in which no file can be made.
func writable(dir string) error { return syscall.Access(dir, 0b11) }

// nonblock makes opening a named pipe not wait for its other end.
const nonblock = syscall.O_NONBLOCK

// openLock opens and locks a file. The file is nil if another process holds it;
// held is false where the file system has no locks.
func openLock(path string) (f *os.File, held bool, err error) {
	if f, err = openOwn(path, os.O_RDWR|os.O_CREATE); err != nil {
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
	if NoLink(path) != nil {
		return
	}
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
