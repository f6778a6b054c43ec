package data

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"

	"pihc/internal/disk"
	"pihc/internal/words"
)

// netcdfHeader reads the header from front to back. What it allocates is bounded by what it has read.
type netcdfHeader struct {
	r          *bufio.Reader
	at, size   int64
	wide       bool // CDF-2
	dimensions []int64
	names      []string // of dimensions
	unlimited  int      // its position, -1 for none
}

// fail is an error at the bytes that were read last.
func (h *netcdfHeader) fail(back int64, reason string, args ...any) error {
	return disk.Malformed("netcdf", max(0, h.at-back), reason, args...)
}

func (h *netcdfHeader) bytes(p []byte) error {
	n, err := io.ReadFull(h.r, p)
	h.at += int64(n)
	if err != nil {
		return disk.Short("netcdf", err, h.at, "header")
	}
	return nil
}

func (h *netcdfHeader) number() (uint32, error) {
	var b [4]byte
	err := h.bytes(b[:])
	return binary.BigEndian.Uint32(b[:]), err
}

// count reads the number of elements of a list, each of which takes so many bytes at least.
func (h *netcdfHeader) count(what string, bytes int64) (int64, error) {
	n, err := h.number()
	if err == nil && int64(n) > (h.size-h.at)/max(1, bytes) {
		err = h.fail(4, "%d %s are more than the rest of the file holds", n, what)
	}
	return int64(n), err
}

// list reads the tag and the length of a list.
func (h *netcdfHeader) list(tag uint32, what string, bytes int64) (int64, error) {
	got, err := h.number()
	if err != nil {
		return 0, err
	}
	if got != tag && got != 0 {
		return 0, h.fail(4, "tag %d; want %d of the list of %s", got, tag, what)
	}
	n, err := h.count(what, bytes)
	if err == nil && got == 0 && n != 0 {
		err = h.fail(4, "%d %s in a list that is absent", n, what)
	}
	return n, err
}

func padded(n int64) int64 { return (n + 3) &^ 3 }

func (h *netcdfHeader) name() (string, error) {
	n, err := h.count("bytes of a name", 1)
	if err != nil {
		return "", err
	}
	if n > maxNetCDFName {
		return "", h.fail(4, "a name of %d bytes; want at most %d", n, maxNetCDFName)
	}
	b := make([]byte, padded(n))
	err = h.bytes(b)
	return string(b[:n]), err
}

// attributes reads those of a variable, or of the file, for a variable that nobody has.
func (h *netcdfHeader) attributes(v *netcdfVariable) error {
	count, err := h.list(tagAttribute, "attributes", 12)
	for ; count > 0 && err == nil; count-- {
		err = h.attribute(v)
	}
	return err
}

func (h *netcdfHeader) attribute(v *netcdfVariable) error {
	name, err := h.name()
	if err != nil {
		return err
	}
	kind, err := h.number()
	if err != nil {
		return err
	}
	t, ok := netcdfTypes[kind]
	if !ok {
		return h.fail(4, "attribute %q is of type %d; want 1 to 6", name, kind)
	}
	n, err := h.count("values of an attribute", t.bytes)
	if err != nil {
		return err
	}
	size := padded(n * t.bytes)
	if t.elements == "" || n != 1 {
		skipped, err := io.CopyN(io.Discard, h.r, size)
		h.at += skipped
		if name == "scale_factor" || name == "add_offset" {
			v.packed = true
		}
		if err != nil {
			return disk.Short("netcdf", err, h.at, "header")
		}
		return nil
	}
	values, got, err := decodeValues(h.r, t.elements, 1, binary.BigEndian)
	h.at += got
	if err != nil {
		return disk.Short("netcdf", err, h.at, "header")
	}
	value := (&Array{Data: values}).Float64()[0]
	switch name {
	case "_FillValue", "missing_value":
		v.fill = append(v.fill, value)
	case "scale_factor":
		v.packed = v.packed || value != 1
	case "add_offset":
		v.packed = v.packed || value != 0
	}
	return nil
}

func (h *netcdfHeader) dimensionList() error {
	count, err := h.list(tagDimension, "dimensions", 8)
	for ; count > 0 && err == nil; count-- {
		var name string
		if name, err = h.name(); err != nil {
			return err
		}
		var n uint32
		if n, err = h.number(); err == nil && n == 0 {
			if h.unlimited >= 0 {
				return h.fail(4, "two dimensions without a length")
			}
			h.unlimited = len(h.dimensions)
		}
		h.dimensions, h.names = append(h.dimensions, int64(n)), append(h.names, name)
	}
	return err
}

// variable reads the entry of one.
func (h *netcdfHeader) variable(records int64) (name string, v *netcdfVariable, err error) {
	if name, err = h.name(); err != nil {
		return "", nil, err
	}
	axes, err := h.count("dimensions of a variable", 4)
	if err == nil && axes > maxNetCDFAxes {
		err = h.fail(4, "variable %q has %d axes; want at most %d", name, axes, maxNetCDFAxes)
	}
	v = &netcdfVariable{}
	for k := int64(0); k < axes && err == nil; k++ {
		var id uint32
		if id, err = h.number(); err != nil {
			break
		}
		if int64(id) >= int64(len(h.dimensions)) {
			return "", nil, h.fail(4, "variable %q: dimension %d of %d", name, id, len(h.dimensions))
		}
		n := h.dimensions[id]
		if int(id) == h.unlimited {
			if k > 0 {
				return "", nil, h.fail(4, "variable %q: the unlimited dimension is not its first", name)
			}
			v.records, n = true, records
		}
		v.shape, v.axes = append(v.shape, int(n)), append(v.axes, h.names[id])
	}
	if err != nil {
		return "", nil, err
	}
	if err = h.attributes(v); err != nil {
		return "", nil, err
	}
	if v.kind, err = h.number(); err != nil {
		return "", nil, err
	}
	t, ok := netcdfTypes[v.kind]
	if !ok {
		return "", nil, h.fail(4, "variable %q is of type %d; want 1 to 6", name, v.kind)
	}
	own := v.shape
	if v.records {
		own = own[1:]
	}
	_, whole := product(v.shape)
	n, ok := product(own)
	if !ok || !whole {
		return "", nil, h.fail(4, "variable %q: shape %s is too large", name, words.Shape(v.shape))
	}
	v.slab = int64(n) * t.bytes
	stated, err := h.number()
	if err == nil && int64(stated) != min(padded(v.slab), math.MaxUint32) && !(v.records && int64(stated) == v.slab) && padded(v.slab) < math.MaxUint32-3 {
		err = h.fail(4, "variable %q: %d bytes; its shape %s of %s takes %d", name, stated, words.Shape(v.shape), t.name, padded(v.slab))
	}
	if err != nil {
		return "", nil, err
	}
	low, err := h.number()
	v.begin = int64(low)
	if err == nil && h.wide {
		if low > math.MaxInt32 {
			return "", nil, h.fail(4, "variable %q: its values begin beyond what a file can have", name)
		}
		high := v.begin << 32
		low, err = h.number()
		v.begin = high | int64(low)
	}
	return name, v, err
}
