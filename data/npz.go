package data

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"pihc/internal/disk"
	"pihc/internal/machine"
)

// The format NPZ is NumPy's for several arrays: a ZIP archive of NPY files. Ours
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

// WriteNPZ writes the arrays to path atomically.
func WriteNPZ(path string, arrays []Named) error {
	return disk.WriteAtomic(path, func(w io.Writer) error { return EncodeNPZ(w, arrays) })
}

// NPZ is an open archive. What is in it is read when it is asked for, headers before values.
type NPZ struct {
	names   []string // of the arrays, in the order of the archive
	path    string
	file    io.Closer
	members map[string]*zip.File // by name
	read    float64              // values that were read so far
}

// OpenNPZ reads the names of the arrays of path.
func OpenNPZ(path string) (*NPZ, error) {
	f, size, _, err := openSized(path)
	if err != nil {
		return nil, err
	}
	z, err := newNPZ(f, size)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	z.path, z.file = path, f
	return z, nil
}

// newNPZ reads the names in an archive of size bytes, with ".npy" removed. Errors are *FormatError, or those of r.
func newNPZ(r io.ReaderAt, size int64) (*NPZ, error) {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		if errors.Is(err, zip.ErrFormat) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return nil, disk.Malformed("npz", -1, "not a ZIP archive, or a truncated one")
		}
		return nil, disk.Malformed("npz", -1, "%v", err)
	}
	z := &NPZ{members: map[string]*zip.File{}}
	for _, f := range archive.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			return nil, disk.Malformed("npz", -1, "member %q is not an NPY file", f.Name)
		}
		if z.members[name] != nil {
			return nil, disk.Malformed("npz", -1, "two members named %q", f.Name)
		}
		z.members[name] = f
		z.names = append(z.names, name)
	}
	return z, nil
}

// Names are those of the arrays, in the order of the archive.
func (z *NPZ) Names() []string { return z.names }

// Close ends the reading.
func (z *NPZ) Close() error { return z.file.Close() }

// member opens an array and reads its header.
func (z *NPZ) member(name string) (r io.ReadCloser, h npyHeader, err error) {
	f := z.members[name]
	if f == nil {
		return nil, h, errors.New("there is none of this name")
	}
	if r, err = f.Open(); err != nil {
		return nil, h, err
	}
	if h, err = decodeNPYHeader(r); err == nil {
		err = h.fits(int64(min(f.UncompressedSize64, math.MaxInt64)))
	}
	if err != nil {
		r.Close()
	}
	return r, h, err
}

// inMember names the file and the member of an error, and keeps the offset inside the member.
func (z *NPZ) inMember(name string, err error) error {
	var format *disk.FormatError
	if errors.As(err, &format) {
		err = &disk.FormatError{Format: "npz", Offset: format.Offset, Reason: fmt.Sprintf("of member %q: %s", name+".npy", format.Reason)}
	} else {
		err = disk.Malformed("npz", -1, "member %q: %v", name+".npy", err)
	}
	if z.path == "" {
		return err
	}
	return fmt.Errorf("%s: %w", z.path, err)
}

// Shape reads the shape of an array, nil if there is none of the name.
func (z *NPZ) Shape(name string) ([]int, error) {
	if z.members[name] == nil {
		return nil, nil
	}
	r, h, err := z.member(name)
	if err != nil {
		return nil, z.inMember(name, err)
	}
	return h.shape, r.Close()
}

// Read reads an array, or its first samples, along the first axis, alone; all for 0. What comes after them is not looked at;
// where all are read their checksum is verified. Arrays that together do not fit the memory are an error.
func (z *NPZ) Read(name string, samples int) (*Array, error) {
	r, h, err := z.member(name)
	if err != nil {
		return nil, z.inMember(name, err)
	}
	defer r.Close()
	first := h.first(samples)
	if err := machine.CheckValues(z.read + float64(first.count)); err != nil {
		return nil, z.inMember(name, err)
	}
	z.read += float64(first.count)
	a, err := first.decode(r)
	if err == nil && first.count == h.count {
		// The checksum is compared when the end is reached.
		if _, err = r.Read(make([]byte, 1)); err == io.EOF {
			err = nil
		}
	}
	if err != nil {
		return nil, z.inMember(name, err)
	}
	if samples > 0 && h.transposed() && samples < a.Shape[0] {
		a = NewArray(append([]int{samples}, a.Shape[1:]...), a.Float64()[:a.Len()/a.Shape[0]*samples])
	}
	return a, nil
}

// ReadNPZ reads all arrays of path.
func ReadNPZ(path string) ([]Named, error) {
	z, err := OpenNPZ(path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return allOf(z)
}
