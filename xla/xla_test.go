package xla

import (
	"os"
	"testing"

	"pihc/internal/pjrt"
)

// client starts the plugin that PIHC_PJRT names.
func client(t testing.TB) *pjrt.Client {
	t.Helper()
	path := os.Getenv("PIHC_PJRT")
	if path == "" {
		t.Skip("PIHC_PJRT names no plugin (`make plugin` fetches one for the CPU)")
	}
	c, err := pjrt.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// compute builds a program by f, of float64 arrays, runs it and returns the outputs.
func computed(t testing.TB, arguments [][]float64, shapes [][]int, f func(b *builder, in []value) []value) [][]float64 {
	t.Helper()
	c, b := client(t), newBuilder()
	var in []value
	var buffers []*pjrt.Buffer
	for i, a := range arguments {
		in = append(in, b.input(f64, shapes[i]...))
		d, err := pjrt.Upload(c, a, shapes[i]...)
		if err != nil {
			t.Fatal(err)
		}
		buffers = append(buffers, d)
	}
	outputs := f(b, in)
	p, err := c.Compile(b.module(outputs...))
	if err != nil {
		t.Fatalf("%v\n%s", err, b.module(outputs...))
	}
	defer p.Free()
	tables, err := b.upload(c)
	if err != nil {
		t.Fatal(err)
	}
	buffers = append(buffers, tables...)
	results, err := p.Run(buffers...)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]float64
	for i, r := range results {
		v := make([]float64, outputs[i].size())
		if err := pjrt.Download(r, v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
		r.Free()
	}
	for _, d := range buffers {
		d.Free()
	}
	return out
}
