package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pihc/data"
	"pihc/internal/dataset"
	"pihc/internal/words"
	"pihc/model"
	"pihc/pde"
	"pihc/train"
)

// An Experiment is a spec and its problem, with all that the spec says of the problem applied: constants, conditions,
// and defaults that follow from it.
type Experiment struct {
	Spec    *model.Spec
	Problem *pde.Problem

	name      string // as it was opened
	alone     bool   // name is a PDE file, and there is no spec
	overrides []string
	systems   systems
}

// Open reads a spec, the path of a file or the name of one that comes with pihc, and its problem. Overrides are values
// of single keys, one an argument: "training.steps=200", "grid.x=64", "constants.D=0.001" of a constant that
// Problem.Constants lists (with another value it is another problem, whose dataset has a folder of its own).
// model.BuiltinSpecs are the names. The path of a PDE file is relative to the spec's folder,
// or else to the working folder. Mistakes in the files are errors with line, caret and hint.
func Open(spec string, overrides ...string) (*Experiment, error) {
	s, err := model.OpenSpec(spec, overrides...)
	if err != nil {
		return nil, err
	}
	return open(spec, s, overrides)
}

// OpenAlone is Open of a PDE file by itself: all that a spec would say is the defaults that are fitted to the problem.
func OpenAlone(path string, overrides ...string) (*Experiment, error) {
	s, err := model.LoadSpec(path, fmt.Appendf(nil, "problem: %q\n", filepath.Base(path)), overrides...)
	if err != nil {
		return nil, err
	}
	x, err := open(path, s, overrides)
	if err == nil {
		x.alone = true
	}
	return x, err
}

func open(spec string, s *model.Spec, overrides []string) (x *Experiment, err error) {
	x = &Experiment{Spec: s, name: spec, overrides: slices.Clone(overrides)}
	if x.Problem, err = openProblem(spec, s.Problem, overrides); err != nil {
		return nil, err
	}
	x.Problem, err = x.Problem.SetConstants(s.Constants)
	var unknown *pde.UnknownConstantError
	if errors.As(err, &unknown) {
		err = model.SpecError(spec, "constants."+unknown.Name, overrides, err, unknown.Hint())
	}
	if err != nil {
		return nil, err
	}
	if err := s.Fit(x.Problem); err != nil {
		return nil, err
	}
	return x, checkRepeats(s, overrides)
}

// asRead is an error for a problem or constants that were changed in memory since they were read, as files would say something
// else than what was computed, and for a folder or options that make no sense.
func (x *Experiment) asRead(dir string, o Options) error {
	if dir == "" {
		return usagef("--out DIR missing")
	}
	if err := o.check(); err != nil {
		return err
	}
	p := x.Problem
	for name, v := range x.Spec.Constants {
		if !slices.ContainsFunc(p.Constants, func(c pde.Constant) bool { return c.Name == name && c.Value == v }) {
			return words.WithHint(fmt.Errorf("constants.%s: the spec has %g, the problem has not: it was set after the experiment was opened", name, v), `Variant("constants.%s=%g") is that experiment`, name, v)
		}
	}
	q, err := pde.Load(x.Spec.Problem, p.Source)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(p.Axes, q.Axes, func(a, b pde.DomainAxis) bool {
		return a.Name == b.Name && a.Lo == b.Lo && a.Hi == b.Hi && a.Boundary == b.Boundary
	}) ||
		!slices.EqualFunc(p.Constants, q.Constants, func(a, b pde.Constant) bool { return a.Name == b.Name && a.Value == b.Value }) {
		return words.WithHint(fmt.Errorf("problem %s: its axes or constants were changed after it was read", p.Name), "another PDE file, or SetConstants, makes another problem")
	}
	return nil
}

// Variant is the experiment as its files have it, with further overrides. What was changed in Spec is not in it.
func (x *Experiment) Variant(overrides ...string) (*Experiment, error) {
	how := Open
	if x.alone {
		how = OpenAlone
	}
	return how(x.name, slices.Concat(x.overrides, overrides)...)
}

// checkRepeats is an error for overrides that say how a network of one pass runs again.
func checkRepeats(spec *model.Spec, overrides []string) error {
	e := spec.Evaluation
	for _, s := range overrides {
		key, _, _ := strings.Cut(s, "=")
		says := func(name string, on bool) bool { return on && (key == "evaluation" || key == "evaluation."+name) }
		if spec.Network.Passes == 1 && (says("passes", e.Passes != 0 && e.Passes != 1) || says("limit", e.Limit > 0) || says("directions", e.Directions != nil && *e.Directions > 0) || says("newton", e.Newton)) {
			return words.WithHint(fmt.Errorf("--set %s: network.passes is 1, and a network of one pass corrects no field", s), "network.passes and network.features of the spec make one that does")
		}
	}
	return nil
}

// checkConstants reports a dataset that was generated from the spec's PDE file, but without the
// constants that the spec sets.
func (x *Experiment) checkConstants(dir string, set *data.Dataset) error {
	if len(x.Spec.Constants) == 0 || set.ProblemHash == dataset.ProblemHash(x.Problem) {
		return nil
	}
	base, err := openProblem(x.name, x.Spec.Problem, x.overrides)
	if err != nil || set.ProblemHash != dataset.ProblemHash(base) {
		return err
	}
	var with, without, flags []string
	for _, c := range base.Constants {
		if v, ok := x.Spec.Constants[c.Name]; ok && v != c.Value {
			with, without = append(with, fmt.Sprintf("%s = %g", c.Name, v)), append(without, fmt.Sprintf("%s = %g", c.Name, c.Value))
			flags = append(flags, fmt.Sprintf(" --set constants.%s=%g", c.Name, v))
		}
	}
	return words.WithHint(fmt.Errorf("dataset %s was generated with %s of the PDE file, the spec has %s", dir, words.List(without), words.List(with)),
		"`pihc generate %s%s --out DIR` makes one with the same constants", x.name, strings.Join(flags[:min(len(flags), words.MostListed)], ""))
}

// checkDrawn reports overrides for samples that a dataset has otherwise: the run's record would say what is
// not so. What the spec itself says, without overrides, may be of another dataset.
func (x *Experiment) checkDrawn(dir string, set *data.Dataset) error {
	d := x.Spec.Data
	for _, s := range x.overrides {
		key, _, _ := strings.Cut(s, "=")
		for _, c := range []struct {
			split string
			want  model.SplitSpec
		}{{"train", d.Train}, {"validation", d.Validation}, {"test", d.Test.SplitSpec}} {
			has, err := set.Split(c.split)
			if err != nil {
				return err
			}
			of := "data." + c.split
			on := func(name string) bool { return slices.Contains([]string{"data", of, of + "." + name}, key) }
			what := ""
			switch {
			case on("count") && has.Count != c.want.Count && c.split != "train": // which training compares in any case
				what = fmt.Sprintf("%d %s samples", has.Count, c.split)
			case on("seed") && has.Seed != c.want.Seed:
				what = fmt.Sprintf("%s samples of seed %d", c.split, has.Seed)
			default:
				continue
			}
			return words.WithHint(fmt.Errorf("--set %s: dataset %s has %s", s, dir, what), "leave the key out, or generate another dataset: `pihc generate %s --set %s --out DIR`", x.name, s)
		}
	}
	return nil
}

// openProblem reads the problem a spec names. A problem that is not
// there is an error at the line of the spec that names it.
func openProblem(spec, problem string, overrides []string) (*pde.Problem, error) {
	beside, path := filepath.Join(filepath.Dir(spec), problem), problem
	if info, err := os.Stat(beside); strings.ContainsAny(spec, `/\`) && !filepath.IsAbs(problem) && err == nil && info.Mode().IsRegular() {
		path = beside
	}
	if folder := train.Folder(filepath.Dir(spec)); folder.SpecFile() == filepath.Clean(spec) && folder.Begun() && !slices.ContainsFunc(overrides, func(s string) bool { return strings.HasPrefix(s, "problem=") }) {
		path = folder.ProblemFile() // as it was trained on
	}
	p, err := pde.Open(path)
	if err == nil {
		return p, p.CheckConditions()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	mistake := func(hint, format string, args ...any) error {
		return model.SpecError(spec, "problem", overrides, fmt.Errorf(format, args...), hint)
	}
	builtins, folders := strings.Join(pde.Builtins(), ", "), "the working folder"
	if strings.ContainsAny(spec, `/\`) {
		folders = filepath.Dir(spec) + " or the working folder"
	}
	switch {
	case !pde.IsPath(problem):
		return nil, mistake(fmt.Sprintf("the built-in problems are %s; a PDE file is named by its path, as in ./%s.yaml", builtins, problem), "there is no built-in problem %q", problem)
	case filepath.IsAbs(problem):
		return nil, mistake("a path relative to the spec's folder is found wherever that is; the built-in problems are "+builtins, "there is no PDE file %s", problem)
	}
	return nil, mistake("its path is relative to the spec's folder, where the spec is given with a slash (./spec.yaml), or to the working folder", "there is no PDE file %s in %s", problem, folders)
}
