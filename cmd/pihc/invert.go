package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pihc/experiment"
)

type invertOptions struct {
	experiment.InvertOptions
	set, values []string
	grid        map[string]int
	out         string
	force, json bool
}

func newInvert(a *app) *cobra.Command {
	o := &invertOptions{}
	c := &cobra.Command{
		Use:   "invert PROBLEM.yaml --observe OBS.csv --free D,k",
		Short: "Fit numbers of a PDE file to measurements, with intervals, without training",
		Long: `invert finds numbers of an equation from measurements of its solution: constants of the PDE
file, inputs that are numbers, and, as u0:8, the first coefficients of the series that an
initial condition or input is drawn from. A value at a wall is free where the file makes it a
constant. Positive numbers are fitted by their logarithms; D:linear does not.

OBS.csv has a line of names and a line for each observation: the axes (t,x or t,x,y), value,
sigma (its standard deviation), and where there are several unknown and experiment (0, 1, ...).
A file of arrays (.npz, .nc or .h5) has them by these names, unknown as a position. Points lie
anywhere in the box of the PDE file.

What is not free is as the PDE file says; initial conditions and inputs that the file draws
come from --initial, a sample for each experiment (as for solve), numbers also by --value.
A free number starts at --value, at the constant of the file, or in the middle of its
distribution. --prior adds what is known: file (the distributions of the file, as normal
ones), "k=lognormal(3.5e-4, 0.5)" or "k=normal(1, 0.1)".

Least squares are over solutions of the problem's own rows with exact derivatives, on grids that
are refined in time and in space until the estimates move by less than a tenth of their standard
deviation. The first line says whether data and equation agree (chi-squared); then come the
estimates with 95 % intervals by profile likelihood, and by Gauss and Newton, combinations
that the data do not see, strong correlations, and observations that stand out. Where the data
reject the fit, or it stalls, it begins again from eight other points of the priors, or around the
start; --starts does so for every fit. It says how many agree, and what other fit is nearly as good.

With one axis of space and derivatives of the first order in time, --free u0 finds the whole initial
condition of that name: its distribution in the file is what is known before, and the result a
field with a 95 % band. --model-error q says that the equation is not exact: u_t has a noise of
density q, of which a mean over a length l and a time s has the deviation q/sqrt(l s). Fields at all times
are then found together (weak-constraint 4D-Var).

--json prints estimates (value, low, high; null where the data set no end), chi_squared (value,
degrees, p), unseen, iterations and seconds, alone on standard output. --out writes
estimates.json, observations.csv and a page to a folder. A rejected fit exits 0. Ctrl-C prints the
numbers of the last step, or the field of the last grid if there was one (--json: converged
false), without intervals, writes no folder, and exits 130; a second one ends at once.`,
		Example: `  pihc invert examples/sorption/problem.yaml --observe obs.csv --free D,k --value phi=0.3 --initial u0.npz
  pihc invert kuramoto-sivashinsky.yaml --observe obs.csv --free u0 --model-error 0.05 --out fit
  pihc invert wave.yaml --observe obs.csv --free c2 --value c2=1 --json`,
		Args: positional("PROBLEM.yaml", 1, 1),
		RunE: func(c *cobra.Command, args []string) error { return a.invert(c, args[0], o) },
	}
	f := c.Flags()
	f.StringVar(&o.Observe, "observe", "", "CSV, NPZ, NetCDF or HDF5 file of observations (required)")
	f.StringSliceVar(&o.Free, "free", nil, "numbers to find: D,k,u0:8 (required)")
	f.StringArrayVar(&o.values, "value", nil, "where a free number starts, or what a number among the inputs is: k=3.5e-4 (repeatable)")
	f.StringArrayVar(&o.Priors, "prior", nil, "what is known: file, \"k=lognormal(3.5e-4, 0.5)\" or \"k=normal(1, 0.1)\" (repeatable)")
	f.Float64Var(&o.ModelError, "model-error", 0, "of an initial field: density of a noise of u_t, white in time and space (default none: the equation is exact)")
	f.StringVarP(&o.Initial, "initial", "i", "", "NPY file of initial conditions, or NPZ, NetCDF or HDF5 file of inputs, a sample an experiment")
	f.StringArrayVar(&o.set, "set", nil, "override one value of the PDE file, as in constants.D=0.001 (repeatable)")
	f.Var((*gridFlag)(&o.grid), "grid", "points by axis of the coarsest grid, and of --initial (default the file's)")
	f.IntVar(&o.Starts, "starts", 0, "other starts that every fit of numbers begins from (default 8, and only where it is rejected or stalls)")
	f.StringVarP(&o.out, "out", "o", "", "folder to write")
	forceFlag(c, &o.force)
	jsonFlag(c, &o.json)
	return c
}

// inversion is what was found: numbers or a field.
type inversion interface {
	Write(dir string, overwrite bool, reads ...string) error
	JSON() map[string]any
	Lines() []string
}

func (a *app) invert(c *cobra.Command, name string, o *invertOptions) error {
	o.Values = map[string]float64{}
	for _, text := range o.values {
		key, value, _ := strings.Cut(text, "=")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || v-v != 0 {
			return usagef("--value %s: want NAME=NUMBER", text)
		}
		o.Values[key] = v
	}
	p, err := experiment.OpenProblem(name, o.set...)
	if err != nil {
		return err
	}
	g, err := p.Grid(o.grid)
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := experiment.InversionFolder(o.out, o.force, name, o.Observe, o.Initial); err != nil {
			return err
		}
	}
	a.about, o.Profile = "invert: ", o.out != ""
	o.Options = a.options(0)
	field := experiment.InvertsField(p, o.Free)
	if field && c.Flags().Changed("model-error") && o.ModelError == 0 {
		return usagef("--model-error 0: want a density above 0; without the flag the equation is exact")
	}
	var v inversion
	a.signals.saving.Store(true) // interrupted it ends by itself, with what was found last
	if field {
		if found, failed := experiment.InvertField(c.Context(), p, g, o.InvertOptions); found != nil {
			v, err = found, failed
		} else {
			err = failed
		}
	} else if found, failed := experiment.Invert(c.Context(), p, g, o.InvertOptions); found != nil {
		v, err = found, failed
	} else {
		err = failed
	}
	a.signals.saving.Store(false)
	if v != nil && err != nil {
		return errors.Join(a.printInversion(v, o.json), err)
	}
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := v.Write(o.out, o.force, name, o.Observe, o.Initial); err != nil {
			return err
		}
	}
	return a.printInversion(v, o.json)
}

func (a *app) printInversion(v inversion, json bool) error {
	if json {
		return a.printJSON(v.JSON())
	}
	_, err := fmt.Fprintln(a.Out, strings.Join(v.Lines(), "\n"))
	return err
}
