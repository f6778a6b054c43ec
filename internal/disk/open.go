package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxText is the most bytes of a file that is read as a whole, but for arrays. The longest that there are, manifests of
// large datasets, have a few megabytes.
const maxText = 64 << 20

// A kindError says that a path names something else than a file.
type kindError struct{ kind string }

func (e *kindError) Error() string { return "it is " + e.kind + ", not a file" }

// Hint says what to do.
func (e *kindError) Hint() string {
	return "give the path of a file; a spec or a PDE file may also come from another program, by /dev/stdin or <(command)"
}

// Open opens a file for reading and never waits for another process: a folder, a named pipe, a socket or a device is an
// error. A link is followed.
func Open(path string) (*os.File, error) { return open(path, false) }

// open is Open, with any true also of what is no file.
func open(path string, any bool) (*os.File, error) {
	// Before it is opened: that alone may do something to a device.
	info, err := os.Stat(path)
	var at *fs.PathError
	if errors.As(err, &at) {
		at.Op = "open"
	}
	if err != nil {
		return nil, err
	}
	if err := kindOf(info.Mode(), any); err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	if any {
		return os.Open(path)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	if err := regular(f); err != nil { // replaced in between
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return f, nil
}

// regular is an error for an open file that is none.
func regular(f *os.File) error {
	info, err := f.Stat()
	if err == nil {
		err = kindOf(info.Mode(), false)
	}
	return Reason(err)
}

// isGiven reports whether a path names an open file of the process.
func isGiven(path string) bool {
	path = filepath.ToSlash(filepath.Clean(path))
	return path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}

// kindOf is an error for what is no file; where any may be, for folders alone.
func kindOf(mode fs.FileMode, any bool) error {
	switch {
	case mode.IsDir():
		return syscall.EISDIR
	case mode.IsRegular() || any:
		return nil
	case mode&fs.ModeNamedPipe != 0:
		return &kindError{"a named pipe"}
	case mode&fs.ModeSocket != 0:
		return &kindError{"a socket"}
	}
	return &kindError{"a device"}
}

// ReadFile reads a text as a whole. One of more than maxText bytes is an error, and what Open refuses, but for pipes that
// the process was given open: /dev/stdin and /dev/fd/N, as shells name them in `pihc check <(command)`.
func ReadFile(path string) ([]byte, error) {
	f, err := open(path, isGiven(path))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err == nil && len(text) > maxText {
		return nil, &fs.PathError{Op: "read", Path: path, Err: tooLong("it", maxText)}
	}
	return text, err
}

func tooLong(what string, most int) error {
	return fmt.Errorf("%s has more than %d MiB, which no text of pihc has", what, most>>20)
}
