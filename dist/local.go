package dist

import "sync"

// Local returns the ranks of a computation inside this process; each belongs to
// a goroutine of its own.
func Local(size int) []Comm {
	m := &meeting{size: size, send: make([][]byte, size)}
	m.changed.L = &m.mu
	ranks := make([]Comm, size)
	for i := range ranks {
		ranks[i] = &local{m, i}
	}
	return ranks
}

// meeting is where local ranks wait for each other.
type meeting struct {
	mu      sync.Mutex
	changed sync.Cond
	size    int
	here    int
	round   int
	aborted bool
	send    [][]byte // per rank: what it offers in this operation
}

// wait returns when all ranks have called it.
func (m *meeting) wait() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.aborted {
		return ErrAborted
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
		return ErrAborted
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

func (l *local) Abort(int) {
	l.mu.Lock()
	l.aborted = true
	l.mu.Unlock()
	l.changed.Broadcast()
}

func (l *local) Close() error { return l.wait() }
