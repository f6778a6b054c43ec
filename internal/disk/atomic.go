package disk

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// partialSuffix ends the name of a file being written. A killed process may
// leave one behind; nothing reads it.
const PartialSuffix = ".partial"

// WriteAtomic calls write with a buffered file in the folder of path and, when
// it succeeds, synchronises the file and renames it to path, which it
// replaces. On an error, a full disk say, nothing is left behind and path is
// as it was; what a killed process left of the same path is removed. The error
// names path.
func WriteAtomic(path string, write func(io.Writer) error) error {
	_, _, err := WriteHashed(path, nil, write)
	return err
}

// WriteFile is WriteAtomic of some content.
func WriteFile(path string, content []byte) error {
	return WriteAtomic(path, func(w io.Writer) error { _, err := w.Write(content); return err })
}

// WriteHashed is WriteAtomic that also returns the number of bytes and their SHA-256 in
// hexadecimal. A name that is not nil gives the path of the file by its SHA-256; errors
// then name path.
func WriteHashed(path string, name func(sum string) string, write func(io.Writer) error) (size int64, sum string, err error) {
	dir, base := filepath.Split(path)
	if name == nil {
		name = func(string) string { return path }
	}
	removePartials(dir, base)
	f, temporary, err := createPartial(func() string {
		return filepath.Join(dir, fmt.Sprintf(".%s-%08x%s", base, rand.Uint32(), PartialSuffix))
	})
	if err != nil {
		return 0, "", writing(path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			_ = Remove(temporary)
			err = writing(path, err)
		}
	}()
	hash := sha256.New()
	count := &countingWriter{f: f, hash: hash}
	buffer := bufio.NewWriterSize(count, 1<<18)
	if err := write(buffer); err != nil {
		return 0, "", err
	}
	if err := buffer.Flush(); err != nil {
		return 0, "", err
	}
	if err := syncFile(f); err != nil {
		return 0, "", err
	}
	sum = hex.EncodeToString(hash.Sum(nil))
	if err := Inject("rename", name(sum)); err != nil {
		return 0, "", err
	}
	if err := renameOpen(f, temporary, name(sum)); err != nil {
		return 0, "", err
	}
	SyncFolder(dir)
	return count.n, sum, nil
}

// SyncFolder makes a rename survive a power cut where the system can; not all
// can, so errors are not reported.
func SyncFolder(dir string) {
	dir = cmp.Or(dir, ".")
	if Inject("sync folder", dir) != nil {
		return
	}
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}

// countingWriter writes to a file and its hash.
type countingWriter struct {
	f    *os.File
	hash hash.Hash
	n    int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := writeFile(c.f, p)
	c.hash.Write(p[:n])
	c.n += int64(n)
	return n, err
}

func syncFile(f *os.File) error {
	if err := Inject("sync", f.Name()); err != nil {
		return err
	}
	return f.Sync()
}

// Remove removes a file; that there is none is no error.
func Remove(path string) error {
	err := Inject("remove", path)
	if err == nil {
		err = os.Remove(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// HashFile returns the size of a file and its SHA-256 in hexadecimal.
func HashFile(path string) (size int64, sum string, err error) {
	f, err := Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	hash := sha256.New()
	size, err = io.Copy(hash, f)
	if err != nil {
		return 0, "", err
	}
	return size, hex.EncodeToString(hash.Sum(nil)), nil
}

// WriteJSON writes v to path, indented, atomically.
func WriteJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return writing(path, err)
	}
	return WriteFile(path, append(text, '\n'))
}

// sealMark begins the last member of a sealed JSON object, the SHA-256 of all
// bytes before it.
const sealMark = ",\n  \"checksum\": \""

// WriteSealedJSON is WriteJSON of a struct, with a last member checksum that
// protects the bytes of the others.
func WriteSealedJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return writing(path, err)
	}
	text, ok := bytes.CutSuffix(text, []byte("\n}"))
	if !ok {
		panic("disk: WriteSealedJSON: not an object with members")
	}
	return WriteFile(path, fmt.Appendf(nil, "%s%s%x\"\n}\n", text, sealMark, sha256.Sum256(text)))
}

// ReadSealedJSON reads what WriteSealedJSON wrote. An object whose checksum does
// not fit, or that has none, is a *CorruptError.
func ReadSealedJSON(path string, v any) error {
	text, err := ReadFile(path)
	if err != nil {
		return err
	}
	at := max(bytes.LastIndex(text, []byte(sealMark)), 0)
	if want := fmt.Sprintf("%s%x\"\n}\n", sealMark, sha256.Sum256(text[:at])); string(text[at:]) != want {
		return &CorruptError{File: path, Reason: "its content does not match its checksum: it was altered"}
	}
	if err := DecodeJSON(append(text[:at:at], "\n}"...), v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// ReadJSON reads the one JSON value of path into v. Unknown fields and
// anything after the value are errors. Errors are *FormatError, which names
// the line, or errors of opening the file.
func ReadJSON(path string, v any) error {
	text, err := ReadFile(path)
	if err != nil {
		return err
	}
	if err := DecodeJSON(text, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// DecodeJSON is ReadJSON of a text. Its errors are *FormatError.
func DecodeJSON(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		offset := d.InputOffset()
		switch e := err.(type) {
		case *json.SyntaxError:
			offset = e.Offset
		case *json.UnmarshalTypeError:
			offset = e.Offset
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			offset, err = int64(len(text)), fmt.Errorf("text ends too early")
		}
		line := 1 + bytes.Count(text[:min(max(offset, 0), int64(len(text)))], []byte("\n"))
		return &FormatError{Format: "json", Line: line, Reason: err.Error()}
	}
	if rest := bytes.TrimSpace(text[d.InputOffset():]); len(rest) > 0 {
		line := 1 + bytes.Count(text[:d.InputOffset()], []byte("\n"))
		return &FormatError{Format: "json", Line: line, Reason: "text after the value"}
	}
	return nil
}

// Existing is the nearest folder above dir, or dir itself, that is there.
func Existing(dir string) string {
	at := filepath.Clean(dir)
	for _, err := os.Stat(at); errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at); _, err = os.Stat(at) {
		at = filepath.Dir(at)
	}
	return at
}

// MakeFolder makes a folder and those above it, which survive a power cut, and says
// whether it did.
func MakeFolder(dir string) (made bool, err error) {
	dir = filepath.Clean(dir)
	_, missing := os.Stat(dir)
	top := Existing(dir)
	err = Inject("make folder", dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o777)
	}
	if err != nil {
		return false, fmt.Errorf("create %s: %w", dir, Reason(err))
	}
	for above := dir; above != top; {
		above = filepath.Dir(above)
		SyncFolder(above)
	}
	return missing != nil, nil
}
