package pde

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The files printed in the documents are problems, and the one said to be the
// built-in is.
func TestDocumentedFiles(t *testing.T) {
	text, err := os.ReadFile("../docs/reference/pde-files.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*Problem{}
	for _, block := range strings.Split(string(text), "```yaml\n")[1:] {
		src, _, _ := strings.Cut(block, "```")
		if !strings.HasPrefix(src, "name: ") {
			continue
		}
		p, err := Load("docs/reference/pde-files.md", []byte(src))
		if err != nil {
			t.Error(err)
			continue
		}
		found[p.Name] = p
	}
	if found["burgers"] == nil {
		t.Error("docs/reference/pde-files.md has no file burgers")
	}
	builtin, err := Open("diffusion-sorption")
	if err != nil {
		t.Fatal(err)
	}
	if p := found["diffusion-sorption"]; p == nil || !slices.Equal(p.Describe(), builtin.Describe()) {
		t.Errorf("docs/reference/pde-files.md prints another diffusion-sorption than the built-in one:\n%s", strings.Join(builtin.Describe(), "\n"))
	}
	for _, line := range []string{"expression R = 1 + (1 - phi)/phi*rho_s*k*n_f*(u_bounded + 1e-6)^(n_f - 1)", "constant   D = 0.0005"} {
		if !slices.Contains(builtin.Describe(), line) {
			t.Errorf("the description of diffusion-sorption has no line %q", line)
		}
	}
	if !strings.Contains(strings.Join(builtin.Describe(), "\n"), "residual   residual: u_t - D/R*u_xx = 0 at ") {
		t.Error("the description of diffusion-sorption has no residual in the names of its file")
	}
}
