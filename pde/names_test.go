package pde_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pihc/pde"
)

// A problem is data: no Go code outside the tests decides anything by the name
// of a built-in one. (sim's registry has names of solvers, which PDE files refer
// to; enginetest and stress are code of tests.)
func TestNoProblemNamesInCode(t *testing.T) {
	names := pde.Builtins()
	checked := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); base == "testdata" || base == "sim" || base == "enginetest" || base == "stress" || base != ".." && strings.HasPrefix(base, ".") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		checked++
		for _, place := range namesIn(f, names) {
			t.Errorf("%s: a built-in problem's name in code", files.Position(place))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 50 {
		t.Errorf("only %d files checked", checked)
	}
	// The finder must be able to find.
	for _, code := range []string{
		`func f(s string) bool { return s == "diffusion-sorption" }`,
		`func f(s string) { switch s { case "diffusion-sorption": } }`,
		`var m = map[string]int{"diffusion-sorption": 1}`,
		`func f(s string) bool { return strings.HasPrefix(s, "diffusion-sorption-p") }`,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+code, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(namesIn(f, names)) != 1 {
			t.Errorf("not found in %s", code)
		}
	}
}

// namesIn returns where one of the names is a whole string, or part of a string
// handed to package strings.
func namesIn(f *ast.File, names []string) (places []token.Pos) {
	within := map[ast.Node]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == "strings" {
					for _, a := range call.Args {
						within[a] = true
					}
				}
			}
		}
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			return true
		}
		for _, name := range names {
			if text == name || within[n] && strings.Contains(text, name) {
				places = append(places, lit.Pos())
				break
			}
		}
		return true
	})
	return places
}
