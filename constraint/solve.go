package constraint

import (
	"math/rand/v2"

	"pihc/internal/slab"
)

// Seed identifies the sampled points: the same seed samples the same points.
type Seed struct{ Run, Step, Sample uint64 }

// sum adds vectors over the ranks that have parts of the system.
func (s *Workspace) sum(vectors ...[]float64) {
	if s.c.System.Slab == nil {
		return
	}
	s.packed = s.packed[:0]
	for _, v := range vectors {
		s.packed = append(s.packed, v...)
	}
	slab.Sum(s.c.System.Slab, s.packed)
	at := 0
	for _, v := range vectors {
		at += copy(v, s.packed[at:])
	}
}

// Solve finds the weights ω_k of every expert.
func (p LeastSquares) Solve() Solution {
	s := p.memory
	if !s.c.Options.Fixed {
		s.forExperts(problem.solve)
		s.joinSolutions()
		return Solution{s}
	}
	for _, e := range s.experts {
		for i := range e.omega {
			e.omega[i] = s.c.Options.Start
		}
	}
	return Solution{s}
}

// together reports whether there are fewer experts than workers, or sums over ranks: then
// experts are solved one after another, each with its rows on the pool.
func (s *Workspace) together() bool {
	return len(s.own()) < s.c.pool.Workers() || s.c.System.Slab != nil
}

// forExperts does the work of every expert of this rank, on the pool's queue or one by one.
func (s *Workspace) forExperts(do func(p problem)) {
	own := s.own()
	if s.together() {
		for _, e := range own {
			do(problem{e, s, 0, e.curved})
		}
		return
	}
	s.c.pool.Run(len(own), func(worker, k int) { e := own[k]; do(problem{e, s, worker, e.curved}) })
}

// samplePoints draws the residual rows of an expert.
func (s *Workspace) samplePoints(expert int, seed Seed, overlap float64) {
	e := s.experts[expert]
	for residual, b := range e.residuals() {
		switch {
		case s.c.System.Slab == nil:
			s.c.SamplePoints(b.Points, e.merged[:len(b.Points)], residual, expert, overlap, seed)
		case b.drawn != nil: // otherwise all rows are there, and stay
			s.c.SamplePoints(b.drawn, e.merged[:len(b.drawn)], residual, expert, overlap, seed)
			own, before := s.c.System.AppendOwn(b.Points[:0], b.drawn)
			s.cut(e, residual, own, before%chunkRows)
		}
	}
	if s.c.System.Slab != nil {
		e.divide()
	}
}

// cut makes the rows of block i of an expert those at other points.
func (s *Workspace) cut(e *expert, i int, points []int32, phase int) {
	b := e.blocks[i]
	b.phase = phase
	b.Cut(points)
	s.store.cut(b.index, points, phase)
	if s.offset != nil {
		s.constants[b.index].Cut(points, 1)
	}
	e.s[i].Cut(points, 1)
	e.q[i].Cut(points, 1)
}

// SamplePoints draws the points of an expert's rows of a residual, in grid order, by a
// generator of its own from (seed, expert): all in its subdomain but for a fraction
// overlap outside. Residuals that hold at the same points have rows at the same ones.
// scratch is as long as points.
func (c *Constraint) SamplePoints(points, scratch []int32, residual, expert int, overlap float64, seed Seed) {
	var rng rand.PCG
	rng.Seed(mix(seed.Run, seed.Step), mix(seed.Sample, uint64(expert)))
	m, own := len(points), c.candidates[residual][expert]
	if overlap > 0 {
		all := c.System.All().Residuals()[residual].Points
		m -= min(int(overlap*float64(m)+0.5), len(all)-len(own))
		outside, before := points[m:], 0
		samplePositions(outside, len(all)-len(own), len(outside), &rng)
		for i, p := range outside {
			// Of all rows the one that has p of others before it.
			for before < len(own) && int(c.ranks[residual][expert][before])-before <= int(p) {
				before++
			}
			outside[i] = all[int(p)+before]
		}
	}
	samplePositions(points[:m], len(own), m, &rng)
	for i, p := range points[:m] {
		points[i] = own[p]
	}
	merge(points, m, scratch)
}

// merge sorts points whose first m and whose others are sorted; scratch holds as many.
func merge(points []int32, m int, scratch []int32) {
	rest := scratch[:copy(scratch, points[m:])]
	for at := len(points) - 1; len(rest) > 0; at-- {
		if m > 0 && points[m-1] > rest[len(rest)-1] {
			m--
			points[at] = points[m]
			continue
		}
		points[at] = rest[len(rest)-1]
		rest = rest[:len(rest)-1]
	}
}

func mix(a, b uint64) uint64 {
	// SplitMix64's finaliser over a combination of both words.
	x := a*0x9e3779b97f4a7c15 + b + 0x632be59bd9b4e019
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
