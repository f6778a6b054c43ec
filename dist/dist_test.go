package dist

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestMain is also the program of a rank that TestMPI starts under a launcher, and joins ranks
// that run benchmarks.
func TestMain(m *testing.M) {
	if os.Getenv("PIHC_DIST_RANK") == "" {
		if flag.Parse(); flag.Lookup("test.bench").Value.String() != "" {
			if err := joinBenchmarks(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		leaveBenchmarks(m.Run())
	}
	comm, launch, err := Join(os.Getenv("PIHC_DIST_LIBRARY"), os.Getenv)
	if err == nil {
		err = conform(comm)
	}
	if err == nil && os.Getenv("PIHC_DIST_RANK") == "abort" {
		if comm.Rank() == 1 {
			comm.Abort(3)
		}
		err = meet(comm)
	}
	if err == nil {
		if launch != nil && launch.Library != "" {
			fmt.Printf("rank %d of %d: %s\n", comm.Rank(), comm.Size(), launch.Version)
		}
		err = comm.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	comm.Exit(0)
}

// conform checks every operation of a Comm against what its documentation says.
func conform(c Comm) error {
	rank, size := c.Rank(), c.Size()
	for _, n := range []int{0, 1, 7, 100_000} {
		own := bytes.Repeat([]byte{byte(rank + 1)}, n)
		for root := range size {
			b := bytes.Clone(own)
			if err := c.Broadcast(b, root); err != nil {
				return err
			}
			if !bytes.Equal(b, bytes.Repeat([]byte{byte(root + 1)}, n)) {
				return fmt.Errorf("Broadcast of %d bytes from %d: wrong at rank %d", n, root, rank)
			}
		}
		all := make([]byte, n*size)
		if err := c.AllGather(all, own); err != nil {
			return err
		}
		for r := range size {
			if !bytes.Equal(all[r*n:(r+1)*n], bytes.Repeat([]byte{byte(r + 1)}, n)) {
				return fmt.Errorf("AllGather of %d bytes: block %d wrong at rank %d", n, r, rank)
			}
		}
		sent := make([]byte, n*size)
		for r := range size {
			copy(sent[r*n:], bytes.Repeat([]byte{byte(16*rank + r)}, n))
		}
		if err := c.AllToAll(all, sent); err != nil {
			return err
		}
		for r := range size {
			if !bytes.Equal(all[r*n:(r+1)*n], bytes.Repeat([]byte{byte(16*r + rank)}, n)) {
				return fmt.Errorf("AllToAll of %d bytes: block %d wrong at rank %d", n, r, rank)
			}
		}
	}
	if err := exchange(c); err != nil {
		return err
	}
	if err := split(c); err != nil {
		return err
	}
	return sums(c)
}

// exchange swaps bytes of different lengths between pairs of neighbours.
func exchange(c Comm) error {
	rank := c.Rank()
	peer := rank ^ 1
	if peer >= c.Size() {
		return nil
	}
	for _, n := range []int{0, 1, 100_000} {
		got := make([]byte, n+5*peer)
		if err := c.Exchange(peer, got, bytes.Repeat([]byte{byte(rank + 1)}, n+5*rank)); err != nil {
			return err
		}
		if !bytes.Equal(got, bytes.Repeat([]byte{byte(peer + 1)}, n+5*peer)) {
			return fmt.Errorf("Exchange of %d bytes with rank %d: wrong at rank %d", n, peer, rank)
		}
	}
	return nil
}

// split makes groups of every other rank, and checks that they are apart, twice.
func split(c Comm) error {
	for range 2 {
		color := c.Rank() % 2
		part, err := c.Split(color)
		if err != nil {
			return err
		}
		all := make([]byte, part.Size())
		if err := part.AllGather(all, []byte{byte(c.Rank())}); err != nil {
			return err
		}
		if part.Size() != (c.Size()-color+1)/2 || part.Rank() != c.Rank()/2 {
			return fmt.Errorf("Split: rank %d of %d is rank %d of %d of its part", c.Rank(), c.Size(), part.Rank(), part.Size())
		}
		for r, from := range all {
			if int(from) != 2*r+color {
				return fmt.Errorf("Split: rank %d of the part of rank %d is rank %d", r, c.Rank(), from)
			}
		}
		if part.Size() > 1 {
			if err := exchange(part); err != nil {
				return err
			}
		}
	}
	return nil
}

// sums adds seven vectors whose sum depends on the order, and requires the one
// of their own order.
func sums(c Comm) error {
	const samples, n = 7, 1001
	vectors, want := make([][]float32, samples), make([]float32, n)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range vectors {
		vectors[i] = make([]float32, n)
		for j := range vectors[i] {
			vectors[i][j] = float32(rng.NormFloat64()) * float32(uint64(1)<<rng.IntN(30))
			want[j] += vectors[i][j]
		}
	}
	s, got := newSum[float32](c, n), make([]float32, n)
	for range 2 {
		clear(got)
		s.Begin(got)
		for lo := 0; lo < samples; lo += c.Size() {
			count := min(c.Size(), samples-lo)
			if err := s.Round(vectors[min(lo+c.Rank(), samples-1)], count); err != nil {
				return err
			}
		}
		if err := s.Finish(got); err != nil {
			return err
		}
		if !bytes.Equal(asBytes(got), asBytes(want)) {
			return fmt.Errorf("the sum of %d vectors on %d ranks differs from one rank's", samples, c.Size())
		}
	}
	return nil
}

func TestLocal(t *testing.T) {
	for size := 1; size <= 4; size++ {
		var wait sync.WaitGroup
		for _, c := range Local(size) {
			wait.Go(func() {
				if err := conform(c); err != nil {
					t.Error(err)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
	}
	if err := conform(Alone{}); err != nil {
		t.Error(err)
	}
}

// meet returns when all ranks have called it.
func meet(c Comm) error { return c.AllGather(make([]byte, c.Size()), make([]byte, 1)) }

func TestLocalAbort(t *testing.T) {
	ranks := Local(3)
	errs := make(chan error, 2)
	for _, c := range ranks[:2] {
		go func() { errs <- meet(c) }()
	}
	ranks[2].Abort(1)
	for range 2 {
		if err := <-errs; !errors.Is(err, errAborted) {
			t.Errorf("after Abort: %v, want %v", err, errAborted)
		}
	}
	if err := meet(ranks[2]); !errors.Is(err, errAborted) {
		t.Errorf("at the rank that aborted: %v", err)
	}
}

// Launchers are told by what they set for a process, not by what a batch script
// has.
func TestDetect(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	for _, c := range []struct {
		env        func(string) string
		launcher   string
		rank, size int
		fails      string
	}{
		{env: env()},
		{env: env("SLURM_JOB_ID", "7", "SLURM_NTASKS", "8", "SLURM_PROCID", "0")}, // a batch script
		{env: env("SLURM_STEP_NUM_TASKS", "8", "SLURM_PROCID", "3"), launcher: "srun", rank: 3, size: 8},
		{env: env("OMPI_COMM_WORLD_RANK", "1", "OMPI_COMM_WORLD_SIZE", "4"), launcher: "mpirun (Open MPI)", rank: 1, size: 4},
		{env: env("PMI_RANK", "0", "PMI_SIZE", "2"), launcher: "mpiexec (PMI)", size: 2},
		{env: env("PMI_RANK", "2", "PMI_SIZE", "2"), fails: "name no rank"},
		{env: env("PMI_RANK", "x", "PMI_SIZE", "2"), fails: "PMI_RANK=x, set by mpiexec (PMI), is not a number"},
	} {
		l, err := Detect(c.env)
		switch {
		case c.fails != "":
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("error %v, want %q", err, c.fails)
			}
		case err != nil:
			t.Error(err)
		case c.launcher == "":
			if l != nil {
				t.Errorf("a launcher without a step: %+v", l)
			}
		case l == nil || l.Launcher != c.launcher || l.Rank != c.rank || l.Size != c.size:
			t.Errorf("got %+v, want %+v", l, c)
		}
	}
}

// A launcher without a library, or with one that is none, is an error; "off" and
// a single rank are alone.
func TestJoin(t *testing.T) {
	launched := func(size string) func(string) string {
		return func(name string) string {
			switch name {
			case "PMI_SIZE":
				return size
			case "PMI_RANK":
				return "0"
			}
			return ""
		}
	}
	for _, path := range []string{"/nowhere/libmpi.so", os.Args[0]} {
		_, _, err := Join(path, launched("2"))
		if err == nil || !strings.Contains(err.Error(), "mpiexec (PMI) started 2 ranks, but they cannot be joined") {
			t.Errorf("Join(%s): %v", path, err)
		}
	}
	if c, _, err := Join("/nowhere/libmpi.so", launched("1")); err != nil || c.Size() != 1 {
		t.Errorf("a launcher of one rank: %v", err)
	}
	if c, _, err := Join(off, launched("2")); err != nil || c.Size() != 1 {
		t.Errorf("off: %v", err)
	}
}

// TestMPI runs the suite under the launchers of this machine: Debian's
// openmpi-bin and mpich, and a folder of MPICH that PIHC_MPICH names.
func TestMPI(t *testing.T) {
	found, mpich := 0, os.Getenv("PIHC_MPICH")
	for _, l := range []struct {
		path  string
		flags []string
		sizes []int
		env   []string
	}{
		{"mpirun.openmpi", []string{"--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"}, []int{1, 2, 3, 4}, []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}},
		{"mpiexec.mpich", nil, []int{2}, nil},
		{mpich + "/bin/mpiexec", nil, []int{2, 3}, []string{"PIHC_DIST_LIBRARY=" + mpich + "/lib/libmpi.so.12"}},
		{mpich + "/bin/mpiexec", nil, []int{2}, []string{"PIHC_DIST_LIBRARY=" + mpich + "/lib/libmpi_abi.so.1"}},
	} {
		path, err := exec.LookPath(l.path)
		if err != nil || l.path == "/bin/mpiexec" { // PIHC_MPICH is not set
			t.Logf("%s is not here: not run", l.path)
			continue
		}
		found++
		for _, size := range l.sizes {
			out, err := launch(t, path, l.flags, l.env, size, "suite")
			if err != nil {
				t.Fatalf("%s, %d ranks: %v\n%s", l.path, size, err, out)
			}
			if size == 1 {
				continue // alone, without a library
			}
			for r := range size {
				if !strings.Contains(out, fmt.Sprintf("rank %d of %d: ", r, size)) {
					t.Errorf("%s: rank %d of %d said nothing:\n%s", l.path, r, size, out)
				}
			}
		}
		out, err := launch(t, path, l.flags, l.env, 2, "", "-test.run=^$", "-test.bench=Exchange/diffusion-sorption-demo", "-test.benchtime=1x")
		if err != nil || strings.Count(out, " 2.000 ranks") != 1 {
			t.Errorf("%s: benchmarks: %v\n%s", l.path, err, out)
		}
		begin := time.Now()
		if out, err := launch(t, path, l.flags, l.env, 2, "abort"); err == nil {
			t.Errorf("%s: a rank ended all, and the launcher succeeded:\n%s", l.path, out)
		}
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("%s: it took %v to end after a rank had ended all", l.path, took)
		}
	}
	if found == 0 {
		t.Log("no launcher of MPI on this machine: the MPI transport was not tested")
	}
}

func launch(t *testing.T, path string, flags, env []string, size int, what string, more ...string) (string, error) {
	args := append(append([]string{}, flags...), "-np", fmt.Sprint(size), os.Args[0])
	args = append(args, more...)
	command := exec.CommandContext(t.Context(), path, args...)
	command.Env = append(append(os.Environ(), env...), "PIHC_DIST_RANK="+what)
	out, err := command.CombinedOutput()
	return string(out), err
}
