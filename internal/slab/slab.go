// Package slab divides a grid among processes along its first axis. A rank owns
// some successive slices, its slab, and stores besides the neighbouring slices
// that its stencils reach into. Every sum over ranks is formed in their order, so that all
// get the same bits.
//
// A nil *Slab is the whole grid: sums and exchanges then leave everything as it is.
package slab

import (
	"fmt"
	"unsafe"
)

type float interface{ ~float32 | ~float64 }

// Ranks joins the processes that hold the slabs of one grid; a dist.Comm is one. All
// methods but Rank and Size are collective, Exchange between two.
type Ranks interface {
	Rank() int
	Size() int
	AllGather(dst, src []byte) error
	AllToAll(dst, src []byte) error
	Exchange(peer int, dst, src []byte) error
}

// A Slab is what one rank has of a grid. It belongs to one goroutine at a time, and
// all ranks call the same functions in the same order.
type Slab struct {
	Total      int // slices of the grid
	Lo, Hi     int // own slices
	First, End int // stored slices, among which are the own ones

	ranks     Ranks
	low, high int // slices below and above that stencils reach into
	buffers   [2][]byte
}

// New gives every rank its slab of so many slices, in the order of ranks, of nearly
// equal size. reach tells how many slices before and after them the stencils in the slices
// [lo, hi) read.
func New(ranks Ranks, total int, reach func(lo, hi int) (below, above int)) (*Slab, error) {
	s := &Slab{Total: total, ranks: ranks}
	size := ranks.Size()
	if total < 2*size {
		return nil, fmt.Errorf("%d points on %d ranks; want 2 each at least", total, size)
	}
	for r := range size {
		below, above := reach(s.share(r, total))
		s.low, s.high = max(s.low, below), max(s.high, above)
	}
	for r := range size {
		lo, hi := s.share(r, total)
		if most := max(s.high*min(r, 1), s.low*min(size-1-r, 1)); hi-lo < most {
			return nil, fmt.Errorf("%d points on %d ranks: one has %d, and stencils of its neighbours reach over %d", total, size, hi-lo, most)
		}
	}
	s.Lo, s.Hi = s.share(ranks.Rank(), total)
	s.First, s.End = max(0, s.Lo-s.low), min(total, s.Hi+s.high)
	return s, nil
}

// share is what a rank has of n things that all ranks divide.
func (s *Slab) share(rank, n int) (lo, hi int) {
	size := s.ranks.Size()
	return rank * n / size, (rank + 1) * n / size
}

// Leads reports whether this rank adds what all have and the result has once.
func (s *Slab) Leads() bool { return s == nil || s.ranks.Rank() == 0 }

// Part returns this rank's share [lo, hi) of n things that all have.
func (s *Slab) Part(n int) (lo, hi int) {
	if s == nil {
		return 0, n
	}
	return s.share(s.ranks.Rank(), n)
}

// Own returns the own slices, counted among those stored, which are total where there is
// no slab.
func (s *Slab) Own(total int) (lo, hi int) {
	if s == nil {
		return 0, total
	}
	return s.Lo - s.First, s.Hi - s.First
}

// failure is how an exchange that went wrong ends what is being computed.
type failure struct{ err error }

func must(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Recover, deferred, turns the failure of an exchange into an error.
func Recover(err *error) {
	switch v := recover().(type) {
	case nil:
	case failure:
		*err = v.err
	default:
		panic(v)
	}
}

// buffer returns n bytes that are kept from call to call.
func (s *Slab) buffer(k, n int) []byte {
	if cap(s.buffers[k]) < n {
		s.buffers[k] = Bytes(make([]float64, (n+7)/8))
	}
	return s.buffers[k][:n]
}

// few is the number of bytes up to which every rank sends all it has to all others.
const few = 4096

// Sum replaces v by its sum over ranks, in their order. Long ones are added by parts, each
// by one rank.
func Sum[T float](s *Slab, v []T) {
	if s == nil || len(v) == 0 {
		return
	}
	size := s.ranks.Size()
	part := (len(v) + size - 1) / size
	bytes := int(unsafe.Sizeof(v[0]))
	if len(v)*bytes <= few {
		all := s.buffer(0, size*len(v)*bytes)
		must(s.ranks.AllGather(all, Bytes(v)))
		clear(v)
		for r := range size {
			add(v, numbers[T](all)[r*len(v):])
		}
		return
	}
	sent, got := numbers[T](s.buffer(0, size*part*bytes)), numbers[T](s.buffer(1, size*part*bytes))
	clear(sent[copy(sent, v):])
	must(s.ranks.AllToAll(Bytes(got), Bytes(sent)))
	own := sent[:part]
	copy(own, got)
	for r := 1; r < size; r++ {
		add(own, got[r*part:])
	}
	must(s.ranks.AllGather(Bytes(got), Bytes(own)))
	copy(v, got)
}

// add adds as many numbers to dst as it has.
func add[T float](dst, src []T) {
	for i, v := range src[:len(dst)] {
		dst[i] += v
	}
}

// Join sets v from the parts of it that ranks have, as Part divides n things: those from thing lo to
// hi are v[at(lo):at(hi)].
func Join[T float](s *Slab, v []T, n int, at func(i int) int) {
	if s == nil {
		return
	}
	size, most := s.ranks.Size(), 0
	part := func(r int) []T {
		lo, hi := s.share(r, n)
		return v[at(lo):at(hi)]
	}
	for r := range size {
		most = max(most, len(part(r)))
	}
	bytes := most * int(unsafe.Sizeof(v[0]))
	sent, got := numbers[T](s.buffer(0, bytes)), numbers[T](s.buffer(1, size*bytes))
	clear(sent[copy(sent, part(s.ranks.Rank())):])
	must(s.ranks.AllGather(Bytes(got), Bytes(sent)))
	for r := range size {
		copy(part(r), got[r*most:])
	}
}

// Fill sets the stored slices that are not own from the ranks that own them. fields are one or
// several, one after another, of the stored slices, of width numbers each.
func Fill[T float](s *Slab, fields []T, width int) {
	each(s, fields, width, func(field []T, lo, hi, low, high int) {
		s.neighbours(
			func(below int) { must(s.ranks.Exchange(below, Bytes(field[:lo]), Bytes(field[lo:lo+high]))) },
			func(above int) { must(s.ranks.Exchange(above, Bytes(field[hi:]), Bytes(field[hi-low:hi]))) },
		)
	})
}

// Collect is the transpose of Fill: it adds the stored slices that are not own to those of the
// ranks that own them, and clears them.
func Collect[T float](s *Slab, fields []T, width int) {
	each(s, fields, width, func(field []T, lo, hi, low, high int) {
		bytes := int(unsafe.Sizeof(field[0]))
		s.neighbours(
			func(below int) {
				got := numbers[T](s.buffer(0, high*bytes))
				must(s.ranks.Exchange(below, Bytes(got), Bytes(field[:lo])))
				add(field[lo:lo+high], got)
			},
			func(above int) {
				got := numbers[T](s.buffer(0, low*bytes))
				must(s.ranks.Exchange(above, Bytes(got), Bytes(field[hi:])))
				add(field[hi-low:hi], got)
			},
		)
		clear(field[:lo])
		clear(field[hi:])
	})
}

// each calls do for every field, of which [lo, hi) is own; the ranks below and above store the
// first high numbers of that and the last low ones.
func each[T float](s *Slab, fields []T, width int, do func(field []T, lo, hi, low, high int)) {
	if s == nil {
		return
	}
	size := (s.End - s.First) * width
	for at := 0; at < len(fields); at += size {
		do(fields[at:at+size], (s.Lo-s.First)*width, (s.Hi-s.First)*width, s.low*width, s.high*width)
	}
}

// neighbours calls what a rank does with the one below and the one above it, in an
// order in which none waits for a third.
func (s *Slab) neighbours(below, above func(rank int)) {
	rank, last := s.ranks.Rank(), s.ranks.Size()-1
	for turn := range 2 {
		switch up := (rank+turn)%2 == 0; {
		case up && rank < last:
			above(rank + 1)
		case !up && rank > 0:
			below(rank - 1)
		}
	}
}

// Before returns what the ranks below this one have of v, which is equally long on every
// rank, in their order; it is valid until the next call.
func Before[T float](s *Slab, v []T) [][]T {
	if s == nil {
		return nil
	}
	bytes := len(v) * int(unsafe.Sizeof(v[0]))
	all := s.buffer(0, s.ranks.Size()*bytes)
	must(s.ranks.AllGather(all, Bytes(v)))
	var before [][]T
	for r := range s.ranks.Rank() {
		before = append(before, numbers[T](all[r*bytes:(r+1)*bytes]))
	}
	return before
}

// Bytes views numbers as the bytes that hold them, in this machine's order.
func Bytes[T float | ~uint64](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}

// numbers is the inverse of Bytes.
func numbers[T float](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(b)/int(unsafe.Sizeof(zero)))
}
