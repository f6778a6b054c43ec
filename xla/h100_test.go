package xla

import (
	_ "embed"
	"os"
	"strings"
	"testing"
	"time"

	"pihc/engine"
	"pihc/internal/pjrt"
	"pihc/internal/words"
	"pihc/model"
	"pihc/pde"
)

//go:embed testdata/h100.txtpb
var h100 string

// The steps of training of the paper's two problems are acceptable to the compiler for
// an H100, which need not be there: what it plans to use of its memory is logged.
func TestCompilesForH100(t *testing.T) {
	plugin := os.Getenv("PIHC_PJRT_CUDA")
	if plugin == "" {
		t.Skip("PIHC_PJRT_CUDA names no CUDA plugin (`make h100` fetches one and runs this)")
	}
	c, err := pjrt.OpenCompiler(plugin, pjrt.Option{Name: "target_config", Value: h100}, pjrt.Option{Name: "topology", Value: "1x1x1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name, matmul string
		overrides    []string
	}{
		{"diffusion-sorption-paper", "float32", nil},
		{"diffusion-sorption-paper, six samples", "float32", []string{"training.micro_batch=6"}},
		{"diffusion-sorption-paper", model.TF32, nil},
		{"diffusion-sorption-paper", model.BF16, nil},
		{"navier-stokes-paper", "float32", []string{"network.width=64", "network.layers=8", "network.basis=64", "network.projection=256"}},
	} {
		t.Run(x.name+"/"+x.matmul, func(t *testing.T) {
			name, _, _ := strings.Cut(x.name, ",")
			s, err := model.OpenSpec(name, append(x.overrides, "network.matmul="+x.matmul)...)
			if err != nil {
				t.Fatal(err)
			}
			s.Method = model.MoE
			p, err := pde.Open(s.Problem)
			if err != nil {
				t.Fatal(err)
			}
			e, err := prepare[float32](s, p, engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			compile := func(what, text string) {
				began := time.Now()
				program, err := c.Compile(text)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				defer program.Free()
				arguments, outputs, between, err := program.Memory()
				if err != nil {
					t.Fatal(err)
				}
				if arguments < int64(e.config.Size())*4 || between <= 0 {
					t.Errorf("%s: %d bytes of arguments, %d between", what, arguments, between)
				}
				t.Logf("%s: %d kernels; arguments %s, outputs %s, between %s; compiled in %s", what, countKernels(t),
					words.Size(float64(arguments)), words.Size(float64(outputs)), words.Size(float64(between)), time.Since(began).Round(time.Second))
			}
			w, err := e.write(loadedKey{constraint: e.Last, training: true})
			if err != nil {
				t.Fatal(err)
			}
			compile("gradient", w.text)
			if e.Earlier != e.Last {
				if w, err = e.write(loadedKey{constraint: e.Earlier, training: true}); err != nil {
					t.Fatal(err)
				}
				compile("gradient in a pass before the last", w.text)
			}
			compile("step of Adam", updateText(e.dtype, e.config.Size(), s.Training.Average > 0))
		})
	}
}
