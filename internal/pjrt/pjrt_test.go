package pjrt

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// client starts the plugin that PIHC_PJRT names.
func client(t *testing.T) *Client {
	t.Helper()
	path := os.Getenv("PIHC_PJRT")
	if path == "" {
		t.Skip("PIHC_PJRT names no plugin (`make plugin` fetches one for the CPU)")
	}
	c, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const addTwice = `
module {
  func.func public @main(%x: tensor<2x3xf64>, %y: tensor<3xf64>) -> (tensor<2x3xf64>, tensor<i32>) {
    %n = stablehlo.constant dense<7> : tensor<i32>
    %b = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<3xf64>) -> tensor<2x3xf64>
    %s = stablehlo.add %x, %b : tensor<2x3xf64>
    return %s, %n : tensor<2x3xf64>, tensor<i32>
  }
}`

func TestRun(t *testing.T) {
	c := client(t)
	if i := c.Info(); i.Platform == "" || len(i.Devices) == 0 || len(i.SHA256) != 64 || i.Minor < leastMinor {
		t.Errorf("%+v", i)
	}
	p, err := c.Compile(addTwice)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Free()
	if in, out, _, err := p.Memory(); err != nil || in < 9*8 || out < 6*8+4 {
		t.Errorf("%d bytes of arguments, %d of outputs, %v", in, out, err)
	}
	for i := range 20 {
		x, err := Upload(c, []float64{1, 2, 3, 4, 5, float64(i)}, 2, 3)
		if err != nil {
			t.Fatal(err)
		}
		y, err := Upload(c, []float64{10, 20, 30}, 3)
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		out, err := p.Run(x, y)
		if err != nil {
			t.Fatal(err)
		}
		sum, n := make([]float64, 6), make([]int32, 1)
		if err := Download(out[0], sum); err != nil {
			t.Fatal(err)
		}
		if err := Download(out[1], n); err != nil {
			t.Fatal(err)
		}
		if n[0] != 7 || sum[0] != 11 || sum[5] != 30+float64(i) {
			t.Fatal(sum, n)
		}
		for _, b := range append(out, x, y) {
			b.Free()
		}
	}
}

func TestErrors(t *testing.T) {
	if _, err := Open("no/such/plugin.so"); err == nil || !strings.Contains(err.Error(), "no/such/plugin.so") {
		t.Error(err)
	}
	text := filepath.Join(t.TempDir(), "plugin.so")
	if err := os.WriteFile(text, []byte("no library"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(text); err == nil || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
	c := client(t)
	if _, err := c.Compile("module { func.func }"); err == nil || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
	p, err := c.Compile(addTwice)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Free()
	x, err := Upload(c, []float64{1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Free()
	if _, err := p.Run(x, x); err == nil {
		t.Error("a program runs with arguments of another shape")
	}
}
