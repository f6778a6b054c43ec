package dist

import (
	"sync"
	"testing"

	"pihc/constraint"
	"pihc/engine"
	"pihc/model"
	"pihc/pde"
)

// counting counts what a rank sends where each block goes to its rank by itself.
type counting struct {
	Comm
	bytes, messages int
}

func (c *counting) AllGather(dst, src []byte) error {
	c.bytes += len(src) * (c.Size() - 1)
	c.messages += c.Size() - 1
	return c.Comm.AllGather(dst, src)
}

func (c *counting) AllToAll(dst, src []byte) error {
	c.bytes += len(src) / c.Size() * (c.Size() - 1)
	c.messages += c.Size() - 1
	return c.Comm.AllToAll(dst, src)
}

// TestStepTraffic: a gradient costs the bytes and messages of docs/evidence/scaling.md.
func TestStepTraffic(t *testing.T) {
	spec, err := model.OpenSpec("diffusion-sorption-demo", "method=soft", "grid={t: 9, x: 16}",
		"network={width: 4, layers: 1, modes: {t: 2, x: 2}, projection: 4}", "training.batch=5", "training.micro_batch=1", "data.test.grids=[]")
	if err != nil {
		t.Fatal(err)
	}
	p, err := pde.Open(spec.Problem)
	if err != nil {
		t.Fatal(err)
	}
	batch := engine.Batch{}
	for i := range spec.Training.Batch {
		u0 := make([]float64, 16)
		for j := range u0 {
			u0[j] = 0.1
		}
		batch.Inputs, batch.Seeds = append(batch.Inputs, u0), append(batch.Seeds, constraint.Seed{Sample: uint64(i)})
	}
	for _, size := range []int{2, 3, 4} {
		var wait sync.WaitGroup
		for _, c := range Local(size) {
			wait.Go(func() {
				count := &counting{Comm: c}
				e, err := NewEngine[float32](spec, p, engine.Options{Workers: 1}, count, 1)
				if err != nil {
					t.Error(err)
					return
				}
				defer e.Close()
				info := e.Info()
				n := info.Parameters()
				if _, err := e.LossAndGrad(make([]float32, n), engine.InitialParams[float32](info), batch); err != nil {
					t.Error(err)
				}
				rounds, slice := (spec.Training.Batch+size-1)/size, (n+size-1)/size
				bytes := ((rounds+1)*4*slice + rounds*8*(5+len(info.Rows))) * (size - 1)
				messages := (2*rounds + 1) * (size - 1)
				if count.bytes != bytes || count.messages != messages {
					t.Errorf("%d ranks: %d bytes in %d messages, by formula %d in %d", size, count.bytes, count.messages, bytes, messages)
				}
			})
		}
		wait.Wait()
	}
}
