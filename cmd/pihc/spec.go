package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pihc/experiment"
	"pihc/model"
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
	for _, s := range f.set {
		for flag, given := range map[string]bool{"seed": f.flags.Changed("seed"), "method": f.method != ""} {
			if given && strings.HasPrefix(s, flag+"=") {
				return nil, usagef("--set %s: --%s says it already", s, flag)
			}
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

// open opens an experiment with the overrides of the flags and more.
func (f *specFlags) open(name string, more ...string) (*experiment.Experiment, error) {
	overrides, err := f.overrides()
	if err != nil {
		return nil, err
	}
	return experiment.Open(name, append(overrides, more...)...)
}
