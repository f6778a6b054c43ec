package dist

import (
	"bytes"
	"os"
	"sync"
)

// Local returns the ranks of a computation inside this process; each belongs to
// a goroutine of its own.
func Local(size int) []Comm {
	m := newMeeting(size)
	ranks := make([]Comm, size)
	for i := range ranks {
		ranks[i] = &local{m, i}
	}
	return ranks
}

func newMeeting(size int) *meeting {
	m := &meeting{size: size, send: make([][]byte, size), parts: make([]*meeting, size), gone: make(chan struct{}), letters: make([]chan []byte, size*size)}
	m.changed.L = &m.mu
	for i := range m.letters {
		m.letters[i] = make(chan []byte, 1)
	}
	return m
}

// meeting is where local ranks wait for each other.
type meeting struct {
	mu      sync.Mutex
	changed sync.Cond
	size    int
	here    int
	round   int
	aborted bool
	gone    chan struct{} // closed once aborted
	send    [][]byte      // per rank: what it offers in this operation
	letters []chan []byte // per sender and receiver: of Exchange
	parts   []*meeting    // of the last Split, each at the place of its first rank
	all     []*meeting    // of every Split
}

// wait returns when all ranks have called it.
func (m *meeting) wait() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.aborted {
		return errAborted
	}
	round := m.round
	if m.here++; m.here == m.size {
		m.here = 0
		m.round++
		m.changed.Broadcast()
		return nil
	}
	for round == m.round && !m.aborted {
		m.changed.Wait()
	}
	if round == m.round {
		return errAborted
	}
	return nil
}

type local struct {
	*meeting
	rank int
}

func (l *local) Rank() int { return l.rank }
func (l *local) Size() int { return l.size }

// exchange offers send to all ranks and reads what they offer; no rank goes on
// before all have read.
func (l *local) exchange(send []byte, read func(rank int, offered []byte)) error {
	l.send[l.rank] = send
	if err := l.wait(); err != nil {
		return err
	}
	for r, b := range l.send {
		read(r, b)
	}
	return l.wait()
}

func (l *local) Broadcast(b []byte, root int) error {
	return l.exchange(b, func(r int, offered []byte) {
		if r == root && r != l.rank {
			copy(b, offered)
		}
	})
}

func (l *local) AllGather(dst, src []byte) error {
	check(l, dst, src, false)
	return l.exchange(src, func(r int, offered []byte) { copy(dst[r*len(src):], offered) })
}

func (l *local) AllToAll(dst, src []byte) error {
	check(l, dst, src, true)
	n := len(src) / l.size
	return l.exchange(src, func(r int, offered []byte) { copy(dst[r*n:(r+1)*n], offered[l.rank*n:]) })
}

func (l *local) Exchange(peer int, dst, src []byte) error {
	select {
	case l.letters[l.rank*l.size+peer] <- bytes.Clone(src):
	case <-l.gone:
		return errAborted
	}
	select {
	case b := <-l.letters[peer*l.size+l.rank]:
		if len(b) != len(dst) {
			panic("dist: Exchange: what arrives is not as long as dst")
		}
		copy(dst, b)
		return nil
	case <-l.gone:
		return errAborted
	}
}

func (l *local) Split(color int) (Comm, error) {
	colors := make([]uint64, l.size)
	if err := l.AllGather(asBytes(colors), asBytes([]uint64{uint64(color)})); err != nil {
		return nil, err
	}
	first, rank, size := -1, 0, 0
	for r, c := range colors {
		if c != uint64(color) {
			continue
		}
		if first < 0 {
			first = r
		}
		if r < l.rank {
			rank++
		}
		size++
	}
	if rank == 0 {
		m := newMeeting(size)
		l.mu.Lock()
		l.parts[l.rank], l.all = m, append(l.all, m)
		l.mu.Unlock()
	}
	if err := l.wait(); err != nil {
		return nil, err
	}
	m := l.parts[first]
	return &local{m, rank}, l.wait()
}

// Abort ends what was split off too.
func (l *local) Abort(status int) {
	l.mu.Lock()
	if !l.aborted {
		l.aborted = true
		close(l.gone)
	}
	parts := l.all
	l.mu.Unlock()
	l.changed.Broadcast()
	for _, m := range parts {
		(&local{m, 0}).Abort(status)
	}
}

func (l *local) Close() error    { return l.wait() }
func (l *local) Exit(status int) { os.Exit(status) }
