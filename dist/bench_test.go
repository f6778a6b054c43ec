package dist

import (
	"cmp"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pihc/model"
	"pihc/pde"
)

// joined is the Comm of a process that a launcher started, with others, to run benchmarks.
var joined Comm = Alone{}

// joinBenchmarks joins the ranks of a launcher, which measure as often as each other. Rank 0
// alone prints.
func joinBenchmarks() (err error) {
	if joined, _, err = Join(cmp.Or(os.Getenv("PIHC_DIST_LIBRARY"), os.Getenv("PIHC_MPI")), os.Getenv); err != nil || joined.Size() == 1 {
		return err
	}
	if !strings.HasSuffix(flag.Lookup("test.benchtime").Value.String(), "x") {
		err = flag.Set("test.benchtime", "5x")
	}
	if err == nil && joined.Rank() > 0 {
		os.Stdout, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	return err
}

// leaveBenchmarks ends the process, with the others.
func leaveBenchmarks(status int) {
	if status != 0 || joined.Close() != nil {
		joined.Abort(1)
	}
	joined.Exit(status)
}

// BenchmarkExchange measures what ranks exchange of gradients in a step, in float32, between
// those of a launcher (docs/evidence/scaling.md has the command), or two in this process:
//
//	latency_us   one gather of 8 bytes a rank, in microseconds
//	bandwidth    bytes that a rank sends in a second, of long messages
//	bytes        that a rank sends in a step, by the formulas of docs/evidence/scaling.md
//	messages     likewise
//	exchange_s   of a step's gradients, as long as no rank waits for a sample
//	predicted_s  by latency and bandwidth
func BenchmarkExchange(b *testing.B) {
	for _, name := range []string{"diffusion-sorption-demo", "diffusion-sorption-paper", "navier-stokes-demo", "navier-stokes-paper"} {
		b.Run(name, func(b *testing.B) {
			spec, err := model.OpenSpec(name, "method=moe")
			if err != nil {
				b.Fatal(err)
			}
			p, err := pde.Open(spec.Problem)
			if err != nil {
				b.Fatal(err)
			}
			if err := spec.Fit(p); err != nil {
				b.Fatal(err)
			}
			net, err := spec.NewNetwork(p)
			if err != nil {
				b.Fatal(err)
			}
			ranks := []Comm{joined}
			if joined.Size() == 1 {
				ranks = Local(2)
			}
			var wait sync.WaitGroup
			errs := make([]error, len(ranks))
			for i, c := range ranks[1:] {
				wait.Go(func() { _, errs[1+i] = measureExchange(c, net.Layout().Size(), spec.Training.Batch, b.N) })
			}
			times, err := measureExchange(ranks[0], net.Layout().Size(), spec.Training.Batch, b.N)
			wait.Wait()
			if err := errors.Join(append(errs, err)...); err != nil {
				b.Fatal(err)
			}
			size := ranks[0].Size()
			rounds := (spec.Training.Batch + size - 1) / size
			sent := 4 * float64((net.Layout().Size()+size-1)/size*(size-1)) // of one exchange
			b.ReportMetric(float64(size), "ranks")
			b.ReportMetric(float64(spec.Training.Batch), "batch")
			b.ReportMetric(float64(net.Layout().Size()), "parameters")
			b.ReportMetric(1e6*times.latency, "latency_us")
			b.ReportMetric(sent/times.long, "bandwidth")
			b.ReportMetric(float64(rounds+1)*sent, "bytes")
			b.ReportMetric(float64((rounds+1)*(size-1)), "messages")
			b.ReportMetric(times.exchange, "exchange_s")
			b.ReportMetric(float64(rounds+1)*(times.latency+times.long), "predicted_s")
		})
	}
}

// exchangeTimes are seconds: of a gather of 8 bytes a rank, of an exchange of n numbers, and of
// all exchanges of a step.
type exchangeTimes struct{ latency, long, exchange float64 }

// measureExchange returns the medians of so many repetitions after a first one.
func measureExchange(comm Comm, n, batch, repeat int) (times exchangeTimes, err error) {
	median := func(f func() error) float64 {
		var seconds []float64
		for range 1 + repeat {
			begin := time.Now()
			if err == nil {
				err = f()
			}
			seconds = append(seconds, time.Since(begin).Seconds())
		}
		seconds = seconds[1:]
		slices.Sort(seconds)
		return (seconds[(repeat-1)/2] + seconds[repeat/2]) / 2
	}
	size := comm.Size()
	few, all := make([]byte, 8), make([]byte, 8*size)
	const calls = 100 // of a gather, since one is too short to be timed
	times.latency = median(func() error {
		for range calls {
			if err := comm.AllGather(all, few); err != nil {
				return err
			}
		}
		return nil
	}) / calls
	slice := (n + size - 1) / size
	src, dst := make([]float32, slice*size), make([]float32, slice*size)
	times.long = median(func() error { return comm.AllToAll(asBytes(dst), asBytes(src)) })
	sum, grad := newSum[float32](comm, n), make([]float32, n)
	times.exchange = median(func() error {
		sum.Begin(grad)
		for lo := 0; lo < batch; lo += size {
			if err := sum.Round(grad, min(size, batch-lo)); err != nil {
				return err
			}
		}
		return sum.Finish(grad)
	})
	return times, err
}
