package pihc

import (
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// exportData returns the file of compiled types of every package of the module and of what those import.
func exportData(t *testing.T) map[string]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", "./...").Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %s", exit.Stderr)
		}
		t.Fatal(err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		files[path] = file
	}
	return files
}

// internalPath reports whether only this module can import a package.
func internalPath(path string) bool { return strings.HasPrefix(path, "pihc/internal/") }

// A reader looks for internal types in what a user of a package can name or reach.
type reader struct {
	seen  map[types.Type]bool
	found map[string]bool
}

// look goes through a type as far as exported names show it: the fields and methods of a named type of the
// module are looked at where that is declared.
func (r *reader) look(t types.Type, where string) {
	switch t := t.(type) {
	case *types.Alias:
		r.name(t.Obj(), where)
		r.look(t.Rhs(), where)
	case *types.Named:
		r.name(t.Obj(), where)
		for i := range t.TypeArgs().Len() {
			r.look(t.TypeArgs().At(i), where)
		}
		if o := t.Obj(); o.Pkg() != nil && !o.Exported() && !r.seen[t] { // its exported names can be reached nevertheless
			r.seen[t] = true
			r.declared(t, where+" ("+o.Name()+")")
		}
	case *types.Pointer:
		r.look(t.Elem(), where)
	case *types.Slice:
		r.look(t.Elem(), where)
	case *types.Array:
		r.look(t.Elem(), where)
	case *types.Chan:
		r.look(t.Elem(), where)
	case *types.Map:
		r.look(t.Key(), where)
		r.look(t.Elem(), where)
	case *types.Signature:
		r.parameters(t.TypeParams(), where)
		for _, list := range []*types.Tuple{t.Params(), t.Results()} {
			for i := range list.Len() {
				r.look(list.At(i).Type(), where)
			}
		}
	case *types.Struct:
		for i := range t.NumFields() {
			if f := t.Field(i); f.Exported() || f.Embedded() {
				r.look(f.Type(), where+"."+f.Name())
			}
		}
	case *types.Interface:
		for i := range t.NumExplicitMethods() {
			if m := t.ExplicitMethod(i); m.Exported() {
				r.look(m.Type(), where+"."+m.Name())
			}
		}
		for i := range t.NumEmbeddeds() {
			r.look(t.EmbeddedType(i), where)
		}
	case *types.Union:
		for i := range t.Len() {
			r.look(t.Term(i).Type(), where)
		}
	}
}

// name notes a type of an internal package.
func (r *reader) name(o *types.TypeName, where string) {
	if o.Pkg() != nil && internalPath(o.Pkg().Path()) {
		r.found[where+" shows "+o.Pkg().Path()+"."+o.Name()] = true
	}
}

func (r *reader) parameters(list *types.TypeParamList, where string) {
	for i := range list.Len() {
		r.look(list.At(i).Constraint(), where)
	}
}

// declared looks at a named type's parameters, what it is made of, and its exported methods.
func (r *reader) declared(t *types.Named, where string) {
	r.parameters(t.TypeParams(), where)
	r.look(t.Underlying(), where)
	for i := range t.NumMethods() {
		if m := t.Method(i); m.Exported() {
			r.look(m.Type(), where+"."+m.Name())
		}
	}
}

// shown returns what a package's exported names show of internal packages.
func shown(p *types.Package) []string {
	r := &reader{map[types.Type]bool{}, map[string]bool{}}
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		where := p.Path() + "." + name
		if t, ok := o.Type().(*types.Named); ok && t.Obj() == o {
			r.declared(t, where)
		} else {
			r.look(o.Type(), where)
		}
	}
	return slices.Sorted(maps.Keys(r.found))
}

// An exported name that shows a type of an internal package is of no use outside the module: nobody can write that
// type down, or implement an interface with it.
func TestExportedTypesArePublic(t *testing.T) {
	files := exportData(t)
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	looked := 0
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasPrefix(path, "pihc/") || internalPath(path) || strings.HasPrefix(path, "pihc/cmd/") || strings.HasPrefix(path, "pihc/tools/") {
			continue
		}
		p, err := from.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		looked++
		for _, s := range shown(p) {
			t.Error(s)
		}
	}
	if looked < 15 {
		t.Errorf("only %d packages found: the test looks at the wrong folder", looked)
	}
}

// fake type-checks the text of a package that sees the given ones.
func fake(t *testing.T, path, text string, others ...*types.Package) *types.Package {
	t.Helper()
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "a.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&types.Config{Importer: importing(others)}).Check(path, files, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type importing []*types.Package

func (all importing) Import(path string) (*types.Package, error) {
	return all[slices.IndexFunc(all, func(p *types.Package) bool { return p.Path() == path })], nil
}

// The checker itself must be able to fail.
func TestExportedTypesArePublicFinds(t *testing.T) {
	hidden := fake(t, "pihc/internal/x", "package x\ntype T struct{ N int }\nfunc Make() T { return T{} }")
	for _, text := range []string{
		"func F(x.T) {}", "func F() []*x.T { return nil }", "func F[P interface{ ~[]x.T }](P) {}", "var V = x.Make()", "type S struct{ F map[string]x.T }",
		"type S struct{ x.T }", "type I interface{ M(func(x.T)) }", "type S int\nfunc (*S) M() (_ chan x.T) { return }", "type A = x.T",
		"type s struct{ F x.T }\nfunc F() s { return s{} }", "type s struct{ F x.T }\ntype S struct{ s }", "type G[P any] struct{ F P }\nvar V G[x.T]",
	} {
		if p := fake(t, "pihc/a", "package a\nimport \"pihc/internal/x\"\n"+text, hidden); len(shown(p)) == 0 {
			t.Errorf("%q passes", text)
		}
	}
	for _, text := range []string{
		"func F() int { return x.Make().N }", "func f(x.T) {}", "type S struct{ f x.T }", "type S int\nfunc (S) m(x.T) {}", "type I interface{ m(x.T) }", "type s struct{ F x.T }\ntype S struct{ f s }",
	} {
		if all := shown(fake(t, "pihc/a", "package a\nimport \"pihc/internal/x\"\n"+text, hidden)); len(all) > 0 {
			t.Errorf("%q: %q", text, all)
		}
	}
}
