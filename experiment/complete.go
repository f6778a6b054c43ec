package experiment

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/discrete"
	"pihc/internal/disk"
	"pihc/internal/words"
	"pihc/pde"
)

// templateSource reads the PDE file of a template, or one of the user's.
func templateSource(name string) ([]byte, error) {
	var names []string
	for _, t := range Templates {
		names = append(names, t[0])
	}
	if pde.IsPath(name) {
		src, err := disk.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) && slices.Contains([]string{".yaml", ".yml"}, path.Ext(name)) {
			err = words.WithHint(err, "templates go by their names: %s", strings.Join(names, ", "))
		}
		return src, err
	}
	if slices.Contains(names, name) {
		return templateFiles.ReadFile(path.Join("templates", name+".yaml"))
	}
	err := usagef("there is no template %q: there are %s", name, strings.Join(names, ", "))
	if _, stat := os.Stat(name); !errors.Is(stat, fs.ErrNotExist) {
		return nil, words.WithHint(err, "a PDE file is named by a path that ends in .yaml or .yml or has a slash")
	}
	return nil, err
}

// complete adds to a PDE file what a training with scores wants and the file
// leaves out, and says what, and what about the file may not be meant.
func (d *draft) complete(name string) error {
	p, err := pde.Load(name, d.src)
	if err == nil {
		err = p.CheckConditions()
	}
	if err != nil {
		return err
	}
	if err := drawable(name, p); err != nil {
		return err
	}
	verdict, err := examine(p)
	if err == nil {
		err = determined(verdict)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	g, err := p.Grid(nil)
	if err != nil {
		return err
	}
	notes, _, err := unresolved(p, g)
	if err != nil {
		return err
	}
	d.blame = cmp.Or(verdict.IllPosed, verdict.Torn)
	for _, note := range slices.Concat(verdict.Notes, notes) {
		d.added = append(d.added, "note: "+note)
	}
	add := func(text, comment, what string) bool {
		longer := appended(d.src, text, comment)
		q, err := pde.Load(name, longer)
		if err == nil {
			d.src, p = longer, q
			d.added = append(d.added, "added "+text+": "+what)
		}
		return err == nil
	}
	if slices.ContainsFunc(p.Unknowns, func(u pde.Unknown) bool { return !u.Ansatz.Trivial() }) {
		p, err = d.smoothAnsatz(p)
	} else {
		err = d.addAnsatz(p, add)
	}
	if err != nil {
		return err
	}
	if p.Reference.Solver == "" {
		finer := ""
		if p.Steady {
			if finer, err = coarserReference(p, g); err != nil {
				return err
			}
		}
		add("reference: {solver: "+pde.DiscreteSolver+finer+"}", "Added by pihc init: solutions to be scored against are those of these rows on a finer grid.",
			"solutions of these rows on a finer grid, to be scored against")
	}
	if solvable(p) { // better said before steps are timed
		if _, err := dataset.ReferenceSolver(p, g); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	d.p = p
	return nil
}

// drawable reports a problem without a distribution of its inputs.
func drawable(name string, p *pde.Problem) error {
	if p.Drawn() || p.Reference.File != "" {
		return nil
	}
	hint := "add initial: {distribution: random-sines, low: -1, high: 1}, or another of docs/reference/pde-files.md"
	if discrete.SeemsSteady(p) {
		hint = fmt.Sprintf("if %s is not time add time: none; otherwise %s", p.Axes[0].Name, hint)
	} else if len(p.Inputs) > p.Initials() {
		hint += fmt.Sprintf("; or where `inputs` alone are drawn a condition at the first %s, of kind initial, that says what solutions begin with, without %s", p.Axes[0].Name, p.Unknowns[0].InitialName())
	}
	return words.WithHint(fmt.Errorf("%s: no `initial`: training needs initial conditions", name), "%s", hint)
}

// determined is an error for a problem with faults.
func determined(x *Verdict) error {
	if len(x.Faults) == 0 {
		return nil
	}
	return words.WithHint(errors.New("the problem cannot be solved as it stands: "+words.ListBy("; ", x.Faults)), "see `conditions` and `ansatz` in docs/reference/pde-files.md; no training can make up for it")
}

// appended is a PDE file with another line, and a comment above it.
func appended(src []byte, text, comment string) []byte {
	between := "\n"
	if !bytes.HasSuffix(src, []byte("\n")) {
		between = "\n\n"
	}
	return slices.Concat(src, []byte(between+"# "+comment+"\n"+text+"\n"))
}

// coarserReference is what a file says of the grid of reference solutions of a problem without time: nothing, or where those of a
// sample cannot be had on the usual grid, that it is twice as fine as g, three times along axes of cells.
func coarserReference(p *pde.Problem, g *grid.Grid) (string, error) {
	samples, err := dataset.Draws(p, g, 1)
	if err != nil {
		return "", err
	}
	fine, _ := discrete.Refinements(p, g)
	solver, err := discrete.New(p, g, fine)
	if err == nil {
		_, err = solver.Solve(make([]float64, len(p.Unknowns)*g.Size()), samples[0])
	}
	if !errors.Is(err, discrete.ErrTooLarge) && !errors.Is(err, discrete.ErrNotConverged) {
		return "", nil // others are said later
	}
	var factors []string
	for _, a := range p.Axes {
		by := 2
		if a.Boundary == grid.Cells {
			by = 3
		}
		factors = append(factors, fmt.Sprintf("%s: %d", a.Name, by))
	}
	return ", refine: {" + strings.Join(factors, ", ") + "}", nil
}
