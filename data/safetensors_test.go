package data

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pihc/internal/disk"
)

func encodedSafetensors(t testing.TB, tensors []Named, metadata map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encodeSafetensors(&b, tensors, metadata); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSafetensorsRoundTrip(t *testing.T) {
	for _, metadata := range []map[string]string{nil, {"step": "7", "hash": "\"é\n"}} {
		text := encodedSafetensors(t, sampleArrays(), metadata)
		got, gotMetadata, err := decodeSafetensors(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(gotMetadata, metadata) {
			t.Errorf("metadata %v, want %v", gotMetadata, metadata)
		}
		for i, want := range sampleArrays() {
			if got[i].Name != want.Name || !equalArrays(got[i].Array, want.Array) {
				t.Errorf("tensor %d: %q %v, want %q", i, got[i].Name, got[i].Array.Shape, want.Name)
			}
		}
		if size := binary.LittleEndian.Uint64(text); size%8 != 0 {
			t.Errorf("header of %d bytes: values are not aligned", size)
		}
	}
	if got, _, err := decodeSafetensors(bytes.NewReader(encodedSafetensors(t, nil, nil))); err != nil || len(got) != 0 {
		t.Errorf("no tensors: %v, %v", got, err)
	}
}

// A file that the safetensors library 0.8 for Python wrote, from NumPy arrays.
func TestSafetensorsFile(t *testing.T) {
	got, metadata, err := ReadSafetensors("testdata/python.safetensors", "")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(metadata, map[string]string{"made": "elsewhere"}) {
		t.Errorf("metadata %v", metadata)
	}
	for _, want := range []Named{
		{"f8", NewArray([]int{2, 3}, sequence[float64](6))},
		{"f4", NewArray([]int{5}, sequence[float32](5))},
		{"i8", NewArray(nil, []int64{-7})},
	} {
		if a := Find(got, want.Name); a == nil || !equalArrays(a, want.Array) {
			t.Errorf("%s is %v", want.Name, a)
		}
	}
}

func safetensorsText(head string, values int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	return append(append(b, head...), make([]byte, values)...)
}

func TestSafetensorsErrors(t *testing.T) {
	good := encodedSafetensors(t, []Named{{"w", NewArray([]int{3}, sequence[float32](3))}}, nil)
	for _, c := range []struct {
		text []byte
		want string
	}{
		{nil, "byte 0: file ends in the header"},
		{good[:7], "byte 7: file ends in the header"},
		{good[:20], "byte 20: file ends in the header"},
		{good[:len(good)-1], "file ends in the values of tensor \"w\""},
		{append(good[:len(good):len(good)], 0), "bytes after the last value"},
		{bytes.Repeat([]byte{0xff}, 16), "header of 18446744073709551615 bytes"},
		{safetensorsText(`["w"]`, 0), "does not start with '{'"},
		{safetensorsText(`{"w":}`, 0), "header:"},
		{safetensorsText(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}`, 4), "header:"},
		{safetensorsText(`{"w":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}`, 4), `type "BF16"; want F32`},
		{safetensorsText(`{"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}`, 4), "impossible shape"},
		{safetensorsText(`{"w":{"dtype":"F32","shape":[99999999999,99999999999],"data_offsets":[0,4]}}`, 4), "impossible shape"},
		{safetensorsText(`{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, 4), "offsets 0 to 4 do not fit shape 2 of F32"},
		{safetensorsText(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}`, 4), "do not fit"},
		{safetensorsText(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 8), "start at 4, not at 0"},
		{safetensorsText(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4), "start at 0, not at 4"},
		{safetensorsText(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 8), "appears twice"},
		{safetensorsText(`{"__metadata__":{"a":1}}`, 0), "metadata"},
		{safetensorsText(`{} {}`, 0), "text after the header"},
		// A claim of 400 MB must not allocate them.
		{safetensorsText(`{"w":{"dtype":"F32","shape":[100000000],"data_offsets":[0,400000000]}}`, 8), "file ends in the values"},
	} {
		_, _, err := decodeSafetensors(bytes.NewReader(c.text))
		var format *disk.FormatError
		if !errors.As(err, &format) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.100q: error %v, want %s", c.text, err, c.want)
		}
	}
}

func TestSafetensorsHash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.safetensors")
	tensors := []Named{{"w", NewArray([]int{3}, sequence[float32](3))}}
	_, sum, err := WriteSafetensors(filepath.Dir(path), "c", false, tensors, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReadSafetensors(path, sum); err != nil {
		t.Error(err)
	}
	if _, want, _ := disk.HashFile(path); want != sum {
		t.Errorf("WriteSafetensors returned %s, the file has %s", sum, want)
	}
	text, _ := os.ReadFile(path)
	text[len(text)-1] ^= 1
	os.WriteFile(path, text, 0o666)
	_, _, err = ReadSafetensors(path, sum)
	var damaged *disk.CorruptError
	if !errors.As(err, &damaged) || damaged.File != path || !strings.Contains(err.Error(), "altered") {
		t.Errorf("altered file: error %v, want a CorruptError", err)
	}
	os.WriteFile(path, text[:len(text)-1], 0o666)
	if _, _, err = ReadSafetensors(path, sum); !errors.As(err, &damaged) {
		t.Errorf("truncated file: error %v, want a CorruptError", err)
	}
}
