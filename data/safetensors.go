package data

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"pihc/internal/disk"
	"pihc/internal/machine"
	"pihc/internal/words"
)

// Safetensors is the common format for a model's tensors: the length of a JSON
// header, the header, the values. https://github.com/huggingface/safetensors

// maxSafetensorsHeader is the format's own limit.
const maxSafetensorsHeader = 100_000_000

const metadataKey = "__metadata__"

var safetensorsTypes = map[string]string{"F32": "float32", "F64": "float64", "I32": "int32", "I64": "int64"}

type safetensorsEntry struct {
	Type    string   `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// encodeSafetensors writes the tensors in the order given, with metadata if
// there is any. It panics if two names are equal or one is "__metadata__".
func encodeSafetensors(w io.Writer, tensors []Named, metadata map[string]string) error {
	var parts []string
	if len(metadata) > 0 {
		text, err := json.Marshal(metadata) // sorted keys
		if err != nil {
			return err
		}
		parts = append(parts, fmt.Sprintf("%q:%s", metadataKey, text))
	}
	seen := map[string]bool{metadataKey: true}
	offset := int64(0)
	for _, t := range tensors {
		if seen[t.Name] {
			panic("data: EncodeSafetensors: tensor name used twice or reserved")
		}
		seen[t.Name] = true
		if n, ok := product(t.Array.Shape); !ok || n != t.Array.Len() {
			panic("data: EncodeSafetensors: number of values is not the product of the shape")
		}
		e := safetensorsEntry{Shape: append([]int{}, t.Array.Shape...)}
		for name, kind := range safetensorsTypes {
			if kind == t.Array.Type() {
				e.Type = name
			}
		}
		e.Offsets = [2]int64{offset, offset + int64(t.Array.Len()*bytesOf(t.Array.Type()))}
		offset = e.Offsets[1]
		name, err := json.Marshal(t.Name)
		if err != nil {
			return err
		}
		text, err := json.Marshal(e)
		if err != nil {
			return err
		}
		parts = append(parts, fmt.Sprintf("%s:%s", name, text))
	}
	head := "{" + strings.Join(parts, ",") + "}"
	head += strings.Repeat(" ", -len(head)&7)
	if len(head) > maxSafetensorsHeader {
		return fmt.Errorf("safetensors: header of %d bytes; the format allows %d", len(head), maxSafetensorsHeader)
	}
	if err := binary.Write(w, binary.LittleEndian, uint64(len(head))); err != nil {
		return err
	}
	if _, err := io.WriteString(w, head); err != nil {
		return err
	}
	for _, t := range tensors {
		if err := encodeValues(w, t.Array, binary.LittleEndian); err != nil {
			return err
		}
	}
	return nil
}

// decodeSafetensors reads tensors of the types F32, F64, I32 and I64, in the
// order of their values, and the metadata. Errors are *FormatError, or those
// of r.
func decodeSafetensors(r io.Reader) (tensors []Named, metadata map[string]string, err error) {
	var length [8]byte
	if n, err := io.ReadFull(r, length[:]); err != nil {
		return nil, nil, disk.Short("safetensors", err, int64(n), "header")
	}
	size := binary.LittleEndian.Uint64(length[:])
	if size > maxSafetensorsHeader {
		return nil, nil, disk.Malformed("safetensors", 0, "header of %d bytes; the format allows %d", size, maxSafetensorsHeader)
	}
	var head bytes.Buffer
	if n, err := io.CopyN(&head, r, int64(size)); err != nil {
		return nil, nil, disk.Short("safetensors", err, 8+n, "header")
	}
	entries, metadata, err := parseSafetensorsHeader(head.Bytes())
	if err != nil {
		return nil, nil, err
	}
	base := 8 + int64(size)
	for _, e := range entries {
		count, _ := product(e.Shape)
		values, n, err := decodeValues(r, safetensorsTypes[e.Type], count, binary.LittleEndian)
		if err != nil {
			return nil, nil, disk.Short("safetensors", err, base+e.Offsets[0]+n, fmt.Sprintf("values of tensor %q", e.name))
		}
		tensors = append(tensors, Named{e.name, &Array{Shape: e.Shape, Data: values}})
	}
	var one [1]byte
	if n, _ := io.ReadFull(r, one[:]); n > 0 {
		end := base
		if len(entries) > 0 {
			end += entries[len(entries)-1].Offsets[1]
		}
		return nil, nil, disk.Malformed("safetensors", end, "bytes after the last value")
	}
	return tensors, metadata, nil
}

type namedEntry struct {
	name string
	safetensorsEntry
}

// parseSafetensorsHeader returns the entries ordered by offset, checked to
// cover the values without gap or overlap.
func parseSafetensorsHeader(head []byte) ([]namedEntry, map[string]string, error) {
	d := json.NewDecoder(bytes.NewReader(head))
	fail := func(reason string, args ...any) error {
		return disk.Malformed("safetensors", 8+d.InputOffset(), reason, args...)
	}
	if len(head) == 0 || head[0] != '{' {
		return nil, nil, fail("header does not start with '{'")
	}
	d.Token()
	var entries []namedEntry
	var metadata map[string]string
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, nil, fail("header: %v", err)
		}
		name := token.(string) // the decoder allows no other key
		if seen[name] {
			return nil, nil, fail("header: name %q appears twice", name)
		}
		seen[name] = true
		if name == metadataKey {
			if err := d.Decode(&metadata); err != nil {
				return nil, nil, fail("header: metadata: %v", err)
			}
			continue
		}
		e := namedEntry{name: name}
		if err := d.Decode(&e.safetensorsEntry); err != nil {
			return nil, nil, fail("header: tensor %q: %v", name, err)
		}
		kind, ok := safetensorsTypes[e.Type]
		if !ok {
			return nil, nil, fail("header: tensor %q has type %q; want F32, F64, I32 or I64", name, e.Type)
		}
		count, ok := product(e.Shape)
		if !ok || len(e.Shape) > 32 {
			return nil, nil, fail("header: tensor %q has an impossible shape", name)
		}
		if e.Offsets[0] < 0 || e.Offsets[1] < e.Offsets[0] || e.Offsets[1]-e.Offsets[0] != int64(count*bytesOf(kind)) {
			return nil, nil, fail("header: tensor %q: offsets %d to %d do not fit shape %s of %s", name, e.Offsets[0], e.Offsets[1], words.Shape(e.Shape), e.Type)
		}
		if e.Shape == nil {
			e.Shape = []int{}
		}
		entries = append(entries, e)
	}
	if _, err := d.Token(); err != nil {
		return nil, nil, fail("header: %v", err)
	}
	if rest := bytes.TrimRight(head[d.InputOffset():], " "); len(rest) > 0 {
		return nil, nil, fail("text after the header")
	}
	slices.SortStableFunc(entries, func(a, b namedEntry) int { return cmp.Compare(a.Offsets[0], b.Offsets[0]) })
	offset := int64(0)
	for _, e := range entries {
		if e.Offsets[0] != offset {
			return nil, nil, fail("header: values of tensor %q start at %d, not at %d", e.name, e.Offsets[0], offset)
		}
		if e.Offsets[1] > math.MaxInt64-8-int64(len(head)) {
			return nil, nil, fail("header: tensor %q ends beyond any file", e.name)
		}
		offset = e.Offsets[1]
	}
	return entries, metadata, nil
}

// WriteSafetensors writes tensors atomically to the file NAME.safetensors of a folder or, named
// by its content, NAME-HASH.safetensors, and returns its name and SHA-256.
func WriteSafetensors(dir, name string, byContent bool, tensors []Named, metadata map[string]string) (file, sum string, err error) {
	named := func(sum string) string {
		if byContent {
			return fmt.Sprintf("%s-%.16s.safetensors", name, sum)
		}
		return name + ".safetensors"
	}
	_, sum, err = disk.WriteHashed(filepath.Join(dir, name+".safetensors"),
		func(sum string) string { return filepath.Join(dir, named(sum)) },
		func(w io.Writer) error { return encodeSafetensors(w, tensors, metadata) })
	return named(sum), sum, err
}

// ReadSafetensors reads the tensors of path. Unless sum is empty, it returns a
// *CorruptError when the SHA-256 of the file is another.
func ReadSafetensors(path, sum string) ([]Named, map[string]string, error) {
	f, err := disk.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = machine.CheckValues(float64(info.Size()) / 8) // as many bytes again at times
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	hash := sha256.New()
	r := bufio.NewReaderSize(io.TeeReader(f, hash), 1<<18)
	tensors, metadata, err := decodeSafetensors(r)
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	if err != nil {
		return nil, nil, disk.Corrupt(path, err)
	}
	if got := hex.EncodeToString(hash.Sum(nil)); sum != "" && got != sum {
		return nil, nil, &disk.CorruptError{File: path, Reason: fmt.Sprintf("altered: SHA-256 is %.12s..., want %.12s...", got, sum)}
	}
	return tensors, metadata, nil
}
