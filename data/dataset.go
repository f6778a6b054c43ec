package data

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"pihc/internal/disk"
	"pihc/internal/machine"
	"pihc/internal/words"
)

// Dataset is a dataset folder opened for reading. It may be used by several
// goroutines at once.
type Dataset struct {
	// What its manifest says, as in the Plan; not to be modified.
	Problem, ProblemHash string
	Metadata             map[string]string
	Splits               []Split
	Checksum             string // SHA-256 of the manifest, which has those of all files

	dir      string
	manifest *manifest

	mu     sync.Mutex
	cached string  // file of the shard last read
	arrays []Named // its arrays
}

// Open reads the manifest of a dataset and checks that its shards are there
// with their sizes; hashes are compared when a shard is read. Errors are
// *IncompleteError for an interrupted generation, *VersionError and
// *CorruptError.
func Open(dir string) (*Dataset, error) {
	if err := disk.Inside(dir, manifestFile, progressFile); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, manifestFile)
	m, err := readManifest(path)
	if errors.Is(err, fs.ErrNotExist) {
		if partial, err := readManifest(filepath.Join(dir, progressFile)); err == nil {
			done := 0
			for _, s := range partial.Shards {
				done += s.Count
			}
			return nil, &disk.IncompleteError{Dir: dir, Done: done, Total: partial.total()}
		}
		return nil, &disk.CorruptError{File: dir, Reason: "not a dataset: it has no " + manifestFile, Err: err}
	}
	if err != nil {
		return nil, err
	}
	if err := disk.Inside(dir, m.files()...); err != nil {
		return nil, err
	}
	d := &Dataset{Problem: m.Problem, ProblemHash: m.ProblemHash, Metadata: m.Metadata, Splits: m.Splits, Checksum: m.Checksum, dir: dir, manifest: m}
	for _, s := range m.Shards {
		info, err := os.Stat(filepath.Join(dir, s.File))
		if err != nil {
			return nil, disk.Corrupt(filepath.Join(dir, s.File), err)
		}
		if split, err := d.Split(s.Split); err != nil || float64(s.Bytes) < float64(s.Count)*split.bytes(m.SolutionType) {
			return nil, &disk.CorruptError{File: filepath.Join(dir, s.File), Reason: fmt.Sprintf("%d bytes are fewer than its %d samples take", s.Bytes, s.Count)}
		}
		if info.Size() != s.Bytes {
			return nil, &disk.CorruptError{File: filepath.Join(dir, s.File), Reason: fmt.Sprintf("file has %d bytes, not %d", info.Size(), s.Bytes)}
		}
	}
	return d, nil
}

// Split returns the split of the name.
func (d *Dataset) Split(name string) (Split, error) {
	s, err := splitOf(d.Splits, name)
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
	return d.InputRange(split, 0, s.Count)
}

// InputRange returns the inputs of count samples from the sample first on. It
// panics if the range is not inside the split.
func (d *Dataset) InputRange(split string, first, count int) (*Array, error) {
	s, err := d.Split(split)
	if err != nil {
		return nil, err
	}
	return join[float64](d, s, s.inputParts(), s.InputShape(), first, count)
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
	if d.manifest.SolutionType == "float32" {
		return join[float32](d, s, s.solutionParts(), s.SolutionShape(), first, count)
	}
	return join[float64](d, s, s.solutionParts(), s.SolutionShape(), first, count)
}

// join copies samples [first, first+count) of all parts from the shards; shape is that of
// a sample with all of them.
func join[T float32 | float64](d *Dataset, s Split, parts []part, shape []int, first, count int) (*Array, error) {
	if first < 0 || count < 0 || first > s.Count-count {
		panic("data: Dataset: range of samples outside the split")
	}
	width, _ := product(shape)
	if many := float64(count) * float64(width); many > 1e7 {
		if err := machine.CheckValues(many); err != nil {
			return nil, fmt.Errorf("dataset %s: %d samples of %s: %w", d.dir, count, s.Name, err)
		}
	}
	values := make([]T, count*width)
	for _, shard := range d.manifest.Shards {
		lo, hi := max(first, shard.First), min(first+count, shard.First+shard.Count)
		if shard.Split != s.Name || lo >= hi {
			continue
		}
		arrays, err := d.shard(shard)
		if err != nil {
			return nil, err
		}
		offset := 0
		for _, p := range parts {
			size, _ := product(p.shape)
			want := append([]int{shard.Count}, p.shape...)
			a := Find(arrays, p.name)
			if a == nil || !slices.Equal(a.Shape, want) {
				a = &Array{}
			}
			v, ok := a.Data.([]T)
			if !ok {
				return nil, &disk.CorruptError{File: filepath.Join(d.dir, shard.File), Reason: fmt.Sprintf("array %q of shape %s and type %T is missing", p.name, words.Shape(want), T(0))}
			}
			for i := lo; i < hi; i++ {
				copy(values[(i-first)*width+offset:], v[(i-shard.First)*size:][:size])
			}
			offset += size
		}
	}
	return NewArray(append([]int{count}, shape...), values), nil
}

// shard reads one file and compares its hash.
func (d *Dataset) shard(s shard) ([]Named, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cached == s.File {
		return d.arrays, nil
	}
	path := filepath.Join(d.dir, s.File)
	size, sum, err := disk.HashFile(path)
	if err != nil {
		return nil, disk.Corrupt(path, err)
	}
	if size != s.Bytes || sum != s.SHA256 {
		return nil, &disk.CorruptError{File: path, Reason: "altered: its SHA-256 is not that of the manifest"}
	}
	d.cached, d.arrays = "", nil
	arrays, err := d.read(s, path)
	if err != nil {
		return nil, disk.Corrupt(path, err)
	}
	d.cached, d.arrays = s.File, arrays
	return arrays, nil
}

// read reads the arrays of a shard that have the names and shapes wanted, and no others.
func (d *Dataset) read(s shard, path string) ([]Named, error) {
	split, err := d.Split(s.Split)
	if err != nil {
		return nil, err
	}
	z, err := OpenNPZ(path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	var arrays []Named
	for _, p := range split.parts() {
		shape, err := z.Shape(p.name)
		if err != nil {
			return nil, err
		}
		if !slices.Equal(shape, append([]int{s.Count}, p.shape...)) {
			continue // which who wants it says
		}
		a, err := z.Read(p.name, 0)
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, Named{p.name, a})
	}
	return arrays, nil
}
