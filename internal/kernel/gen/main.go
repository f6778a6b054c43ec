// Gen writes the kernels of package kernel that package simd cannot express, for each
// width of vectors, from one template.
package main

import (
	"bytes"
	"fmt"
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

// generate returns the files made from the template in dir, by name.
func generate(dir string) (map[string][]byte, error) {
	t, err := template.ParseFiles(filepath.Join(dir, "wide.go.tmpl"))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, bits := range []int{256, 512} {
		var text bytes.Buffer
		if err := t.Execute(&text, vectors{bits}); err != nil {
			return nil, err
		}
		if files[fmt.Sprintf("wide%d_amd64.go", bits)], err = format.Source(text.Bytes()); err != nil {
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
