package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pihc/experiment"
	"pihc/internal/paper"
	"pihc/internal/words"
	"pihc/model"
	"pihc/pde"
	"pihc/report"
	"pihc/train"
)

type reproduceOptions struct {
	specFlags
	scale, out          string
	problem             string
	tensorboard         string
	methods             []string
	fair, onePass, json bool
	force               bool
}

func newReproduce(a *app) *cobra.Command {
	o := &reproduceOptions{}
	c := &cobra.Command{
		Use:   "reproduce NAME --scale demo|small|paper|published | reproduce SPEC.yaml",
		Short: "Data, all three methods, scores and report in one go",
		Long: `reproduce runs a whole experiment: it generates the dataset of the spec
NAME-SCALE, or of a spec file of your own (pihc init writes one), trains soft, hard
and moe, or the --methods given, evaluates them on the test split (on the spec's
grid and on those of data.test.grids), writes DIR/report.html and prints the table,
with a line for each that does not beat zero, persistence or the mean solution.

                        demo           small          paper, published
  diffusion-sorption    101 x 128      101 x 256      101 x 1024
  navier-stokes         16 x 32 x 32   32 x 32 x 32   64 x 64 x 64

demo takes minutes on two cores, small up to an hour or two. paper has the paper's
grids and takes hours: of Navier-Stokes with a smaller network, and most steps of
both on coarser grids. published has also the rows, losses and schedule of the
paper's program.

Experiments of the paper on these, each with a report of its own in DIR:

  temporal       diffusion-sorption trained on t up to 400 s, scored beyond
  interpolation  what moe's basis adds to cubic interpolation between the points
                 that its experts are constrained at (Clough-Tocher)
  residuals      residuals on validation during training, and how points,
                 tolerance and iterations change those of trained experts
  scaling        time of a step over the number of points, hard and moe
  experts        error over cost of one solve and of experts, with a quarter of the
                 basis functions, with all, and with as many as all experts have
                 weights: when do experts pay? (demo: 400 steps)

residuals, scaling and experts take --problem navier-stokes or --problem SPEC.yaml
too. All but temporal and experts use the runs in DIR, which by default are those of
the problem's own reproduction; experts trains networks of one pass, in which all of a
prediction's solves are the arm's. interpolation and residuals score the first 8, 16 or 32
test samples (demo, small, larger), temporal and experts all of them.

hard has one expert with as many points as one of moe's, as published; --fair
adds a fourth run in which it has as many as all of moe's together. Where the
network corrects its own field in several passes, --one-pass adds each method with
one pass and without features: the method of the paper, under one_pass in the JSON.

DIR holds data/, one run folder per method and the report. What is there is
kept: started again, an interrupted reproduction continues. --tensorboard BOARD writes
event files to a folder for each run, BOARD/moe say.`,
		Example: `  pihc reproduce diffusion-sorption --scale demo
  pihc reproduce diffusion-sorption --scale small --out runs/small --seed 2
  pihc reproduce navier-stokes --scale demo
  pihc reproduce temporal --scale demo
  pihc reproduce scaling --problem navier-stokes --scale small
  pihc reproduce experts --problem mine/spec.yaml --out runs/mine-experts
  pihc reproduce mine/spec.yaml --out runs/mine --methods moe,hard
  pihc reproduce diffusion-sorption --scale demo --set training.steps=100 --json`,
		Args: positional("NAME or SPEC.yaml", 1, 1),
		RunE: func(c *cobra.Command, args []string) error { return a.reproduce(c.Context(), args[0], o) },
	}
	o.add(c, "seed")
	flags := c.Flags()
	flags.StringVar(&o.scale, "scale", "demo", "demo, small, paper or published")
	flags.StringVar(&o.problem, "problem", "", "problem, or spec file, of residuals, scaling or experts (default diffusion-sorption)")
	flags.StringSliceVar(&o.methods, "methods", nil, "methods to train, as in moe,hard (default all three)")
	flags.StringVarP(&o.out, "out", "o", "", "folder of the experiment (default runs/NAME-SCALE, of experts --problem P runs/experts-P-SCALE; required for a spec file)")
	flags.BoolVar(&o.fair, "fair", false, "train hard once more, with as many points as all experts of moe together")
	flags.BoolVar(&o.onePass, "one-pass", false, "train the methods once more, with one pass and without features, as the paper does")
	tensorboardFlag(c, &o.tensorboard)
	forceFlag(c, &o.force)
	jsonFlag(c, &o.json)
	return c
}

func (a *app) reproduce(ctx context.Context, name string, o *reproduceOptions) error {
	begin := time.Now()
	study, base, err := o.study(name)
	if err != nil {
		return err
	}
	specName, scale, dir, err := o.experiment(base)
	if err != nil {
		return err
	}
	x, err := o.open(specName)
	if err != nil {
		return err
	}
	spec, p := x.Spec, x.Problem
	if o.onePass && spec.Network.Passes == 1 {
		return usagef("--one-pass: %s has one pass", specName)
	}
	switch {
	case paper.Measures(name) && name != "scaling" && p.Reference.Solver == "":
		return words.WithHint(fmt.Errorf("%s: the PDE file of %s has no reference, and there would be no errors to show", name, specName), "reference: {solver: discrete} computes solutions from the file's own rows")
	case name == "scaling" && spec.Network.Precision == "float64":
		return fmt.Errorf("%s: %s has a network in float64; want float32", name, specName)
	}
	arms := paper.Arms(spec, o.methods, o.fair, o.onePass)
	if study.Arms {
		arms = study.Trainings(spec)
	}
	dataDir, path := filepath.Join(dir, "data"), filepath.Join(dir, "report.html")
	if paper.Measures(name) {
		err = paper.CheckFiles(dir, name, o.force)
	} else {
		err = report.CheckFile(path, o.force)
	}
	if err != nil { // before all that takes long
		return err
	}
	options := a.options(o.workers)
	options.Events = o.tensorboard
	trained, err := a.trainArms(ctx, x, arms, dir, dataDir, options)
	if err != nil {
		return err
	}
	if paper.Measures(name) {
		work := &paper.Work{Options: a.options(o.workers), Name: name, Dir: dir, Of: p.Title, Runs: trained, Overwrite: o.force}
		if scale != "" {
			work.Of += ", " + scale + " scale"
		}
		if !study.Arms { // arms are compared with each other, and trained longer than scored
			work.Samples = map[string]int{"demo": 8, "small": 16, "paper": 32, "published": 32}[scale] // of the test split; else all
		}
		return a.measure(ctx, work, dataDir, o.json, begin)
	}
	var runs []string
	for _, arm := range arms {
		runs = append(runs, trained[arm.Name])
	}
	page, err := a.compare(ctx, runs, experiment.CompareOptions{Options: a.options(o.workers), Data: dataDir})
	if err != nil {
		return err
	}
	page.Title = p.Title
	if scale != "" {
		page.Title = fmt.Sprintf("%s, %s scale", p.Title, scale)
	}
	if study.Published != nil {
		page.Title += ", " + name
		page.Publish(study.Published, study.Source)
	}
	page.Overwrite = o.force
	if err := page.Write(path); err != nil {
		return err
	}
	seconds := time.Since(begin).Seconds()
	if o.json {
		return a.printJSON(reproductionOf(&page.Page, p.Name, scale, path, seconds))
	}
	if err := a.printTables(&page.Page); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "\nreport: %s\ntotal: %s (%.0f seconds)\n", path, words.Duration(seconds), seconds)
	return err
}

// trainArms makes the dataset and the runs of a reproduction, or completes them, and returns the folders of the runs by name.
func (a *app) trainArms(ctx context.Context, x *experiment.Experiment, arms []paper.Arm, dir, dataDir string, o experiment.Options) (map[string]string, error) {
	variants := make([]*experiment.Experiment, len(arms))
	for i, arm := range arms { // before anything is made for them
		var err error
		if variants[i], err = x.Variant(arm.Overrides...); err == nil {
			err = variants[i].CheckSizes(o)
		}
		if err == nil {
			err = variants[i].CheckFolder(filepath.Join(dir, arm.Name))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", arm.Name, err)
		}
	}
	if err := x.CheckRead("train", variants...); err != nil {
		return nil, err
	}
	if _, err := x.Generate(ctx, dataDir, o); err != nil {
		return nil, err
	}
	trained := map[string]string{}
	for i, arm := range arms {
		run := filepath.Join(dir, arm.Name)
		own := o
		if o.Events != "" {
			own.Events = filepath.Join(o.Events, arm.Name)
		}
		r, err := variants[i].Ensure(ctx, arm.Title, run, dataDir, own)
		if errors.Is(err, train.ErrInterrupted) {
			return nil, words.WithHint(fmt.Errorf("%s: %w at step %d of %d", arm.Name, err, r.Summary.Steps, r.Spec.Training.Steps), "the same command continues")
		}
		if err != nil && r != nil {
			return nil, fmt.Errorf("%s: %w", arm.Name, err)
		}
		if err != nil {
			return nil, err
		}
		trained[arm.Name] = run
	}
	return trained, nil
}

// scaled are the built-in experiments with a scale each, as they are given to reproduce.
func scaled() []string {
	var all []string
	for _, spec := range model.BuiltinSpecs() {
		at := strings.LastIndexByte(spec, '-')
		all = append(all, spec[:at]+" --scale "+spec[at+1:])
	}
	return all
}

// experiment returns the name of the spec, the scale of a built-in one, and the
// folder of what is to be reproduced.
func (o *reproduceOptions) experiment(name string) (spec, scale, dir string, err error) {
	for i, m := range o.methods {
		switch {
		case !slices.Contains(model.Methods, m):
			return "", "", "", usagef("--methods %s: want some of %s", m, strings.Join(model.Methods, ", "))
		case slices.Contains(o.methods[:i], m):
			return "", "", "", usagef("--methods %s: %s twice", strings.Join(o.methods, ","), m)
		}
	}
	if pde.IsPath(name) {
		switch {
		case o.flags.Changed("scale"):
			return "", "", "", usagef("--scale with the spec file %s: it has its own sizes", name)
		case o.out == "":
			return "", "", "", usagef("--out DIR missing")
		}
		return name, "", o.out, nil
	}
	spec = name + "-" + o.scale
	if !slices.Contains(model.BuiltinSpecs(), spec) {
		return "", "", "", words.WithHint(usagef("%s --scale %s: no such experiment", name, o.scale), "there are %s, studies (see `pihc reproduce --help`), and files of your own (`pihc init`)", words.List(scaled()))
	}
	return spec, o.scale, cmp.Or(o.out, filepath.Join("runs", spec)), nil
}
