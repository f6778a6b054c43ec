package compute

// Ranks joins the processes that hold the slabs of one grid; a dist.Comm is one. All
// methods but Rank and Size are collective, Exchange between two.
type Ranks interface {
	Rank() int
	Size() int
	AllGather(dst, src []byte) error
	AllToAll(dst, src []byte) error
	Exchange(peer int, dst, src []byte) error
}

// A Slab is what one rank has of a grid that is divided along its first axis. It belongs to one
// goroutine at a time. A nil *Slab is the whole grid.
type Slab struct {
	Total      int // slices of the grid
	Lo, Hi     int // own slices
	First, End int // stored slices, among which are the own ones

	Ranks   Ranks
	Low     int          // slices below the own ones that stencils reach into
	High    int          // and above
	Scratch [2][]float64 // memory of exchanges, kept from call to call
}

// Leads reports whether this rank adds what all have and the result has once.
func (s *Slab) Leads() bool { return s == nil || s.Ranks.Rank() == 0 }

// Part returns this rank's share [lo, hi) of n things that all have.
func (s *Slab) Part(n int) (lo, hi int) {
	if s == nil {
		return 0, n
	}
	return s.PartOf(s.Ranks.Rank(), n)
}

// PartOf returns the share [lo, hi) that a rank has of n things.
func (s *Slab) PartOf(rank, n int) (lo, hi int) {
	size := s.Ranks.Size()
	return rank * n / size, (rank + 1) * n / size
}

// Own returns the own slices, counted among those stored, which are total where there is
// no slab.
func (s *Slab) Own(total int) (lo, hi int) {
	if s == nil {
		return 0, total
	}
	return s.Lo - s.First, s.Hi - s.First
}
