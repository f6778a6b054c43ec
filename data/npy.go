package data

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"

	"pihc/internal/disk"
	"pihc/internal/machine"
	"pihc/internal/words"
)

// NPY is NumPy's format for one array: magic, version, a Python dictionary
// with the element type and the shape, the values.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

const npyMagic = "\x93NUMPY"

var npyTypes = map[string]string{"f4": "float32", "f8": "float64", "i4": "int32", "i8": "int64"}

// encodeNPY writes a in version 1.0, or 2.0 if the header is that long,
// little-endian.
func encodeNPY(w io.Writer, a *Array) error {
	if n, ok := product(a.Shape); !ok || n != a.Len() {
		panic("data: encodeNPY: number of values is not the product of the shape")
	}
	descr := ""
	for name, t := range npyTypes {
		if t == a.Type() {
			descr = name
		}
	}
	dims := make([]string, len(a.Shape))
	for i, s := range a.Shape {
		dims[i] = strconv.Itoa(s)
	}
	shape := strings.Join(dims, ", ")
	if len(dims) == 1 {
		shape += ","
	}
	dict := fmt.Sprintf("{'descr': '<%s', 'fortran_order': False, 'shape': (%s), }", descr, shape)
	// The header ends in a line feed and makes the values start at a multiple
	// of 64 bytes.
	preamble := len(npyMagic) + 2 + 2
	long := preamble+len(dict)+64 > 1<<16
	if long {
		preamble += 2
	}
	pad := 63 - (preamble+len(dict))%64
	dict += strings.Repeat(" ", pad) + "\n"
	head := []byte(npyMagic)
	if long {
		head = append(head, 2, 0)
		head = binary.LittleEndian.AppendUint32(head, uint32(len(dict)))
	} else {
		head = append(head, 1, 0)
		head = binary.LittleEndian.AppendUint16(head, uint16(len(dict)))
	}
	if _, err := w.Write(append(head, dict...)); err != nil {
		return err
	}
	return encodeValues(w, a, binary.LittleEndian)
}

// maxNPYHeader is the most bytes of a header; the longest that there can be, of 32 axes, have a thousand.
const maxNPYHeader = 1 << 16

// npyHeader is what stands before the values.
type npyHeader struct {
	elements string
	order    binary.ByteOrder
	fortran  bool
	shape    []int
	count    int   // of values
	at       int64 // where they begin
}

// decodeNPYHeader reads the header of an array of float32, float64, int32 or int64 values in either byte order and either axis
// order, and no further. Errors are *FormatError, or those of r.
func decodeNPYHeader(r io.Reader) (h npyHeader, err error) {
	head := make([]byte, len(npyMagic)+2)
	if n, err := io.ReadFull(r, head); err != nil {
		return h, disk.Short("npy", err, int64(n), "header")
	}
	if string(head[:len(npyMagic)]) != npyMagic {
		return h, disk.Malformed("npy", 0, "not an NPY file: the magic string is missing")
	}
	at := int64(len(head))
	width := 2
	switch major := head[len(npyMagic)]; major {
	case 1:
	case 2, 3:
		width = 4
	default:
		return h, disk.Malformed("npy", at-2, "version %d.%d; want 1.0, 2.0 or 3.0", major, head[len(npyMagic)+1])
	}
	var length [4]byte
	if n, err := io.ReadFull(r, length[:width]); err != nil {
		return h, disk.Short("npy", err, at+int64(n), "header")
	}
	at += int64(width)
	size := binary.LittleEndian.Uint32(length[:])
	if size > maxNPYHeader {
		return h, disk.Malformed("npy", at-int64(width), "header of %d bytes; want at most %d", size, maxNPYHeader)
	}
	var text bytes.Buffer
	if n, err := io.CopyN(&text, r, int64(size)); err != nil {
		return h, disk.Short("npy", err, at+n, "header")
	}
	if h, err = parseNPYHeader(text.String(), at); err != nil {
		return h, err
	}
	h.at = at + int64(size)
	var ok bool
	if h.count, ok = product(h.shape); !ok || int64(h.count) > (math.MaxInt64-h.at)/8 {
		return h, disk.Malformed("npy", at, "shape %s is too large", words.Shape(h.shape))
	}
	return h, nil
}

// fits is an error for a file of another size than the header says.
func (h npyHeader) fits(size int64) error {
	switch end := h.at + int64(h.count*bytesOf(h.elements)); {
	case size < end:
		return h.short(size)
	case size > end:
		return disk.Malformed("npy", end, "bytes after the last value")
	}
	return nil
}

func (h npyHeader) short(at int64) error {
	return disk.Malformed("npy", at, "file ends in the data: shape %s of %s needs %d bytes", words.Shape(h.shape), h.elements, h.count*bytesOf(h.elements))
}

// transposed reports whether the values are in Fortran's order, which is another one.
func (h npyHeader) transposed() bool { return h.fortran && len(h.shape) > 1 }

// first is the header of the first samples alone, along the first axis, for 0 of all. In Fortran's order values of others are
// between theirs.
func (h npyHeader) first(samples int) npyHeader {
	if samples > 0 && len(h.shape) > 0 && samples < h.shape[0] && !h.transposed() {
		h.count = h.count / h.shape[0] * samples
		h.shape = append([]int{samples}, h.shape[1:]...)
	}
	return h
}

// decode reads the values that follow the header, and no further; axes in Fortran's order are transposed, so the result is
// always row-major.
func (h npyHeader) decode(r io.Reader) (*Array, error) {
	values, n, err := decodeValues(r, h.elements, h.count, h.order)
	if err == io.ErrUnexpectedEOF {
		return nil, h.short(h.at + n)
	}
	if err != nil {
		return nil, err
	}
	a := &Array{Shape: h.shape, Data: values}
	if h.transposed() {
		a.transposeFortran()
	}
	return a, nil
}

// parseNPYHeader parses the dictionary, whose keys may come in any order. base
// is the offset of text in the file.
func parseNPYHeader(text string, base int64) (npyHeader, error) {
	p := &npyParser{text: text, base: base}
	var h npyHeader
	seen := map[string]bool{}
	if err := p.expect('{'); err != nil {
		return h, err
	}
	for !p.accept('}') {
		key, err := p.quoted()
		if err != nil {
			return h, err
		}
		if seen[key] {
			return h, p.fail("key '%s' appears twice", key)
		}
		seen[key] = true
		if err := p.expect(':'); err != nil {
			return h, err
		}
		switch key {
		case "descr":
			err = p.descr(&h)
		case "fortran_order":
			switch word := p.word(); word {
			case "True":
				h.fortran = true
			case "False":
			default:
				p.at -= len(word)
				err = p.fail("fortran_order is %q; want True or False", word)
			}
		case "shape":
			h.shape, err = p.tuple()
		default:
			err = p.fail("unknown key '%s'", key)
		}
		if err != nil {
			return h, err
		}
		if !p.accept(',') {
			if err := p.expect('}'); err != nil {
				return h, err
			}
			break
		}
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return h, p.fail("key '%s' is missing", key)
		}
	}
	if p.space(); p.at < len(text) {
		return h, p.fail("text after the dictionary")
	}
	return h, nil
}

type npyParser struct {
	text string
	base int64
	at   int
}

func (p *npyParser) fail(reason string, args ...any) error {
	return disk.Malformed("npy", p.base+int64(p.at), reason, args...)
}

func (p *npyParser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

func (p *npyParser) accept(c byte) bool {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *npyParser) expect(c byte) error {
	if !p.accept(c) {
		return p.fail("want %q", c)
	}
	return nil
}

// quoted reads a string without escapes, which NumPy never writes here.
func (p *npyParser) quoted() (string, error) {
	p.space()
	if p.at < len(p.text) && (p.text[p.at] == '\'' || p.text[p.at] == '"') {
		if n := strings.IndexByte(p.text[p.at+1:], p.text[p.at]); n >= 0 {
			s := p.text[p.at+1 : p.at+1+n]
			p.at += n + 2
			return s, nil
		}
	}
	return "", p.fail("want a quoted string")
}

func (p *npyParser) word() string {
	p.space()
	start := p.at
	for p.at < len(p.text) && (p.text[p.at]|0x20 >= 'a' && p.text[p.at]|0x20 <= 'z') {
		p.at++
	}
	return p.text[start:p.at]
}

func (p *npyParser) descr(h *npyHeader) error {
	start := p.at
	s, err := p.quoted()
	if err == nil && s == "" {
		return p.fail("element type is empty")
	}
	end := p.at
	p.at = start
	if err != nil {
		return p.fail("records are not supported: want one of the types f4, f8, i4, i8")
	}
	h.order = map[byte]binary.ByteOrder{'<': binary.LittleEndian, '=': binary.LittleEndian, '>': binary.BigEndian}[s[0]]
	h.elements = npyTypes[s[1:]]
	if h.order == nil || h.elements == "" {
		return p.fail("element type '%s' is not supported: want f4, f8, i4 or i8", s)
	}
	p.at = end
	return nil
}

func (p *npyParser) tuple() ([]int, error) {
	shape := []int{}
	if err := p.expect('('); err != nil {
		return nil, err
	}
	for !p.accept(')') {
		p.space()
		start := p.at
		for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			p.at++
		}
		n, err := strconv.Atoi(p.text[start:p.at])
		if err != nil {
			p.at = start
			return nil, p.fail("want a size")
		}
		if len(shape) == 32 {
			return nil, p.fail("more than 32 axes")
		}
		shape = append(shape, n)
		if !p.accept(',') {
			if err := p.expect(')'); err != nil {
				return nil, err
			}
			break
		}
	}
	return shape, nil
}

// transposeFortran reorders values stored first axis fastest.
func (a *Array) transposeFortran() {
	v := reflect.ValueOf(a.Data)
	out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	index, at := make([]int, len(a.Shape)), 0
	for i := range v.Len() {
		out.Index(i).Set(v.Index(at))
		stride := v.Len()
		for axis := len(a.Shape) - 1; axis >= 0; axis-- {
			stride /= a.Shape[axis]
			index[axis]++
			at += stride
			if index[axis] < a.Shape[axis] {
				break
			}
			at -= index[axis] * stride
			index[axis] = 0
		}
	}
	a.Data = out.Interface()
}

// decodeNPY reads an array of size bytes, if its shape is accepted.
func decodeNPY(r io.Reader, size int64, accept func(shape []int) error) (*Array, error) {
	h, err := decodeNPYHeader(r)
	if err == nil {
		err = h.fits(size)
	}
	if err == nil {
		err = accept(h.shape)
	}
	if err == nil {
		err = machine.CheckValues(float64(h.count))
	}
	if err != nil {
		return nil, err
	}
	return h.decode(r)
}
