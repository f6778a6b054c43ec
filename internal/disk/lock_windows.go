package disk

import (
	"errors"
	"os"
	"syscall"
)

// noFollow is not there: links are looked for before a file is opened.
const noFollow = 0

// names is how many names an open file has, as far as is known.
func names(*os.File) int { return 1 }

// writable says nothing of a folder here.
func writable(string) error { return nil }

// nonblock is not needed: named pipes have paths of their own.
const nonblock = 0

// openLock opens a file that others may read but not open for writing. The file
// is nil if another process has it open so.
func openLock(path string) (f *os.File, held bool, err error) {
	if err := NoLink(path); err != nil {
		return nil, false, err
	}
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, false, err
	}
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, syscall.FILE_SHARE_READ, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	const sharingViolation = syscall.Errno(32)
	switch {
	case errors.Is(err, sharingViolation):
		return nil, false, nil
	case err != nil:
		return nil, false, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), true, nil
}

// lockPartial has nothing to do: an open file cannot be removed.
func lockPartial(*os.File) {}

func removeLocked(path string, f *os.File) {
	f.Close()
	os.Remove(path)
}

func alive(int) bool { return false }

// removeAbandoned removes an unfinished file; that of a living process is open,
// and stays.
func removeAbandoned(path string) { os.Remove(path) }

// renameOpen closes a file and renames it.
func renameOpen(f *os.File, from, to string) error {
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(from, to)
}
