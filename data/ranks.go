package data

import (
	"context"
	"encoding/binary"
	"math"
	"unsafe"
)

// Ranks joins the processes that make one dataset, as a dist.Comm does.
type Ranks interface {
	Rank() int
	Size() int
	// Broadcast copies b of rank root to b of all others.
	Broadcast(b []byte, root int) error
	// AllGather writes every rank's src to dst of all, in the order of ranks.
	AllGather(dst, src []byte) error
}

// alone is this process without others.
type alone struct{}

func (alone) Rank() int                       { return 0 }
func (alone) Size() int                       { return 1 }
func (alone) Broadcast([]byte, int) error     { return nil }
func (alone) AllGather(dst, src []byte) error { copy(dst, src); return nil }

// share is the part [lo, hi) of count samples that a rank makes, and the largest
// part of any.
func share(r Ranks, count int) (lo, hi, piece int) {
	piece = (count + r.Size() - 1) / r.Size()
	lo = min(r.Rank()*piece, count)
	return lo, min(lo+piece, count), piece
}

// noMore is the number that rank 0 announces when the dataset is complete.
const noMore = math.MaxUint64

// announce tells the other ranks which samples are made next: of a split, by its
// number, from sample first on.
func (g *generator) announce(split uint64, first, count int) error {
	b, err := binary.Append(nil, binary.LittleEndian, []uint64{split, uint64(first), uint64(count)})
	if err != nil {
		return err
	}
	return g.plan.Ranks.Broadcast(b, 0)
}

// assist makes this rank's share of the samples that rank 0 announces.
func (g *generator) assist(ctx context.Context) (err error) {
	if g.manifest, err = g.planned(); err != nil {
		return err
	}
	workers := make([][]worker, len(g.manifest.Splits))
	for {
		b := make([]byte, 24)
		if err := g.plan.Ranks.Broadcast(b, 0); err != nil {
			return err
		}
		i := binary.LittleEndian.Uint64(b)
		if i == noMore {
			return nil
		}
		s := g.manifest.Splits[i]
		if workers[i] == nil {
			if workers[i], err = g.workers(s); err != nil {
				return err
			}
		}
		made := shard{Split: s.Name, First: int(binary.LittleEndian.Uint64(b[8:])), Count: int(binary.LittleEndian.Uint64(b[16:]))}
		if _, err := g.shard(ctx, s, made, workers[i]); err != nil {
			return err
		}
	}
}

// gather returns the values of all ranks, which are equally many of each.
func gather[T float32 | float64](r Ranks, values []T) ([]T, error) {
	if r.Size() == 1 || len(values) == 0 {
		return values, nil
	}
	all := make([]T, r.Size()*len(values))
	return all, r.AllGather(view(all), view(values))
}

// view returns the bytes of numbers, in this machine's order.
func view[T float32 | float64](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0])))
}
