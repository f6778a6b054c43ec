// Package slab divides a grid among processes along its first axis. A rank owns
// some successive slices, its slab, and stores besides the neighbouring slices
// that its stencils reach into. Every sum over ranks is formed in their order, so that all
// get the same bits.
//
// A nil slab is the whole grid: sums and exchanges then leave everything as it is.
package slab

import (
	"fmt"
	"unsafe"

	"pihc/compute"
)

// New gives every rank its slab of so many slices, in the order of ranks, of nearly
// equal size. reach tells how many slices before and after them the stencils in the slices
// [lo, hi) read.
func New(ranks compute.Ranks, total int, reach func(lo, hi int) (below, above int)) (*compute.Slab, error) {
	s := &compute.Slab{Total: total, Ranks: ranks}
	size := ranks.Size()
	if total < 2*size {
		return nil, fmt.Errorf("%d points on %d ranks; want 2 each at least", total, size)
	}
	for r := range size {
		below, above := reach(s.PartOf(r, total))
		s.Low, s.High = max(s.Low, below), max(s.High, above)
	}
	for r := range size {
		lo, hi := s.PartOf(r, total)
		if most := max(s.High*min(r, 1), s.Low*min(size-1-r, 1)); hi-lo < most {
			return nil, fmt.Errorf("%d points on %d ranks: one has %d, and stencils of its neighbours reach over %d", total, size, hi-lo, most)
		}
	}
	s.Lo, s.Hi = s.PartOf(ranks.Rank(), total)
	s.First, s.End = max(0, s.Lo-s.Low), min(total, s.Hi+s.High)
	return s, nil
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
func buffer(s *compute.Slab, k, n int) []byte {
	if len(s.Scratch[k])*8 < n {
		s.Scratch[k] = make([]float64, (n+7)/8)
	}
	return Bytes(s.Scratch[k])[:n]
}

// few is the number of bytes up to which every rank sends all it has to all others.
const few = 4096

// Sum replaces v by its sum over ranks, in their order. Long ones are added by parts, each
// by one rank.
func Sum[T compute.Float](s *compute.Slab, v []T) {
	if s == nil || len(v) == 0 {
		return
	}
	size := s.Ranks.Size()
	part := (len(v) + size - 1) / size
	bytes := int(unsafe.Sizeof(v[0]))
	if len(v)*bytes <= few {
		all := buffer(s, 0, size*len(v)*bytes)
		must(s.Ranks.AllGather(all, Bytes(v)))
		clear(v)
		for r := range size {
			add(v, numbers[T](all)[r*len(v):])
		}
		return
	}
	sent, got := numbers[T](buffer(s, 0, size*part*bytes)), numbers[T](buffer(s, 1, size*part*bytes))
	clear(sent[copy(sent, v):])
	must(s.Ranks.AllToAll(Bytes(got), Bytes(sent)))
	own := sent[:part]
	copy(own, got)
	for r := 1; r < size; r++ {
		add(own, got[r*part:])
	}
	must(s.Ranks.AllGather(Bytes(got), Bytes(own)))
	copy(v, got)
}

// add adds as many numbers to dst as it has.
func add[T compute.Float](dst, src []T) {
	for i, v := range src[:len(dst)] {
		dst[i] += v
	}
}

// Join sets v from the parts of it that ranks have, as Part divides n things: those from thing lo to
// hi are v[at(lo):at(hi)].
func Join[T compute.Float](s *compute.Slab, v []T, n int, at func(i int) int) {
	if s == nil {
		return
	}
	size, most := s.Ranks.Size(), 0
	part := func(r int) []T {
		lo, hi := s.PartOf(r, n)
		return v[at(lo):at(hi)]
	}
	for r := range size {
		most = max(most, len(part(r)))
	}
	bytes := most * int(unsafe.Sizeof(v[0]))
	sent, got := numbers[T](buffer(s, 0, bytes)), numbers[T](buffer(s, 1, size*bytes))
	clear(sent[copy(sent, part(s.Ranks.Rank())):])
	must(s.Ranks.AllGather(Bytes(got), Bytes(sent)))
	for r := range size {
		copy(part(r), got[r*most:])
	}
}

// Fill sets the stored slices that are not own from the ranks that own them. fields are one or
// several, one after another, of the stored slices, of width numbers each.
func Fill[T compute.Float](s *compute.Slab, fields []T, width int) {
	each(s, fields, width, func(field []T, lo, hi, low, high int) {
		neighbours(s,
			func(below int) { must(s.Ranks.Exchange(below, Bytes(field[:lo]), Bytes(field[lo:lo+high]))) },
			func(above int) { must(s.Ranks.Exchange(above, Bytes(field[hi:]), Bytes(field[hi-low:hi]))) },
		)
	})
}

// Collect is the transpose of Fill: it adds the stored slices that are not own to those of the
// ranks that own them, and clears them.
func Collect[T compute.Float](s *compute.Slab, fields []T, width int) {
	each(s, fields, width, func(field []T, lo, hi, low, high int) {
		bytes := int(unsafe.Sizeof(field[0]))
		neighbours(s,
			func(below int) {
				got := numbers[T](buffer(s, 0, high*bytes))
				must(s.Ranks.Exchange(below, Bytes(got), Bytes(field[:lo])))
				add(field[lo:lo+high], got)
			},
			func(above int) {
				got := numbers[T](buffer(s, 0, low*bytes))
				must(s.Ranks.Exchange(above, Bytes(got), Bytes(field[hi:])))
				add(field[hi-low:hi], got)
			},
		)
		clear(field[:lo])
		clear(field[hi:])
	})
}

// each calls do for every field, of which [lo, hi) is own; the ranks below and above store the
// first high numbers of that and the last low ones.
func each[T compute.Float](s *compute.Slab, fields []T, width int, do func(field []T, lo, hi, low, high int)) {
	if s == nil {
		return
	}
	size := (s.End - s.First) * width
	for at := 0; at < len(fields); at += size {
		do(fields[at:at+size], (s.Lo-s.First)*width, (s.Hi-s.First)*width, s.Low*width, s.High*width)
	}
}

// neighbours calls what a rank does with the one below and the one above it, in an
// order in which none waits for a third.
func neighbours(s *compute.Slab, below, above func(rank int)) {
	rank, last := s.Ranks.Rank(), s.Ranks.Size()-1
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
func Before[T compute.Float](s *compute.Slab, v []T) [][]T {
	if s == nil {
		return nil
	}
	bytes := len(v) * int(unsafe.Sizeof(v[0]))
	all := buffer(s, 0, s.Ranks.Size()*bytes)
	must(s.Ranks.AllGather(all, Bytes(v)))
	var before [][]T
	for r := range s.Ranks.Rank() {
		before = append(before, numbers[T](all[r*bytes:(r+1)*bytes]))
	}
	return before
}

// Bytes views numbers as the bytes that hold them, in this machine's order.
func Bytes[T compute.Float | ~uint64](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}

// numbers is the inverse of Bytes.
func numbers[T compute.Float](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(b)/int(unsafe.Sizeof(zero)))
}
