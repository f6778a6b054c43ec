// Package disk has what all files of the program are written and read by: whole or not at all, locked folders, logs,
// and the errors of files.
package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// FormatError says where an encoded file breaks its format's rules.
type FormatError struct {
	Format string // "npy", "npz", "safetensors", ...
	Offset int64  // byte at fault, counted from the start of the format's data; < 0 if there is none
	Line   int    // line at fault for line-based formats, counted from 1; 0 otherwise
	Reason string
}

func (e *FormatError) Error() string {
	switch {
	case e.Line > 0:
		return fmt.Sprintf("%s: line %d: %s", e.Format, e.Line, e.Reason)
	case e.Offset >= 0:
		return fmt.Sprintf("%s: byte %d: %s", e.Format, e.Offset, e.Reason)
	}
	return fmt.Sprintf("%s: %s", e.Format, e.Reason)
}

func Malformed(format string, offset int64, reason string, args ...any) error {
	return &FormatError{Format: format, Offset: offset, Reason: fmt.Sprintf(reason, args...)}
}

// Short makes an early end of a file a FormatError.
func Short(format string, err error, at int64, what string) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return Malformed(format, at, "file ends in the %s", what)
	}
	return err
}

// A CorruptError reports a file of a dataset that is missing, truncated or
// altered.
type CorruptError struct {
	File   string
	Reason string
	Err    error // cause, may be nil
}

func (e *CorruptError) Error() string { return e.File + ": " + e.Reason }
func (e *CorruptError) Unwrap() error { return e.Err }

// Hint says what to do.
func (e *CorruptError) Hint() string {
	return "the file was truncated or changed after pihc wrote it; restore it, or make it again"
}

// Corrupt wraps the error of reading a file. A file that the system refuses to read need
// not be corrupt.
func Corrupt(file string, err error) error {
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &CorruptError{File: file, Reason: "file is missing", Err: err}
	case errors.As(err, &path):
		return fmt.Errorf("%s: %w", file, path.Err)
	}
	return &CorruptError{File: file, Reason: Reason(err).Error(), Err: err}
}

// A VersionError reports a file of another format version.
type VersionError struct {
	File      string
	Got, Want int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s: format version %d; this program reads version %d", e.File, e.Got, e.Want)
}

// Hint says what to do.
func (e *VersionError) Hint() string {
	return "it was written by another version of pihc; make it again with this one"
}

// An ExistsError reports a folder that already has other files than the ones to be
// written there. Nothing has been changed.
type ExistsError struct {
	Dir     string
	Reason  string
	Foreign bool // with files that are no dataset's
}

func (e *ExistsError) Error() string { return e.Dir + ": " + e.Reason }

// Hint says what to do.
func (e *ExistsError) Hint() string {
	if e.Foreign {
		return "choose a new folder"
	}
	return "choose another folder, or remove that one"
}

// An IncompleteError reports a dataset whose generation was interrupted.
type IncompleteError struct {
	Dir         string
	Done, Total int // samples
}

func (e *IncompleteError) Error() string {
	return fmt.Sprintf("%s: unfinished dataset (%d of %d samples); generating it again continues", e.Dir, e.Done, e.Total)
}

// Hint says what to do.
func (e *IncompleteError) Hint() string {
	return "the same `pihc generate` again continues where it stopped"
}

// Reason strips the operation and the path of a file error: the callers name
// the final path, not the temporary one.
func Reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("file ends too early")
	}
	return err
}

// writing returns the error of writing a file, nil if there is none.
func writing(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("write %s: %w", path, Reason(err))
}
