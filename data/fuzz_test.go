package data

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"pihc/internal/disk"
)

// Every decoder, on any bytes: it returns an array or an error, never panics,
// does not allocate far beyond its input, and what it accepts survives being
// encoded and decoded again.

// allocation runs f and returns the bytes it allocated.
func allocation(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// limit is generous: buffers of fixed size, and growing by doubling.
func limit(input int) uint64 { return 4<<20 + 64*uint64(input) }

// sameBits compares by encoding, so that NaN equals NaN.
func sameBits(t *testing.T, a, b *Array) {
	t.Helper()
	if !bytes.Equal(npyBytes(t, a), npyBytes(t, b)) {
		t.Errorf("%v %s became %v %s", a.Shape, a.Type(), b.Shape, b.Type())
	}
}

func FuzzNPY(f *testing.F) {
	for _, c := range sampleArrays()[:6] {
		f.Add(npyBytes(f, c.Array))
	}
	fortran, err := os.ReadFile("testdata/fortran.npy")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(fortran)
	f.Add(npyFile("{'descr': '>i4', 'fortran_order': True, 'shape': (2, 2)}", 16))
	f.Add(npyFile("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000,)}", 8))
	f.Fuzz(func(t *testing.T, text []byte) {
		var a *Array
		var err error
		if used := allocation(func() { a, err = npyOf(text) }); used > limit(len(text)) {
			t.Errorf("%d bytes allocated for %d bytes of input", used, len(text))
		}
		if err != nil {
			return
		}
		again, err := npyOf(npyBytes(t, a))
		if err != nil {
			t.Fatal(err)
		}
		sameBits(t, a, again)
	})
}

func FuzzNPZ(f *testing.F) {
	var b bytes.Buffer
	EncodeNPZ(&b, sampleArrays()[:6])
	f.Add(b.Bytes())
	for _, file := range []string{"stored.npz", "compressed.npz"} {
		text, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		// A deflated member expands by up to 1032, and several members may share the same compressed bytes, so
		// that there is a bound for headers alone: of each a decompressor and at most maxNPYHeader bytes, doubled.
		members := 0
		if used := allocation(func() {
			if z, err := newNPZ(bytes.NewReader(text), int64(len(text))); err == nil {
				members = len(z.names)
				for _, name := range z.names {
					_, _ = z.Shape(name)
				}
			}
		}); used > limit(len(text))+uint64(members)*1<<19 {
			t.Errorf("%d bytes allocated for %d headers in %d bytes of input", used, members, len(text))
		}
		arrays, err := npzOf(text)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := EncodeNPZ(&b, arrays); err != nil {
			return // a name that archives do not allow
		}
		again, err := npzOf(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range arrays {
			if again[i].Name != n.Name {
				t.Errorf("name %q became %q", n.Name, again[i].Name)
			}
			sameBits(t, n.Array, again[i].Array)
		}
	})
}

func FuzzSafetensors(f *testing.F) {
	f.Add(encodedSafetensors(f, sampleArrays()[:6], map[string]string{"a": "b"}))
	text, err := os.ReadFile("testdata/python.safetensors")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(safetensorsText(`{"w":{"dtype":"F32","shape":[100000000],"data_offsets":[0,400000000]}}`, 8))
	f.Fuzz(func(t *testing.T, text []byte) {
		var tensors []Named
		var metadata map[string]string
		var err error
		if used := allocation(func() { tensors, metadata, err = decodeSafetensors(bytes.NewReader(text)) }); used > limit(len(text)) {
			t.Errorf("%d bytes allocated for %d bytes of input", used, len(text))
		}
		if err != nil {
			return
		}
		again, againMetadata, err := decodeSafetensors(bytes.NewReader(encodedSafetensors(t, tensors, metadata)))
		if err != nil {
			t.Fatal(err)
		}
		if len(againMetadata) != len(metadata) || len(again) != len(tensors) {
			t.Fatalf("%d tensors and %d metadata became %d and %d", len(tensors), len(metadata), len(again), len(againMetadata))
		}
		for _, n := range tensors {
			a := Find(again, n.Name)
			if a == nil {
				t.Fatalf("tensor %q is lost", n.Name)
			}
			sameBits(t, n.Array, a)
		}
	})
}

func FuzzManifest(f *testing.F) {
	m := &manifest{
		Format: manifestFormat, Version: manifestVersion, Problem: "p", SolutionType: "float32",
		Splits: []Split{{Name: "test", Count: 2, Solve: true, Axes: testAxes(4)}},
		Shards: []shard{{Split: "test", Count: 2, File: "test-00000.npz"}},
	}
	m.Checksum = m.sum()
	text, _ := json.Marshal(m)
	f.Add(text, true)
	f.Add([]byte(`{"format": "pihc dataset", "version": 3}`), false)
	f.Fuzz(func(t *testing.T, text []byte, sign bool) {
		if sign {
			// With a valid checksum, so that what follows it is reached.
			m := new(manifest)
			if disk.DecodeJSON(text, m) != nil {
				return
			}
			m.Checksum = m.sum()
			text, _ = json.Marshal(m)
		}
		m, err := parseManifest(manifestFile, text)
		if err != nil {
			return
		}
		again, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		n, err := parseManifest(manifestFile, again)
		if err != nil {
			t.Fatal(err)
		}
		if d := m.difference(n); d != "" {
			t.Error(d)
		}
	})
}

func FuzzLog(f *testing.F) {
	f.Add([]byte("{\"step\":0}\n{\"step\":1,\"loss\":\"NaN\"}\n{\"st"))
	f.Add([]byte("{}\n\n"))
	f.Add([]byte("{\"chain\":\"015abd7f5cc57a2d\"}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var lines []disk.Line
		if err := disk.ScanLines(bytes.NewReader(text), "log", func(l disk.Line) error {
			l.Record = bytes.Clone(l.Record)
			lines = append(lines, l)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if len(lines) == 0 {
			return
		}
		end := lines[len(lines)-1].End
		if end > int64(len(text)) {
			t.Fatalf("offset %d of %d bytes", end, len(text))
		}
		// The complete lines alone are a log with the same records.
		i := 0
		if err := disk.ScanLines(bytes.NewReader(text[:end]), "log", func(l disk.Line) error {
			if !bytes.Equal(l.Record, lines[i].Record) || l.End != lines[i].End || (l.Err == nil) != (lines[i].Err == nil) {
				t.Errorf("line %d reads differently: %+v, %+v", i+1, l, lines[i])
			}
			i++
			return nil
		}); err != nil || i != len(lines) {
			t.Errorf("%d lines of %d: %v", i, len(lines), err)
		}
	})
}
