// Package dist lets several processes, on one machine or many, work on one
// computation. A [Comm] joins them; [Join] makes one from the launcher that
// started the process (mpirun, srun) and the site's own MPI library, which is
// loaded at run time: pihc needs neither cgo nor MPI to build or to run alone.
// [Local] joins goroutines of one process, for tests.
//
// Nothing here adds numbers in an order that depends on the library or on the
// number of ranks: [sum] adds one vector a sample in the order of the samples,
// so that training gives the same bits on any number of ranks.
package dist

import (
	"errors"
	"os"
)

// A Comm joins Size processes, called ranks and numbered from 0. Every method but
// Rank, Size, Exchange, Abort and Exit is collective: all ranks call the same methods in the same
// order, with buffers of the same length, and it returns when this rank's part is
// done. A Comm belongs to one goroutine at a time; Abort may come from any.
type Comm interface {
	Rank() int
	Size() int
	// Broadcast copies b of rank root to b of all others.
	Broadcast(b []byte, root int) error
	// AllGather writes every rank's src to dst of all, in the order of ranks;
	// len(dst) is Size·len(src).
	AllGather(dst, src []byte) error
	// AllToAll sends block r of src, one Size-th of it, to rank r, and writes what
	// rank r sent to block r of dst; dst and src are equally long, a multiple of Size.
	AllToAll(dst, src []byte) error
	// Exchange sends src to another rank, which calls it at the same time, and receives
	// from it what fills dst. The others take no part.
	Exchange(peer int, dst, src []byte) error
	// Split returns the Comm of the ranks that give the same color, in their order.
	// It ends with this one.
	Split(color int) (Comm, error)
	// Abort ends all ranks with a status other than 0. Between processes it does not
	// return; ranks of Local get an error from what they wait for.
	Abort(status int)
	// Close leaves the computation, once all ranks are there. The process ends
	// with Exit then.
	Close() error
	// Exit ends the process, in the way that the library needs.
	Exit(status int)
}

// errAborted says that another rank has ended the computation.
var errAborted = errors.New("another rank has ended the computation")

// Alone is the Comm of a process that was started without a launcher.
type Alone struct{}

func (Alone) Rank() int                       { return 0 }
func (Alone) Size() int                       { return 1 }
func (Alone) Broadcast([]byte, int) error     { return nil }
func (Alone) AllGather(dst, src []byte) error { copy(dst, src); return nil }
func (Alone) AllToAll(dst, src []byte) error  { copy(dst, src); return nil }
func (Alone) Split(int) (Comm, error)         { return Alone{}, nil }
func (Alone) Abort(int)                       {}
func (Alone) Close() error                    { return nil }
func (Alone) Exit(status int)                 { os.Exit(status) }

// Exchange panics: there is no other rank.
func (Alone) Exchange(int, []byte, []byte) error { panic("dist: Exchange: this process is alone") }

// check panics where buffers do not fit, which is a caller's bug.
func check(c Comm, dst, src []byte, blocks bool) {
	switch {
	case blocks && (len(dst) != len(src) || len(src)%c.Size() != 0):
		panic("dist: AllToAll: lengths differ or are no multiple of the number of ranks")
	case !blocks && len(dst) != len(src)*c.Size():
		panic("dist: AllGather: dst is not as long as all ranks' src")
	}
}
