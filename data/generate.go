package data

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"pihc/internal/disk"
)

// Plan describes the dataset that Generate makes.
type Plan struct {
	Problem     string            // name
	ProblemHash string            // of its definition
	Metadata    map[string]string // versions, solver, tolerances: anything that must agree when continuing
	Splits      []Split
	Float32     bool // solutions are stored as float32, otherwise as float64

	// Sampler returns a function that draws the inputs of one sample of the split
	// (InputShape) from rng. It is called once for each worker, and its
	// result by that worker alone.
	Sampler func(Split) (func(rng *rand.Rand, dst []float64) error, error)
	// Solver returns a function that solves from an initial condition to dst
	// (SolutionShape). It is called once for each worker, only for splits with
	// solutions.
	Solver func(Split) (func(dst, initial []float64) error, error)

	// Given, which may be nil, writes initial condition and solution (nil in a split
	// without) of a sample that exists already, and returns false for one that is to
	// be drawn and solved.
	Given func(split Split, sample int, initial, solution []float64) (bool, error)

	Workers int // 0 means runtime.GOMAXPROCS(0)
	// Ranks are processes that share the samples of every shard, all of which call
	// Generate with the same plan; nil: this process alone. Rank 0 writes the dataset.
	Ranks Ranks
	// ShardSize is the number of samples in a shard; 0 chooses about 64 MiB.
	ShardSize int
}

// SampleRand returns the generator of one sample: PCG seeded from the split's
// seed and the sample's number, so that a sample depends on nothing else.
func SampleRand(seed uint64, sample int) *rand.Rand {
	return rand.New(rand.NewPCG(mix(seed), mix(seed^mix(uint64(sample)+1))))
}

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Reopen makes a complete dataset one that Generate completes, for what is to be done once it is.
func Reopen(dir string) error {
	return os.Rename(filepath.Join(dir, manifestFile), filepath.Join(dir, progressFile))
}

// Generate makes a dataset in dir, which is created if needed. The files are
// the same, byte for byte, for any number of workers and ranks. Cancelled or killed, it
// continues when called again with the same plan: finished shards are verified
// by their hashes and kept. A complete dataset of the same plan is verified
// and left alone.
//
// progress, which may be nil, is called with the number of finished samples,
// kept ones included, never twice at once.
//
// Errors: *ExistsError if dir holds a dataset of another plan or foreign files;
// *LockedError if another process works there; ctx.Err, wrapped, when cancelled;
// errors of Sampler and Solver with the name of the sample; errors of writing.
func Generate(ctx context.Context, dir string, plan Plan, progress func(done, total int)) error {
	g := &generator{dir: dir, plan: plan, progress: progress}
	if g.plan.Ranks == nil {
		g.plan.Ranks = alone{}
	}
	if g.plan.Ranks.Rank() > 0 {
		return g.assist(ctx)
	}
	if err := g.prepare(); err != nil {
		return err
	}
	unlock, err := g.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if g.complete {
		if _, err := g.verified(g.manifest.Shards); err != nil {
			return err
		}
		return g.announce(noMore, 0, 0)
	}
	return g.generate(ctx)
}

// lock claims the folder, removes files that killed processes left there, and reads its
// manifest again. A complete dataset may be in a folder that cannot be written to.
func (g *generator) lock() (unlock func(), err error) {
	made := false
	if !g.complete {
		if made, err = disk.MakeFolder(g.dir); err != nil {
			return nil, err
		}
	}
	lock, err := disk.LockFolder(g.dir)
	if g.complete && errors.Is(err, fs.ErrPermission) {
		return func() {}, nil
	}
	if err == nil {
		unlock = func() {
			lock.Release()
			if made {
				os.Remove(g.dir) // if it is empty
			}
		}
		if err = g.prepare(); err != nil {
			unlock()
		}
	}
	if err != nil {
		return nil, err
	}
	disk.RemovePartials(g.dir)
	if g.complete {
		_ = disk.Remove(g.path(progressFile))
	}
	return unlock, nil
}

// generate makes the shards that are not there yet.
func (g *generator) generate(ctx context.Context) error {
	// Written before any shard: the shards that follow are known to be ours.
	if err := g.manifest.write(g.path(progressFile)); err != nil {
		return err
	}
	kept, err := g.verified(g.manifest.Shards)
	if err != nil {
		return err
	}
	g.manifest.Shards = nil
	for i, split := range g.manifest.Splits {
		if err := g.split(ctx, uint64(i), split, kept); err != nil {
			return err
		}
	}
	if err := g.manifest.write(g.path(manifestFile)); err != nil {
		return err
	}
	_ = disk.Remove(g.path(progressFile)) // the next process does it otherwise
	return g.announce(noMore, 0, 0)
}

type generator struct {
	dir      string
	plan     Plan
	progress func(done, total int)
	manifest *manifest
	complete bool // manifest is that of a complete dataset

	mu          sync.Mutex // done
	done, total int
}

func (g *generator) path(file string) string { return filepath.Join(g.dir, file) }

// planned is the manifest of the plan.
func (g *generator) planned() (*manifest, error) {
	p := g.plan
	version := 1
	for _, s := range p.Splits {
		if len(s.Inputs) > 0 {
			version = max(version, 2)
		}
		if len(s.Unknowns) > 0 {
			version = manifestVersion
		}
	}
	m := &manifest{
		Format: manifestFormat, Version: version,
		Problem: p.Problem, ProblemHash: p.ProblemHash, Metadata: p.Metadata,
		Splits: p.Splits, SolutionType: "float64",
	}
	if p.Float32 {
		m.SolutionType = "float32"
	}
	if err := m.validate(); err != nil {
		return nil, fmt.Errorf("dataset %s: %w", g.dir, err)
	}
	return m, nil
}

// prepare makes the manifest of the plan, or takes that of the folder.
func (g *generator) prepare() error {
	m, err := g.planned()
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(g.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("create %s: %w", g.dir, disk.Reason(err))
	}
	if err := disk.Inside(g.dir, manifestFile, progressFile); err != nil {
		return err
	}
	for _, file := range []string{manifestFile, progressFile} {
		old, err := readManifest(g.path(file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = disk.Inside(g.dir, old.files()...)
		}
		if err != nil {
			return err
		}
		if d := old.difference(m); d != "" {
			return &disk.ExistsError{Dir: g.dir, Reason: "already holds another dataset: " + d}
		}
		g.manifest, g.complete, g.total = old, file == manifestFile, old.total()
		return nil
	}
	if err := disk.Outside(g.dir, nil); err != nil {
		return err
	}
	for _, e := range entries {
		if name := e.Name(); name != disk.LockFile && !strings.HasPrefix(name, ".") {
			return &disk.ExistsError{Dir: g.dir, Foreign: true, Reason: fmt.Sprintf("not a dataset: it holds other files, such as %s", name)}
		}
	}
	g.manifest, g.total = m, m.total()
	return nil
}

func shardFile(s Split, index int) string { return fmt.Sprintf("%s-%05d.npz", s.Name, index) }

func (g *generator) shardSize(s Split, m *manifest) int {
	if g.plan.ShardSize > 0 {
		return g.plan.ShardSize
	}
	size, _ := product(s.InputShape())
	bytes := 8 * size
	if s.Solve {
		size, _ = product(s.SolutionShape())
		bytes += bytesOf(m.SolutionType) * size
	}
	return min(1000, max(1, 64<<20/bytes))
}

// verified returns the shards whose files have the recorded hashes. Of a
// complete dataset a shard that does not is an error.
func (g *generator) verified(shards []shard) (map[string]shard, error) {
	kept := map[string]shard{}
	for _, s := range shards {
		size, sum, err := disk.HashFile(g.path(s.File))
		if err == nil && size == s.Bytes && sum == s.SHA256 {
			kept[s.File] = s
			g.advance(s.Count)
			continue
		}
		if g.complete {
			if err == nil {
				err = errors.New("altered: its SHA-256 is not that of the manifest")
			}
			return nil, disk.Corrupt(g.path(s.File), err)
		}
	}
	return kept, nil
}

func (g *generator) advance(samples int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.done += samples
	if g.progress != nil {
		g.progress(g.done, g.total)
	}
}

type interrupted struct {
	dir string
	err error
}

func (e *interrupted) Error() string {
	return fmt.Sprintf("dataset %s: generation interrupted; generating it again continues", e.dir)
}
func (e *interrupted) Unwrap() error { return e.err }
