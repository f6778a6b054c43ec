package data

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pihc/internal/disk"
	"pihc/internal/words"
)

// The files of a dataset folder, beside its shards.
const (
	manifestFile = "manifest.json"         // present in a complete dataset only
	progressFile = "manifest.partial.json" // during generation

	manifestFormat  = "pihc dataset"
	manifestVersion = 3 // a split may have several unknowns; from 2 on inputs; one without either is written as version 1
)

// The arrays of a shard.
const (
	initialName  = "initial"
	solutionName = "solution"
)

// manifest describes a dataset.
type manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`

	Problem     string            `json:"problem"`
	ProblemHash string            `json:"problem_hash"` // of the problem's definition
	Metadata    map[string]string `json:"metadata,omitempty"`
	Splits      []Split           `json:"splits"`
	// SolutionType is the element type of solutions; initial conditions are
	// float64 always.
	SolutionType string  `json:"solution_type"`
	Shards       []shard `json:"shards"`
	// Checksum is the SHA-256 of this object with an empty checksum, without
	// white space.
	Checksum string `json:"checksum"`
}

// shard is one NPZ file with consecutive samples of a split.
type shard struct {
	Split  string `json:"split"`
	First  int    `json:"first"`
	Count  int    `json:"count"`
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// splitOf returns the split of the name.
func splitOf(splits []Split, name string) (Split, error) {
	names := make([]string, len(splits))
	for i, s := range splits {
		if s.Name == name {
			return s, nil
		}
		names[i] = s.Name
	}
	return Split{}, fmt.Errorf("no split %q; there is %s", name, words.List(names))
}

func (m *manifest) total() int {
	n := 0
	for _, s := range m.Splits {
		n += s.Count
	}
	return n
}

func (m *manifest) sum() string {
	c := *m
	c.Checksum = ""
	text, err := json.Marshal(c)
	if err != nil {
		panic("data: manifest holds a number that is not finite")
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func (m *manifest) write(path string) error {
	m.Checksum = m.sum()
	return disk.WriteJSON(path, m)
}

// validate checks everything but the shards.
func (m *manifest) validate() error {
	if len(m.Splits) == 0 {
		return fmt.Errorf("no splits")
	}
	if m.SolutionType != "float32" && m.SolutionType != "float64" {
		return fmt.Errorf("solution_type %q; want float32 or float64", m.SolutionType)
	}
	seen := map[string]bool{}
	for _, s := range m.Splits {
		if s.Name == "" || strings.ContainsFunc(s.Name, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_')
		}) {
			return fmt.Errorf("split name %q; want lower-case letters, digits and underscores", s.Name)
		}
		if seen[s.Name] {
			return fmt.Errorf("split %q appears twice", s.Name)
		}
		seen[s.Name] = true
		if s.Count < 1 {
			return fmt.Errorf("split %q has %d samples; want at least 1", s.Name, s.Count)
		}
		if len(s.Axes) < 2 {
			return fmt.Errorf("split %q has %d axes; want time and at least one more", s.Name, len(s.Axes))
		}
		for _, a := range s.Axes {
			if a.Points < 1 {
				return fmt.Errorf("split %q: axis %s has %d points; want at least 1", s.Name, a.Name, a.Points)
			}
		}
		names := map[string]bool{solutionName: true}
		for _, in := range s.Inputs {
			if in.Name == "" || names[in.Name] {
				return fmt.Errorf("split %q: input %q: want a name of its own", s.Name, in.Name)
			}
			names[in.Name] = true
			if len(s.shape(in)) != len(in.Axes) {
				return fmt.Errorf("split %q: input %s: its axes %s are not all axes of the split", s.Name, in.Name, strings.Join(in.Axes, ", "))
			}
			if _, ok := product(append(s.shape(in), s.Count)); !ok {
				return fmt.Errorf("split %q: %d samples of %s are too large", s.Name, s.Count, in.Name)
			}
		}
		if len(s.Unknowns) == 1 {
			return fmt.Errorf("split %q: unknowns: want two or more, or none", s.Name)
		}
		for _, name := range s.Unknowns {
			if name == "" || names[name] {
				return fmt.Errorf("split %q: unknown %q: want a name of its own", s.Name, name)
			}
			names[name] = true
		}
		if _, ok := product(append(s.SolutionShape(), s.Count)); !ok {
			return fmt.Errorf("split %q: %d samples of %s are too large", s.Name, s.Count, words.Shape(s.SolutionShape()))
		}
	}
	return nil
}

// validateShards checks that the shards cover every split in order, or, of an
// unfinished dataset, a part of it.
func (m *manifest) validateShards(complete bool) error {
	next := map[string]int{}
	for i, s := range m.Shards {
		split, err := splitOf(m.Splits, s.Split)
		if err != nil {
			return fmt.Errorf("shard %d: %w", i, err)
		}
		if s.File == "" || filepath.Base(s.File) != s.File || !strings.HasSuffix(s.File, ".npz") {
			return fmt.Errorf("shard %d: file name %q", i, s.File)
		}
		if s.Count < 1 || s.First < next[s.Split] || s.Count > split.Count-s.First {
			return fmt.Errorf("shard %d: samples %d to %d of %s out of range or order", i, s.First, s.First+s.Count, s.Split)
		}
		if complete && s.First != next[s.Split] {
			return fmt.Errorf("samples %d to %d of %s are in no shard", next[s.Split], s.First, s.Split)
		}
		next[s.Split] = s.First + s.Count
	}
	for _, s := range m.Splits {
		if complete && next[s.Name] != s.Count {
			return fmt.Errorf("samples %d to %d of %s are in no shard", next[s.Name], s.Count, s.Name)
		}
	}
	return nil
}

// readManifest reads and validates the manifest of either name. A missing file
// is an error that satisfies errors.Is(err, fs.ErrNotExist).
func readManifest(path string) (*manifest, error) {
	text, err := disk.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseManifest(path, text)
}

func parseManifest(path string, text []byte) (*manifest, error) {
	var head struct {
		Format  string
		Version int
	}
	if err := json.Unmarshal(text, &head); err == nil && head.Format == manifestFormat && (head.Version < 1 || head.Version > manifestVersion) {
		return nil, &disk.VersionError{File: path, Got: head.Version, Want: manifestVersion}
	}
	m := new(manifest)
	if err := disk.DecodeJSON(text, m); err != nil {
		return nil, disk.Corrupt(path, err)
	}
	if m.Format != manifestFormat {
		return nil, &disk.CorruptError{File: path, Reason: fmt.Sprintf("format %q; want %q", m.Format, manifestFormat)}
	}
	if got := m.sum(); got != m.Checksum {
		return nil, &disk.CorruptError{File: path, Reason: "altered: its checksum does not fit its content"}
	}
	if err := m.validate(); err != nil {
		return nil, &disk.CorruptError{File: path, Reason: err.Error()}
	}
	if err := m.validateShards(filepath.Base(path) == manifestFile); err != nil {
		return nil, &disk.CorruptError{File: path, Reason: err.Error()}
	}
	return m, nil
}

// difference names a difference between the plans of m and other, "" if there is none.
// Shards are not compared.
func (m *manifest) difference(other *manifest) string {
	switch {
	case m.Problem != other.Problem:
		return fmt.Sprintf("problem %q, not %q", m.Problem, other.Problem)
	case m.ProblemHash != other.ProblemHash:
		return "another definition of the problem"
	case m.SolutionType != other.SolutionType:
		return fmt.Sprintf("solutions of type %s, not %s", m.SolutionType, other.SolutionType)
	case len(m.Splits) != len(other.Splits):
		return fmt.Sprintf("%d splits, not %d", len(m.Splits), len(other.Splits))
	}
	for i, a := range m.Splits {
		b := other.Splits[i]
		switch {
		case a.Name != b.Name:
			return fmt.Sprintf("split %s, not %s", a.Name, b.Name)
		case a.Count != b.Count:
			return fmt.Sprintf("%s has %d samples, not %d", a.Name, a.Count, b.Count)
		case a.Seed != b.Seed:
			return fmt.Sprintf("%s has seed %d, not %d", a.Name, a.Seed, b.Seed)
		case a.Solve != b.Solve:
			return fmt.Sprintf("%s with and without solutions", a.Name)
		case !slices.Equal(a.Axes, b.Axes):
			return fmt.Sprintf("%s has another grid (%s, not %s)", a.Name, words.Shape(a.GridShape()), words.Shape(b.GridShape()))
		case !slices.EqualFunc(a.Inputs, b.Inputs, func(x, y InputRecord) bool { return x.Name == y.Name && slices.Equal(x.Axes, y.Axes) }):
			return fmt.Sprintf("%s has other inputs", a.Name)
		case !slices.Equal(a.Unknowns, b.Unknowns):
			return fmt.Sprintf("%s has other unknowns", a.Name)
		}
	}
	for key, value := range m.Metadata {
		if other.Metadata[key] != value {
			return fmt.Sprintf("%s %q, not %q", key, value, other.Metadata[key])
		}
	}
	if len(m.Metadata) != len(other.Metadata) {
		return "other metadata"
	}
	return ""
}
