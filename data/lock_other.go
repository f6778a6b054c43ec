//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package data

import (
	"os"
	"time"
)

// openLock opens a file on a system without locks: the process it names decides.
func openLock(path string) (f *os.File, held bool, err error) {
	f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	return f, false, err
}

func lockPartial(*os.File) {}

func removeLocked(path string, f *os.File) {
	f.Close()
	os.Remove(path)
}

// alive is true: a lock file left by a killed process has to be removed by hand.
func alive(int) bool { return true }

// removeAbandoned removes an unfinished file of an hour ago.
func removeAbandoned(path string) {
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > time.Hour {
		os.Remove(path)
	}
}

// renameOpen closes a file and renames it.
func renameOpen(f *os.File, from, to string) error {
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(from, to)
}
