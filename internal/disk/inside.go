package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A linkError reports a name in a run or dataset folder that is a symbolic link where none may be.
type linkError struct{ path, leads string }

func (e *linkError) Error() string {
	return fmt.Sprintf("%s is a symbolic link%s", e.path, e.leads)
}

// Hint says what to do.
func (e *linkError) Hint() string {
	return "a run or dataset folder may come from anywhere: nothing in it is written through a link, or read through one that leads out of it; put the file itself there. The folder may be a link itself"
}

// Inside returns an error unless every name that there is in a folder, which may be a link itself, is in it: a link that
// leads out of it is none of its files. What was made elsewhere may hold links to anything on this machine.
func Inside(folder string, names ...string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil // who reads it says why not
	}
	defer root.Close()
	for _, name := range names {
		if _, err := root.Stat(name); err == nil || errors.Is(err, fs.ErrNotExist) {
			continue // or a link to nothing in the folder
		}
		for at := ""; ; { // names the part that is the link
			part, rest, more := strings.Cut(name, "/")
			at = filepath.Join(at, part)
			if info, err := os.Lstat(filepath.Join(folder, at)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				return &linkError{filepath.Join(folder, at), " that leads out of the folder"}
			}
			if !more {
				break
			}
			name = rest
		}
	}
	return nil
}

// NoLink returns an error for a path that is a symbolic link.
func NoLink(path string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return &linkError{path: path}
	}
	return nil
}

// openOwn opens a file of a run or dataset folder to write in it where it stands: never one that a link leads to.
func openOwn(path string, flags int) (*os.File, error) {
	if err := NoLink(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, flags|noFollow, 0o666)
	if link := NoLink(path); err != nil && link != nil { // made one in between
		return nil, link
	}
	return f, err
}
