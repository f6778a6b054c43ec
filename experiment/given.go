package experiment

import (
	"fmt"
	"path/filepath"

	"pihc/internal/config"
	"pihc/internal/dataset"
	"pihc/internal/words"
	"pihc/pde"
)

// givenSizes are what init chooses for solutions of a file.
type givenSizes struct {
	points                   map[string]int // by axis
	train, validation, tests int
	use                      string // what they are
}

// readGivenSizes divides the solutions of a problem's file, nil for a problem without one: a third
// for validation and the rest for test, or, where solutions are trained with, a third of all for both, and
// at most as many as init has computed.
func readGivenSizes(p *pde.Problem) (*givenSizes, error) {
	if p.Reference.File == "" {
		return nil, nil
	}
	f, err := dataset.ReadFileSizes(p)
	if err != nil {
		return nil, err
	}
	g := &givenSizes{points: f.Points}
	rest := f.Train == 0 && !p.Drawn()
	least := 2
	if rest {
		least = 3
	}
	if f.Solutions < least {
		return nil, words.WithHint(fmt.Errorf("%s has %d solutions: too few to divide", p.Reference.File, f.Solutions), "one for validation and one for test at least, and without `initial` in the PDE file one to train with")
	}
	shares := [2]int{f.Solutions / 3, f.Solutions}
	if rest { // what is trained with matters more
		shares = [2]int{f.Solutions / 12, f.Solutions / 3}
	}
	g.validation = max(1, min(16, shares[0]))
	g.tests = max(1, min(32, shares[1]-g.validation))
	switch {
	case f.Train > 0:
		g.train, g.use = f.Train, "Initial conditions of the file to train with, and its solutions."
	case rest:
		g.train, g.use = f.Solutions-g.validation-g.tests, "Solutions of the file, whose initial conditions alone are trained with, and others to score with."
	default:
		g.train, g.use = 4000, "Initial conditions to train with, never solved, and solutions of the file."
	}
	return g, nil
}

// moveReference gives a PDE file that goes to folder out the path from there of its file of solutions.
func (d *draft) moveReference(out string) error {
	p := d.p
	if p.Reference.File == "" || filepath.IsAbs(p.Reference.File) {
		return nil
	}
	from, err := filepath.Abs(filepath.Join(filepath.Dir(p.File()), p.Reference.File))
	if err != nil {
		return err
	}
	to, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	path, err := filepath.Rel(to, from)
	if err != nil {
		path = from // on another drive
	}
	path = filepath.ToSlash(path)
	if path == p.Reference.File {
		return nil
	}
	d.src, err = config.Set(d.src, fmt.Sprintf("reference.file=%q", path))
	d.added = append(d.added, "added to reference the path of the file from here: "+path)
	return err
}
