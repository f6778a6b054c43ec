package constraint

import (
	"pihc/compute"
	"pihc/grid"
	"pihc/pde"
)

// A Workspace is the memory of one constrained prediction and its backward pass. It
// belongs to one caller at a time. After the first use nothing proportional to the grid
// or the rows is allocated.
type Workspace struct {
	c        *Constraint
	gatherer *grid.Gatherer
	workers  []*worker
	zero     []float64 // (N)
	draft    bool      // Input.Draft
	packed   []float64 // scratch of sums over ranks

	// Where ranks share the experts of a sample (Input.Ranks): how; nil: this process solves all. Blocks whose rows are those of
	// experts of other ranks alone are foreign.
	shared  *compute.Slab
	sharing compute.Slab
	foreign []bool

	offset       []float64            // (C, P): g_0; nil where the ansatz has none
	store        store                // the basis, and the rows of all blocks
	blocks       []*block             // of all experts
	constants    []grid.Rows[float64] // T g_0 at their points, with an offset
	experts      []*expert
	field        []float64         // (C, P): û
	propagation  *grid.Propagation // nil where the ansatz has none
	linear       *pde.LinearRows   // likewise, by rows
	linearSolver grid.LinearSolver // for the last sample; nil where it has none
	begin        []float64         // what these begin with
	jump         [][2]float64      // per pair: the two differences

	// Of the backward pass: α_k (C, P) and, where there is a solve, β_k of every expert, on so many
	// slices at a time, the weights ω_k and λ_k they go with (weights, fields), the adjoint rows that
	// go into them, parts of the sums ω̄_k, and these.
	adjointFields  [][]float64
	slices         int
	adjointMemory  []float64 // in which fields begin a stride apart
	adjointStride  int
	adjointWeights []float64
	adjointLists   [][]grid.Rows[float64]
	parts          [][]float64
	omegaBars      [][]float64
}

// NewWorkspace allocates the memory of one prediction.
func (c *Constraint) NewWorkspace() *Workspace {
	size := c.System.FieldSize()
	s := &Workspace{c: c, gatherer: c.System.NewGatherer(c.pool), zero: make([]float64, c.N), field: make([]float64, size)}
	for _, x := range c.combined {
		s.gatherer.Add(x.term, x.with, x.factor)
	}
	for i := range c.pool.Workers() {
		s.workers = append(s.workers, c.newWorker(i))
	}
	if c.System.Problem.HasOffset() {
		s.offset = make([]float64, size)
	}
	shared := map[*pde.RowSet]*block{}
	for k := range c.Router.Experts() {
		var blocks []*block
		for i, set := range c.System.Sets {
			if c.Options.Fixed {
				break
			}
			b := shared[set]
			if b == nil {
				b = s.newBlock(i, k)
			}
			if set.Kind != pde.ResidualRows && !c.Options.LocalConditions {
				shared[set] = b
			}
			blocks = append(blocks, b)
		}
		e := s.newExpert(k, blocks)
		s.experts = append(s.experts, e)
		s.adjointLists = append(s.adjointLists, e.s, e.q)
		s.omegaBars = append(s.omegaBars, e.omegaBar)
		for range alphaParts {
			s.parts = append(s.parts, make([]float64, c.N))
		}
	}
	if p := c.Propagator; p != nil {
		s.propagation, s.begin = p.NewPropagation(propagated, c.pool), make([]float64, p.State*c.System.SliceSize())
	}
	if c.propagates() && c.Propagator == nil {
		s.linear, _ = c.System.NewLinearRows() // New has tried
		s.begin = make([]float64, len(c.System.Problem.Begins())*c.System.SliceSize())
	}
	s.foreign = make([]bool, len(s.blocks))
	s.jump = make([][2]float64, len(c.pairs))
	s.newAdjointFields()
	return s
}

// newBlock makes the rows of set i for one expert: as many residual rows as are
// sampled, or a condition's.
func (s *Workspace) newBlock(i, expert int) *block {
	c := s.c
	set, points := c.System.Sets[i], c.Points(c.System.All().Sets[i], expert)
	b := &block{index: len(s.blocks), count: len(points), scale: c.Options.RowScale(set, max(1, len(points)))}
	if set.Kind == pde.ResidualRows {
		_, b.times = c.CoarseRows(set, b.count)
	}
	switch sampled := set.Kind == pde.ResidualRows && (c.Options.Points > 0 || c.Options.Overlap); {
	case c.System.Slab == nil:
	case sampled:
		b.drawn, points = points, make([]int32, min(len(points), len(set.Points)))
	default:
		points, b.phase = c.System.AppendOwn(nil, points)
		b.phase %= chunkRows
	}
	b.PointRows, b.most = c.System.NewPointRows(set, points), len(points)
	if s.offset != nil {
		rows := b.NewValues()
		b.Constants = rows.Values
		s.constants = append(s.constants, rows)
	}
	if set.Linear {
		b.gram, b.linear = make([]float64, c.N*c.N), make([]float64, c.N)
	}
	s.blocks = append(s.blocks, b)
	return b
}

// ownSize is the number of values of a field at own points.
func (c *Constraint) ownSize() int {
	lo, hi := c.System.OwnPoints()
	return len(c.System.Problem.Unknowns) * (hi - lo)
}

// first is the first weight of the stored functions at the points of an unknown.
func (c *Constraint) first(unknown int) int {
	if c.stored == c.N {
		return 0
	}
	return c.column(unknown)
}

// within is where those of an unknown are among the stored functions at its points.
func (c *Constraint) within(unknown int) int { return c.column(unknown) - c.first(unknown) }

// column is the first weight of the components of basis functions that belong to an
// unknown.
func (c *Constraint) column(unknown int) int {
	if c.Options.Separate {
		return unknown * c.Functions
	}
	return 0
}
