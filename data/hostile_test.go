package data

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pihc/internal/disk"
)

// archive writes members as they are given, deflated.
func archive(t *testing.T, path string, members ...any) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	for i := 0; i < len(members); i += 2 {
		w, err := z.Create(members[i].(string))
		if err != nil {
			t.Fatal(err)
		}
		w.Write(members[i+1].([]byte))
	}
	z.Close()
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// Of an archive nothing is decoded that is not asked for: not other arrays, not later samples.
func TestNPZReadsWhatIsAskedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npz")
	const many = 4_000_000
	zeros := npyFile("{'descr': '<f8', 'fortran_order': False, 'shape': (4000000,)}", 8*many)
	samples := npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 4)}", 4*many)
	archive(t, path, "other.npy", zeros, "words.npy", npyFile("{'descr': '<U3', 'fortran_order': False, 'shape': (1,)}", 12), "u.npy", npyBytes(t, NewArray([]int{3}, sequence[float64](3))), "samples.npy", samples)
	used := allocation(func() {
		z, err := OpenNPZ(path)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		if shape, err := z.Shape("other"); err != nil || !slices.Equal(shape, []int{many}) {
			t.Errorf("shape %v, %v", shape, err)
		}
		if a, err := z.Read("u", 0); err != nil || !slices.Equal(a.Float64(), sequence[float64](3)) {
			t.Errorf("u: %v", err)
		}
		if a, err := z.Read("samples", 2); err != nil || !slices.Equal(a.Shape, []int{2, 4}) || a.Type() != "float32" {
			t.Errorf("two samples: %v", err)
		}
		if _, err := z.Read("words", 0); err == nil || !strings.Contains(err.Error(), "'<U3' is not supported") || !strings.Contains(err.Error(), path) {
			t.Errorf("words: %v", err)
		}
		if shape, err := z.Shape("none"); shape != nil || err != nil {
			t.Errorf("none: %v, %v", shape, err)
		}
	})
	if used > 2<<20 {
		t.Errorf("%d bytes allocated for a few values", used)
	}
	used = allocation(func() {
		if _, err := ReadArray(filepath.Join(filepath.Dir(path), "one.npy"), "", nil, anyArray); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
		archive(t, path, "u.npy", zeros)
		refused := errors.New("refused")
		if _, err := ReadArray(path, "", nil, func([]int, Arrays) error { return refused }); err != refused {
			t.Error(err)
		}
	})
	if used > 4<<20 {
		t.Errorf("%d bytes allocated for an array of another shape", used)
	}
}

// The first samples are those of the whole, in both orders of axes.
func TestNPZFirstSamples(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npz")
	fortran, err := os.ReadFile("testdata/fortran.npy")
	if err != nil {
		t.Fatal(err)
	}
	archive(t, path, "f.npy", fortran, "c.npy", npyBytes(t, NewArray([]int{3, 4}, sequence[int64](12))), "scalar.npy", npyBytes(t, NewArray(nil, []float64{1})))
	z, err := OpenNPZ(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, name := range z.names {
		all, err := z.Read(name, 0)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 5 {
			a, err := z.Read(name, n)
			if err != nil {
				t.Fatal(err)
			}
			want := slices.Clone(all.Shape)
			if n > 0 && len(want) > 0 {
				want[0] = min(n, want[0])
			}
			if !slices.Equal(a.Shape, want) || !slices.Equal(a.Float64(), all.Float64()[:a.Len()]) {
				t.Errorf("%s, %d samples: %v %v of %v", name, n, a.Shape, a.Float64(), all.Float64())
			}
		}
	}
}

// Headers that say what is not so, and more than the memory holds.
func TestNPZClaims(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npz")
	f8 := func(shape string, bytes int) []byte {
		return npyFile("{'descr': '<f8', 'fortran_order': False, 'shape': "+shape+"}", bytes)
	}
	for _, c := range []struct {
		member []byte
		want   string
	}{
		{f8("(1000000000000,)", 8), `of member "a.npy": file ends in the data: shape 1000000000000 of float64 needs 8000000000000 bytes`},
		{f8("(3,)", 32), "bytes after the last value"},
		{f8("(1152921504606846976,)", 8), "too large"},
		{f8("(0, 1152921504606846975, 1152921504606846975)", 8), "bytes after the last value"},
		{f8("(-9223372036854775808,)", 8), "want a size"},
		{f8("(99999999999999999999,)", 8), "want a size"},
		{[]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr': '<f8'"), "header of 4294967295 bytes; want at most 65536"},
		{[]byte("PK\x03\x04"), "header"},
	} {
		archive(t, path, "a.npy", c.member)
		if _, err := ReadNPZ(path); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	archive(t, path, "a.zip", []byte("PK\x03\x04"))
	if _, err := ReadNPZ(path); err == nil || !strings.Contains(err.Error(), `member "a.zip" is not an NPY file`) {
		t.Errorf("an archive within: %v", err)
	}
	// A sparse file of a petabyte, which costs its author nothing.
	sparse := filepath.Join(t.TempDir(), "a.npy")
	head := f8("(125000000000000,)", 0)
	os.WriteFile(sparse, head, 0o666)
	if err := os.Truncate(sparse, int64(len(head))+1e15); err != nil {
		t.Logf("this file system has no such files: %v", err)
		return
	}
	if _, err := ReadArray(sparse, "", nil, anyArray); err == nil || !strings.Contains(err.Error(), "1.25e+14 values take about 2e+06 GB of memory; this machine has") {
		t.Errorf("error %v", err)
	}
	if _, _, err := ReadSafetensors(sparse, ""); err == nil || !strings.Contains(err.Error(), "GB of memory") {
		t.Errorf("error %v", err)
	}
}

// A manifest cannot have larger samples than its files hold, and shards no more than the manifest says.
func TestManifestClaims(t *testing.T) {
	dir := t.TempDir()
	generate(t, dir, testPlan())
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := *d.manifest
	shard := m.Shards[len(m.Shards)-1]
	path := filepath.Join(dir, shard.File)
	arrays, err := ReadNPZ(path)
	if err != nil {
		t.Fatal(err)
	}
	members := []any{"other.npy", npyFile("{'descr': '<f8', 'fortran_order': False, 'shape': (4000000,)}", 8*4_000_000)}
	for _, a := range arrays {
		members = append(members, a.Name+".npy", npyBytes(t, a.Array))
	}
	archive(t, path, members...)
	info, _ := os.Stat(path)
	m.Shards[len(m.Shards)-1].Bytes = info.Size()
	if _, m.Shards[len(m.Shards)-1].SHA256, err = disk.HashFile(path); err != nil {
		t.Fatal(err)
	}
	if err := m.write(filepath.Join(dir, manifestFile)); err != nil {
		t.Fatal(err)
	}
	if d, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	if used := allocation(func() { _, err = d.InputRange(shard.Split, shard.First, 1) }); err != nil || used > 4<<20 {
		t.Errorf("%d bytes allocated, %v", used, err)
	}
	m.Splits = slices.Clone(m.Splits)
	for i := range m.Splits {
		m.Splits[i].Axes = slices.Clone(m.Splits[i].Axes)
		m.Splits[i].Axes[1].Points = 1 << 40
	}
	if err := m.write(filepath.Join(dir, manifestFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "bytes are fewer than its") {
		t.Errorf("error %v", err)
	}
}
