package dist

import (
	"pihc/compute"
	"pihc/internal/slab"
)

// sum adds vectors of n numbers, one a sample, over the ranks of a Comm, in the
// order of the samples: the result is what one rank gets by adding them one after
// the other, bit for bit, on any number of ranks. Samples are dealt in rounds:
// sample i is formed by rank i mod Size in round i / Size.
//
// Each rank owns one slice of the sum, a Size-th. A round moves n numbers from and
// to each rank (AllToAll), Finish as many again (AllGather): with B samples on R
// ranks ⌈B/R⌉ + 1 times n numbers.
type sum[T compute.Float] struct {
	comm           Comm
	n, slice       int
	sent, received []T // (Size, slice)
	sum            []T // (slice): this rank's
}

// newSum prepares sums of vectors of n numbers.
func newSum[T compute.Float](comm Comm, n int) *sum[T] {
	slice := (n + comm.Size() - 1) / comm.Size()
	s := &sum[T]{comm: comm, n: n, slice: slice, sum: make([]T, slice)}
	s.sent, s.received = make([]T, slice*comm.Size()), make([]T, slice*comm.Size())
	return s
}

// Begin starts a sum at start (n), which is the same on every rank.
func (s *sum[T]) Begin(start []T) {
	clear(s.sum)
	if lo := s.comm.Rank() * s.slice; lo < s.n {
		copy(s.sum, start[lo:s.n])
	}
}

// Round adds the vectors of ranks 0 to count−1, in this order; mine (n) is this
// rank's, and is not read where its rank is not below count.
func (s *sum[T]) Round(mine []T, count int) error {
	if s.comm.Rank() < count {
		copy(s.sent, mine[:s.n])
	}
	if err := s.comm.AllToAll(asBytes(s.received), asBytes(s.sent)); err != nil {
		return err
	}
	for r := range count {
		for i, v := range s.received[r*s.slice : (r+1)*s.slice] {
			s.sum[i] += v
		}
	}
	return nil
}

// Finish writes the sum to dst (n) of every rank.
func (s *sum[T]) Finish(dst []T) error {
	if err := s.comm.AllGather(asBytes(s.received), asBytes(s.sum)); err != nil {
		return err
	}
	copy(dst[:s.n], s.received)
	return nil
}

// asBytes views numbers as the bytes that hold them, in this machine's order.
func asBytes[T compute.Float | ~uint64](v []T) []byte { return slab.Bytes(v) }
