// Gen writes kernels of package kernel from templates: those that package simd cannot
// express, for each width of vectors, and the micro-kernels of Gemm, for both precisions
// and, where that is faster, for each width.
package main

import (
	"bytes"
	"go/format"
	"log"
	"os"
	"path/filepath"
	"text/template"
)

// vectors is what the template sees of a width.
type vectors struct{ Bits int }

// Lanes returns the number of float64 in a vector.
func (v vectors) Lanes() int { return v.Bits / 64 }

// Mul returns the product of the factors and the number of lanes.
func (v vectors) Mul(factors ...int) int {
	product := v.Lanes()
	for _, f := range factors {
		product *= f
	}
	return product
}

// Eight returns the numbers 0 to 7.
func (vectors) Eight() []int { return []int{0, 1, 2, 3, 4, 5, 6, 7} }

// First returns the numbers 0 to n-1.
func (v vectors) First(n int) []int { return v.Eight()[:n] }

// Few are the vectors of a row that have a kernel of their own, Groups those that are done at once.
func (vectors) Few() []int    { return []int{2, 3} }
func (vectors) Groups() []int { return []int{8, 3, 2, 1} }

// Parts numbers the vectors of sixteen elements.
func (v vectors) Parts() []int { return v.Eight()[:16/v.Lanes()] }

// tile is what gemm.go.tmpl sees of a type of vectors: the numbers that kindOf has for
// it, and what to call it.
type tile struct{ Kinds, Suffix, Scalar, Type, Broadcast string }

// shape is a micro-kernel's number of rows and vectors.
type shape struct{ Rows, Columns int }

// Row and Column list the rows and the vectors, Unroll the steps a loop does at once.
func (s shape) Row() []int    { return vectors{}.Eight()[:s.Rows] }
func (s shape) Column() []int { return vectors{}.Eight()[:s.Columns] }
func (shape) Unroll() []int   { return vectors{}.Eight()[:4] }

// BFirst tells which factor a multiply-add overwrites: that with fewer uses.
func (s shape) BFirst() bool { return s.Rows < s.Columns }

// tiles is a file of gemm.go.tmpl.
type tiles struct {
	Build, Import, Function string
	Tiles                   []tile
	Shapes                  []shape
}

// generate returns the files made from the templates in dir, by name.
func generate(dir string) (map[string][]byte, error) {
	shapes := []shape{{2, 4}, {4, 2}, {6, 1}}
	data := map[string]any{
		"wide256_amd64.go": vectors{256},
		"wide512_amd64.go": vectors{512},
		"gemm_simd.go": tiles{"(amd64 || arm64)", "simd", "tileSIMD", []tile{
			{"128, 256, 512", "f32", "float32", "simd.Float32s", "simd.BroadcastFloat32s"},
			{"129, 257, 513", "f64", "float64", "simd.Float64s", "simd.BroadcastFloat64s"},
		}, shapes},
		"gemm_amd64.go": tiles{"amd64", "simd/archsimd", "tile", []tile{
			{"256", "f32x8", "float32", "archsimd.Float32x8", "archsimd.BroadcastFloat32x8"},
			{"512", "f32x16", "float32", "archsimd.Float32x16", "archsimd.BroadcastFloat32x16"},
		}, shapes},
	}
	t, err := template.ParseFiles(filepath.Join(dir, "wide.go.tmpl"), filepath.Join(dir, "gemm.go.tmpl"))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for name, d := range data {
		var text bytes.Buffer
		if err := t.ExecuteTemplate(&text, name[:4]+".go.tmpl", d); err != nil {
			return nil, err
		}
		if files[name], err = format.Source(text.Bytes()); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func main() {
	files, err := generate(".")
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(name, text, 0o644)
		}
	}
	if err != nil {
		log.Fatal(err)
	}
}
