package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pihc/data"
	"pihc/dataset"
	"pihc/internal/config"
	"pihc/model"
	"pihc/pde"
)

// specFlags are the flags of every command that reads a spec.
type specFlags struct {
	set     []string
	seed    uint64
	method  string
	workers int
	flags   *pflag.FlagSet
}

// add adds them, and of "seed" and "method" those that say something to the command.
func (f *specFlags) add(c *cobra.Command, some ...string) {
	f.flags = c.Flags()
	f.flags.StringArrayVar(&f.set, "set", nil, "override one value of the spec, as in training.steps=200 (repeatable)")
	if slices.Contains(some, "seed") {
		f.flags.Uint64Var(&f.seed, "seed", 0, "short for --set seed=N: initial parameters, order of data and sampled points")
	}
	if slices.Contains(some, "method") {
		f.flags.StringVar(&f.method, "method", "", "short for --set method=M: soft, hard or moe")
	}
	workersFlag(c, &f.workers)
}

func workersFlag(c *cobra.Command, dst *int) {
	c.Flags().IntVar(dst, "workers", 0, "number of threads, 0 for all cores; results do not depend on it (default all cores)")
}

// overrides returns the values given on the command line, in the form of --set.
func (f *specFlags) overrides() ([]string, error) {
	for _, s := range f.set {
		if !strings.Contains(s, "=") {
			return nil, usagef("--set %s: want key=value, as in training.steps=200", s)
		}
	}
	out := slices.Clone(f.set)
	if f.flags.Changed("seed") {
		out = append(out, fmt.Sprintf("seed=%d", f.seed))
	}
	if f.method != "" {
		if !slices.Contains(model.Methods, f.method) {
			return nil, usagef("--method %s: want %s", f.method, strings.Join(model.Methods, ", "))
		}
		out = append(out, "method="+f.method)
	}
	return out, nil
}

// open reads a spec and its problem, with the overrides of the flags and more.
func (f *specFlags) open(name string, more ...string) (*model.Spec, *pde.Problem, error) {
	overrides, err := f.overrides()
	if err != nil {
		return nil, nil, err
	}
	spec, err := model.OpenSpec(name, append(overrides, more...)...)
	if err != nil {
		return nil, nil, err
	}
	overrides = append(overrides, more...)
	p, err := openProblem(name, spec.Problem, overrides)
	if err != nil {
		return nil, nil, err
	}
	p, err = p.SetConstants(spec.Constants)
	var unknown *pde.UnknownConstantError
	if errors.As(err, &unknown) {
		at := model.SpecPosition(name, "constants."+unknown.Name, overrides...)
		err = config.Join(at.Errorf("%v", err).WithHint("%s", unknown.Hint()).OfKey())
	}
	if err != nil {
		return spec, p, err
	}
	if err := spec.Fit(p); err != nil || len(more) > 0 { // more may be of one pass, where the user's are of several
		return spec, p, err
	}
	return spec, p, checkRepeats(spec, overrides)
}

// checkRepeats is an error for overrides that say how a network of one pass runs again.
func checkRepeats(spec *model.Spec, overrides []string) error {
	e := spec.Evaluation
	for _, s := range overrides {
		key, _, _ := strings.Cut(s, "=")
		own := func(name string, on bool) bool { return on && (key == "evaluation" || key == "evaluation."+name) }
		if spec.Network.Passes == 1 && (own("passes", e.Passes != 0 && e.Passes != 1) || own("limit", e.Limit > 0) || own("directions", e.Directions != nil && *e.Directions > 0)) {
			return withHint(fmt.Errorf("--set %s: network.passes is 1, and a network of one pass corrects no field", s), "network.passes and network.features of the spec make one that does")
		}
	}
	return nil
}

// checkConstants reports a dataset that was generated from the spec's PDE file, but without the
// constants that the spec sets.
func (f *specFlags) checkConstants(name, dir string, spec *model.Spec, p *pde.Problem, set *data.Dataset) error {
	if len(spec.Constants) == 0 || set.Manifest().ProblemHash == dataset.ProblemHash(p) {
		return nil
	}
	base, err := openProblem(name, spec.Problem, f.set)
	if err != nil || set.Manifest().ProblemHash != dataset.ProblemHash(base) {
		return err
	}
	var with, without, flags []string
	for _, c := range base.Constants {
		if v, ok := spec.Constants[c.Name]; ok && v != c.Value {
			with, without = append(with, fmt.Sprintf("%s = %g", c.Name, v)), append(without, fmt.Sprintf("%s = %g", c.Name, c.Value))
			flags = append(flags, fmt.Sprintf(" --set constants.%s=%g", c.Name, v))
		}
	}
	return withHint(fmt.Errorf("dataset %s was generated with %s of the PDE file, the spec has %s", dir, strings.Join(without, ", "), strings.Join(with, ", ")),
		"`pihc generate %s%s --out DIR` makes one with the same constants", name, strings.Join(flags, ""))
}

// checkDrawn reports values of --set for samples that a dataset has otherwise: the run's record would say what is
// not so. What the spec itself says, without --set, may be of another dataset.
func (f *specFlags) checkDrawn(name, dir string, spec *model.Spec, set *data.Dataset) error {
	for _, s := range f.set {
		key, _, _ := strings.Cut(s, "=")
		for _, x := range []struct {
			split string
			want  model.SplitSpec
		}{{"train", spec.Data.Train}, {"validation", spec.Data.Validation}, {"test", spec.Data.Test.SplitSpec}} {
			has, err := set.Split(x.split)
			if err != nil {
				return err
			}
			of := "data." + x.split
			on := func(own string) bool { return slices.Contains([]string{"data", of, of + "." + own}, key) }
			what := ""
			switch {
			case on("count") && has.Count != x.want.Count && x.split != "train": // which training compares in any case
				what = fmt.Sprintf("%d %s samples", has.Count, x.split)
			case on("seed") && has.Seed != x.want.Seed:
				what = fmt.Sprintf("%s samples of seed %d", x.split, has.Seed)
			default:
				continue
			}
			return withHint(fmt.Errorf("--set %s: dataset %s has %s", s, dir, what), "leave the key out, or generate another dataset: `pihc generate %s --set %s --out DIR`", name, s)
		}
	}
	return nil
}

// openProblem reads the problem a spec names. The path of a PDE file is relative
// to the spec's folder, or else to the working folder. A problem that is not
// there is an error at the line of the spec that names it.
func openProblem(spec, problem string, overrides []string) (*pde.Problem, error) {
	var p *pde.Problem
	var err error
	beside := filepath.Join(filepath.Dir(spec), problem)
	if info, statErr := os.Stat(beside); strings.ContainsAny(spec, `/\`) && !filepath.IsAbs(problem) && statErr == nil && info.Mode().IsRegular() {
		p, err = pde.Open(beside)
	} else {
		p, err = pde.Open(problem)
	}
	switch {
	case err == nil:
		return p, p.CheckConditions()
	case errors.Is(err, fs.ErrNotExist):
		at := model.SpecPosition(spec, "problem", overrides...)
		if !pde.IsPath(problem) {
			return nil, config.Join(at.Errorf("there is no built-in problem %q", problem).
				WithHint("the built-in problems are %s; a PDE file is named by its path, as in ./%s.yaml", strings.Join(pde.Builtins(), ", "), problem))
		}
		folders := []string{"the working folder"}
		if strings.ContainsAny(spec, `/\`) {
			folders = []string{filepath.Dir(spec), "the working folder"}
		}
		if filepath.IsAbs(problem) {
			return nil, config.Join(at.Errorf("there is no PDE file %s", problem).
				WithHint("a path relative to the spec's folder is found wherever that is; the built-in problems are %s", strings.Join(pde.Builtins(), ", ")))
		}
		return nil, config.Join(at.Errorf("there is no PDE file %s in %s", problem, strings.Join(folders, " or ")).
			WithHint("its path is relative to the spec's folder, where the spec is given with a slash (./spec.yaml), or to the working folder"))
	}
	return nil, err
}
