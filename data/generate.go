package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// Plan says what Generate makes.
type Plan struct {
	Problem     string            // name
	ProblemHash string            // of its definition
	Metadata    map[string]string // versions, solver, tolerances: anything that must agree when continuing
	Splits      []Split
	// SolutionType is Float32 or Float64; "" means Float64.
	SolutionType Type

	// Sampler returns a function that draws the inputs of one sample of the split
	// (InitialShape) from rng. It is called once for each worker, and its
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
// those of Sampler and Solver with the name of the sample; those of writing.
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

// lock claims the folder, removes what killed processes left there, and looks
// at it again. A complete dataset may be in a folder that nobody can write in.
func (g *generator) lock() (unlock func(), err error) {
	made := false
	if !g.complete {
		if made, err = MakeFolder(g.dir); err != nil {
			return nil, err
		}
	}
	lock, err := LockFolder(g.dir)
	if g.complete && errors.Is(err, fs.ErrPermission) {
		return func() {}, nil
	}
	if err == nil {
		unlock = func() {
			lock.Release()
			if made {
				os.Remove(g.dir) // if nothing came to be there
			}
		}
		if err = g.prepare(); err != nil {
			unlock()
		}
	}
	if err != nil {
		return nil, err
	}
	RemovePartials(g.dir)
	if g.complete {
		_ = Remove(g.path(progressFile))
	}
	return unlock, nil
}

// MakeFolder makes a folder and those above it, which survive a power cut, and says
// whether it did.
func MakeFolder(dir string) (made bool, err error) {
	dir = filepath.Clean(dir)
	_, missing := os.Stat(dir)
	top := dir // the first folder that is there
	for stat := missing; errors.Is(stat, fs.ErrNotExist) && top != filepath.Dir(top); _, stat = os.Stat(top) {
		top = filepath.Dir(top)
	}
	err = inject("make folder", dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o777)
	}
	if err != nil {
		return false, fmt.Errorf("create %s: %w", dir, reason(err))
	}
	for above := dir; above != top; {
		above = filepath.Dir(above)
		syncFolder(above)
	}
	return missing != nil, nil
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
	_ = Remove(g.path(progressFile)) // the next process does it otherwise
	return g.announce(noMore, 0, 0)
}

type generator struct {
	dir      string
	plan     Plan
	progress func(done, total int)
	manifest *Manifest
	complete bool // manifest is that of a complete dataset

	mu          sync.Mutex // done
	done, total int
}

func (g *generator) path(file string) string { return filepath.Join(g.dir, file) }

// planned is the manifest of the plan.
func (g *generator) planned() (*Manifest, error) {
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
	m := &Manifest{
		Format: manifestFormat, Version: version,
		Problem: p.Problem, ProblemHash: p.ProblemHash, Metadata: p.Metadata,
		Splits: p.Splits, SolutionType: p.SolutionType,
	}
	if m.SolutionType == "" {
		m.SolutionType = Float64
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
		return fmt.Errorf("create %s: %w", g.dir, reason(err))
	}
	for _, file := range []string{manifestFile, progressFile} {
		old, err := readManifest(g.path(file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if d := old.difference(m); d != "" {
			return &ExistsError{Dir: g.dir, Reason: "already holds another dataset: " + d}
		}
		g.manifest, g.complete, g.total = old, file == manifestFile, old.total()
		return nil
	}
	for _, e := range entries {
		if name := e.Name(); name != lockFile && !strings.HasPrefix(name, ".") {
			return &ExistsError{Dir: g.dir, Foreign: true, Reason: fmt.Sprintf("not a dataset: it holds other files, such as %s", name)}
		}
	}
	g.manifest, g.total = m, m.total()
	return nil
}

func shardFile(s Split, index int) string { return fmt.Sprintf("%s-%05d.npz", s.Name, index) }

func (g *generator) shardSize(s Split, m *Manifest) int {
	if g.plan.ShardSize > 0 {
		return g.plan.ShardSize
	}
	size, _ := product(s.InitialShape())
	bytes := 8 * size
	if s.Solve {
		size, _ = product(s.SolutionShape())
		bytes += m.SolutionType.size() * size
	}
	return min(1000, max(1, 64<<20/bytes))
}

// verified returns the shards whose files have the recorded hashes. Of a
// complete dataset a shard that does not is an error.
func (g *generator) verified(shards []Shard) (map[string]Shard, error) {
	kept := map[string]Shard{}
	for _, s := range shards {
		size, sum, err := HashFile(g.path(s.File))
		if err == nil && size == s.Bytes && sum == s.SHA256 {
			kept[s.File] = s
			g.advance(s.Count)
			continue
		}
		if g.complete {
			if err == nil {
				err = errors.New("altered: its SHA-256 is not that of the manifest")
			}
			return nil, corrupt(g.path(s.File), err)
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

// split makes the shards of one split, by its number, that are not in kept.
func (g *generator) split(ctx context.Context, number uint64, s Split, kept map[string]Shard) error {
	workers, err := g.workers(s)
	if err != nil {
		return err
	}
	size := g.shardSize(s, g.manifest)
	for first := 0; first < s.Count; first += size {
		shard := Shard{Split: s.Name, First: first, Count: min(size, s.Count-first), File: shardFile(s, first/size)}
		if old, ok := kept[shard.File]; ok && old.First == shard.First && old.Count == shard.Count && old.Split == shard.Split {
			g.manifest.Shards = append(g.manifest.Shards, old)
			continue
		}
		if err := g.announce(number, first, shard.Count); err != nil {
			return err
		}
		arrays, err := g.shard(ctx, s, shard, workers)
		if err != nil {
			return err
		}
		shard.Bytes, shard.SHA256, err = WriteAtomicHash(g.path(shard.File), func(w io.Writer) error { return EncodeNPZ(w, arrays) })
		if err != nil {
			return err
		}
		g.manifest.Shards = append(g.manifest.Shards, shard)
		if err := g.manifest.write(g.path(progressFile)); err != nil {
			return err
		}
	}
	return nil
}

// worker draws and solves samples, one after another.
type worker struct {
	sample   func(rng *rand.Rand, dst []float64) error
	solve    func(dst, initial []float64) error
	solution []float64 // of one sample
}

func (g *generator) workers(s Split) ([]worker, error) {
	n := g.plan.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	workers := make([]worker, min(n, s.Count))
	for i := range workers {
		var err error
		if workers[i].sample, err = g.plan.Sampler(s); err != nil {
			return nil, fmt.Errorf("sampler of %s: %w", s.Name, err)
		}
		if s.Solve {
			if workers[i].solve, err = g.plan.Solver(s); err != nil {
				return nil, fmt.Errorf("solver of %s: %w", s.Name, err)
			}
			size, _ := product(s.SolutionShape())
			workers[i].solution = make([]float64, size)
		}
	}
	return workers, nil
}

// shard makes the arrays of one shard, with the other ranks. Each sample is written
// by one worker to its place, so the result does not depend on which.
func (g *generator) shard(ctx context.Context, s Split, shard Shard, workers []worker) ([]Named, error) {
	if g.manifest.SolutionType == Float32 {
		return arraysOf[float32](ctx, g, s, shard, workers)
	}
	return arraysOf[float64](ctx, g, s, shard, workers)
}

// arraysOf is shard with solutions of type T.
func arraysOf[T float32 | float64](ctx context.Context, g *generator, s Split, shard Shard, workers []worker) ([]Named, error) {
	lo, hi, piece := share(g.plan.Ranks, shard.Count)
	points, _ := product(s.InitialShape())
	size := 0
	if s.Solve {
		size, _ = product(s.SolutionShape())
	}
	initial, solutions := make([]float64, piece*points), make([]T, piece*size)
	err := g.draw(ctx, s, shard.First+lo, hi-lo, workers, func(i int) []float64 { return initial[i*points : (i+1)*points] }, func(i int, solution []float64) {
		for j, v := range solution {
			solutions[i*size+j] = T(v)
		}
	})
	if err != nil {
		return nil, err
	}
	if initial, err = gather(g.plan.Ranks, initial); err != nil {
		return nil, err
	}
	if solutions, err = gather(g.plan.Ranks, solutions); err != nil {
		return nil, err
	}
	if others := shard.Count - (hi - lo); others > 0 {
		g.advance(others)
	}
	arrays := separate(s.inputParts(), initial, shard.Count)
	if s.Solve {
		arrays = append(arrays, separate(s.solutionParts(), solutions, shard.Count)...)
	}
	return arrays, nil
}

// separate makes the arrays of the values of count samples.
func separate[T float32 | float64](parts []part, values []T, count int) []Named {
	width := 0
	for _, p := range parts {
		size, _ := product(p.shape)
		width += size
	}
	offset := 0
	var arrays []Named
	for _, p := range parts {
		size, _ := product(p.shape)
		own := values[:count*width]
		if size < width {
			own = make([]T, 0, count*size)
			for i := range count {
				own = append(own, values[i*width+offset:][:size]...)
			}
		}
		arrays, offset = append(arrays, Named{p.name, NewArray(append([]int{count}, p.shape...), own)}), offset+size
	}
	return arrays
}

// draw draws and solves count samples of a split from sample first on: sample i of them
// to inputs(i), and its solution is passed to keep.
func (g *generator) draw(ctx context.Context, s Split, first, count int, workers []worker, inputs func(i int) []float64, keep func(i int, solution []float64)) error {
	caller := ctx
	ctx, cancel := context.WithCancelCause(caller)
	defer cancel(nil)
	next := make(chan int)
	var all sync.WaitGroup
	for w := range workers {
		worker := &workers[w]
		all.Go(func() {
			for i := range next {
				if err := g.sample(worker, s, first+i, inputs(i), worker.solution); err != nil {
					cancel(fmt.Errorf("sample %d of %s: %w", first+i, s.Name, err))
					continue
				}
				keep(i, worker.solution)
				g.advance(1)
			}
		})
	}
	for i := range count {
		select {
		case next <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	all.Wait()
	if err := caller.Err(); err != nil {
		return &interrupted{g.dir, err}
	}
	return context.Cause(ctx)
}

// sample takes a sample that is given, or draws and solves it.
func (g *generator) sample(w *worker, s Split, index int, initial, solution []float64) error {
	if g.plan.Given != nil {
		if there, err := g.plan.Given(s, index, initial, solution); there || err != nil {
			return err
		}
	}
	err := w.sample(SampleRand(s.Seed, index), initial)
	if err == nil && s.Solve {
		err = w.solve(solution, initial)
	}
	return err
}

type interrupted struct {
	dir string
	err error
}

func (e *interrupted) Error() string {
	return fmt.Sprintf("dataset %s: generation interrupted; generating it again continues", e.dir)
}
func (e *interrupted) Unwrap() error { return e.err }
