package data

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// Dataset is a dataset folder opened for reading. It may be used by several
// goroutines at once.
type Dataset struct {
	dir      string
	manifest *Manifest

	mu     sync.Mutex
	cached string  // file of the shard last read
	arrays []Named // its arrays
}

// Open reads the manifest of a dataset and checks that its shards are there
// with their sizes; hashes are compared when a shard is read. Errors are
// *IncompleteError for an interrupted generation, *VersionError and
// *CorruptError.
func Open(dir string) (*Dataset, error) {
	path := filepath.Join(dir, manifestFile)
	m, err := readManifest(path)
	if errors.Is(err, fs.ErrNotExist) {
		if partial, err := readManifest(filepath.Join(dir, progressFile)); err == nil {
			done := 0
			for _, s := range partial.Shards {
				done += s.Count
			}
			return nil, &IncompleteError{Dir: dir, Done: done, Total: partial.total()}
		}
		return nil, &CorruptError{File: dir, Reason: "not a dataset: it has no " + manifestFile, Err: err}
	}
	if err != nil {
		return nil, err
	}
	for _, s := range m.Shards {
		info, err := os.Stat(filepath.Join(dir, s.File))
		if err != nil {
			return nil, corrupt(filepath.Join(dir, s.File), err)
		}
		if info.Size() != s.Bytes {
			return nil, &CorruptError{File: filepath.Join(dir, s.File), Reason: fmt.Sprintf("file has %d bytes, not %d", info.Size(), s.Bytes)}
		}
	}
	return &Dataset{dir: dir, manifest: m}, nil
}

// Manifest returns the description of the dataset, not to be modified.
func (d *Dataset) Manifest() *Manifest { return d.manifest }

// Split returns the split of the name.
func (d *Dataset) Split(name string) (Split, error) {
	s, err := d.manifest.Split(name)
	if err != nil {
		return s, fmt.Errorf("dataset %s: %w", d.dir, err)
	}
	return s, nil
}

// Initial returns the inputs of all samples of a split as float64: initial conditions
// (samples, space...), or, where there are others, (samples, values).
func (d *Dataset) Initial(split string) (*Array, error) {
	s, err := d.Split(split)
	if err != nil {
		return nil, err
	}
	return d.InitialRange(split, 0, s.Count)
}

// InitialRange returns the inputs of count samples from the sample first on. It
// panics if the range is not inside the split.
func (d *Dataset) InitialRange(split string, first, count int) (*Array, error) {
	s, err := d.Split(split)
	if err != nil {
		return nil, err
	}
	return d.join(s, s.inputParts(), s.InitialShape(), Float64, first, count)
}

// SolutionsRange returns count solutions, (samples, t, space...), with several unknowns
// (samples, unknown, t, space...), from the sample first on. The shard
// last read is kept, so that going through a split in order reads each shard
// once. It panics if the range is not inside the split.
func (d *Dataset) SolutionsRange(split string, first, count int) (*Array, error) {
	s, err := d.Split(split)
	if err != nil {
		return nil, err
	}
	if !s.Solve {
		return nil, fmt.Errorf("dataset %s: split %s has no solutions", d.dir, split)
	}
	return d.join(s, s.solutionParts(), s.SolutionShape(), d.manifest.SolutionType, first, count)
}

// join copies samples [first, first+count) of all parts from the shards; shape is that of
// a sample with all of them.
func (d *Dataset) join(s Split, parts []part, shape []int, t Type, first, count int) (*Array, error) {
	arrays := make([]*Array, len(parts))
	for i, p := range parts {
		var err error
		if arrays[i], err = d.gather(s, p.name, p.shape, t, first, count); err != nil {
			return nil, err
		}
	}
	shape = append([]int{count}, shape...)
	if len(arrays) == 1 {
		return &Array{Shape: shape, Data: arrays[0].Data}, nil
	}
	if t == Float32 {
		return NewArray(shape, interleave[float32](arrays, count)), nil
	}
	return NewArray(shape, interleave[float64](arrays, count)), nil
}

// interleave undoes separate.
func interleave[T float32 | float64](arrays []*Array, count int) []T {
	size := 0
	for _, a := range arrays {
		size += a.Len()
	}
	values := make([]T, 0, size)
	for i := range count {
		for _, a := range arrays {
			size := a.Len() / count
			values = append(values, a.Data.([]T)[i*size:(i+1)*size]...)
		}
	}
	return values
}

// gather copies samples [first, first+count) of one array from the shards.
func (d *Dataset) gather(s Split, name string, shape []int, t Type, first, count int) (*Array, error) {
	if first < 0 || count < 0 || first > s.Count-count {
		panic("data: Dataset: range of samples outside the split")
	}
	size, _ := product(shape)
	out := &Array{Shape: append([]int{count}, shape...)}
	if t == Float32 {
		out.Data = make([]float32, count*size)
	} else {
		out.Data = make([]float64, count*size)
	}
	for _, shard := range d.manifest.Shards {
		lo, hi := max(first, shard.First), min(first+count, shard.First+shard.Count)
		if shard.Split != s.Name || lo >= hi {
			continue
		}
		arrays, err := d.shard(shard)
		if err != nil {
			return nil, err
		}
		a := Find(arrays, name)
		want := append([]int{shard.Count}, shape...)
		if a == nil || a.Type() != t || !slices.Equal(a.Shape, want) {
			return nil, &CorruptError{File: filepath.Join(d.dir, shard.File), Reason: fmt.Sprintf("array %q of shape %s and type %s is missing", name, FormatShape(want), t)}
		}
		from, to := (lo-shard.First)*size, (hi-shard.First)*size
		switch dst := out.Data.(type) {
		case []float64:
			copy(dst[(lo-first)*size:], a.Data.([]float64)[from:to])
		case []float32:
			copy(dst[(lo-first)*size:], a.Data.([]float32)[from:to])
		}
	}
	return out, nil
}

// shard reads one file and compares its hash.
func (d *Dataset) shard(s Shard) ([]Named, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cached == s.File {
		return d.arrays, nil
	}
	path := filepath.Join(d.dir, s.File)
	size, sum, err := HashFile(path)
	if err != nil {
		return nil, corrupt(path, err)
	}
	if size != s.Bytes || sum != s.SHA256 {
		return nil, &CorruptError{File: path, Reason: "altered: its SHA-256 is not that of the manifest"}
	}
	d.cached, d.arrays = "", nil
	arrays, err := ReadNPZ(path)
	if err != nil {
		return nil, corrupt(path, err)
	}
	d.cached, d.arrays = s.File, arrays
	return arrays, nil
}
