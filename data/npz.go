package data

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"pihc/internal/disk"
	"pihc/internal/words"
)

// NPZ is NumPy's format for several arrays: a ZIP archive of NPY files. Ours
// are stored, not deflated: floating-point fields shrink by a few percent only,
// and stored ones read at the speed of the disk. Both kinds are read.

// Named is an array and its name in a file of several.
type Named struct {
	Name  string
	Array *Array
}

// Find returns the array of the name, nil if there is none.
func Find(arrays []Named, name string) *Array {
	for _, n := range arrays {
		if n.Name == name {
			return n.Array
		}
	}
	return nil
}

// EncodeNPZ writes the arrays in the order given. Equal arrays give equal
// bytes: no times are stored.
func EncodeNPZ(w io.Writer, arrays []Named) error {
	z := zip.NewWriter(w)
	for _, n := range arrays {
		f, err := z.CreateHeader(&zip.FileHeader{Name: n.Name + ".npy", Method: zip.Store})
		if err != nil {
			return err
		}
		if err := encodeNPY(f, n.Array); err != nil {
			return err
		}
	}
	return z.Close()
}

// decodeNPZ reads all arrays of an archive of size bytes, in its order, with
// the ".npy" of their names removed. Checksums are verified. Errors are
// *FormatError, or those of r.
func decodeNPZ(r io.ReaderAt, size int64) ([]Named, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		if errors.Is(err, zip.ErrFormat) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return nil, disk.Malformed("npz", -1, "not a ZIP archive, or a truncated one")
		}
		return nil, disk.Malformed("npz", -1, "%v", err)
	}
	var arrays []Named
	seen := map[string]bool{}
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			return nil, disk.Malformed("npz", -1, "member %q is not an NPY file", f.Name)
		}
		if seen[name] {
			return nil, disk.Malformed("npz", -1, "two members named %q", f.Name)
		}
		seen[name] = true
		a, err := decodeMember(f)
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, Named{name, a})
	}
	return arrays, nil
}

// decodeMember keeps the offset of an error inside the member.
func decodeMember(f *zip.File) (*Array, error) {
	inMember := func(err error) error {
		var format *disk.FormatError
		if errors.As(err, &format) {
			return &disk.FormatError{Format: "npz", Offset: format.Offset, Reason: fmt.Sprintf("of member %q: %s", f.Name, format.Reason)}
		}
		return disk.Malformed("npz", -1, "member %q: %v", f.Name, err)
	}
	member, err := f.Open()
	if err != nil {
		return nil, inMember(err)
	}
	defer member.Close()
	a, err := decodeNPY(member)
	if err != nil {
		return nil, inMember(err)
	}
	// The checksum is compared when the end is reached.
	rest, err := io.CopyN(io.Discard, member, 1)
	if rest > 0 {
		return nil, disk.Malformed("npz", -1, "member %q has bytes after the last value", f.Name)
	}
	if err != io.EOF {
		return nil, inMember(err)
	}
	return a, nil
}

// WriteNPZ writes the arrays to path atomically.
func WriteNPZ(path string, arrays []Named) error {
	return disk.WriteAtomic(path, func(w io.Writer) error { return EncodeNPZ(w, arrays) })
}

// ReadNPZ reads all arrays of path.
func ReadNPZ(path string) ([]Named, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	arrays, err := decodeNPZ(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return arrays, nil
}

// ReadArray reads a file of one array: NPY, or NPZ with a single member.
func ReadArray(path string) (*Array, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	var magic [4]byte
	io.ReadFull(f, magic[:])
	f.Close()
	if !bytes.Equal(magic[:], []byte("PK\x03\x04")) {
		return readNPY(path)
	}
	arrays, err := ReadNPZ(path)
	if err != nil {
		return nil, err
	}
	if len(arrays) != 1 {
		names := make([]string, len(arrays))
		for i, n := range arrays {
			names[i] = n.Name
		}
		return nil, fmt.Errorf("%s: holds %d arrays (%s); want one", path, len(arrays), words.List(names))
	}
	return arrays[0].Array, nil
}
