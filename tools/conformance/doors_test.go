//go:build unix

package conformance

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pihc/data"
	"pihc/experiment"
	inputarrays "pihc/internal/dataset"
	"pihc/internal/disk"
	"pihc/model"
)

// A door is a way to the same run: train makes run in dir, on the trial's dataset, use makes scores.json and u.npz there with
// a run, and dataset makes data in dir; nil: not by this door.
type door struct {
	name       string
	train      func(c *trial, dir string)
	use        func(c *trial, run, dir string)
	dataset    func(c *trial, dir string)
	bound, own bounds // with the network of the spec; with one of float64
}

// bounds are relative L2 distances, 0 for equal bits: of loss and gradient of the first step of a training (of equal parameters), of
// its last parameters and all losses, and of predictions and scores of equal parameters.
type bounds struct{ first, trained, used float64 }

// Slabs and XLA form sums in other orders, which a network of float32 rounds at 1e-7. What becomes of that is a matter of the run:
// solves over a basis that is all but dependent, passes that correct the pass before, and Adam, which divides a
// gradient by its size, make more of it. A network of float64 has the same run with rounding at 1e-16: it tells
// another formula from another order. The figures are a few times those of the 25 problems here.
var (
	slabBounds   = bounds{1e-3, 1e-1, 5e-3}
	xlaBounds    = bounds{1e-3, 1e-1, 2e-2}
	slabBounds64 = bounds{1e-7, 1e-6, 1e-9}
	xlaBounds64  = bounds{1e-7, 1e-6, 1e-9}
)

// lessUsed has cases whose predictions rounding alone takes further apart than the bounds of float64 allow, with bounds of their own.
// Four passes over four functions of an untrained network correct each other there: parameters and the first step agree to 1e-7 and
// better, predictions to 3e-9 (sorption) and 4e-9 (FitzHugh-Nagumo).
var lessUsed = map[string]float64{"sorption/moe": 1e-8, "fitzhugh-nagumo/hard": 1e-8}

// trial is a problem with a method: a dataset, and a run by the command with one worker.
type trial struct {
	*suite
	t                  *testing.T
	spec, method, base string // the folder of what all doors are compared with
	sessions           string // a short path for the files of mpirun, which two of them make in one place at their peril
	ofData, further    []string
	suffix             string // of the names of doors
}

// choose makes the doors that there are here and the flags ask for.
func (s *suite) choose() {
	command := func(launch []string, further ...string) func(c *trial, dir string) {
		return func(c *trial, dir string) {
			c.run(launch, append([]string{"train", c.spec, "--method", c.method, "--data", c.path("data"), "--out", filepath.Join(dir, "run")}, append(further, flags(c.ofData, c.further)...)...)...)
		}
	}
	use := func(launch []string, further ...string) func(c *trial, run, dir string) {
		return func(c *trial, run, dir string) {
			c.run(launch, append([]string{"eval", run, "--out", filepath.Join(dir, "scores.json")}, further...)...)
			c.run(launch, append([]string{"predict", run, "--initial", c.path("inputs.npz"), "--out", filepath.Join(dir, "u.npz")}, further...)...)
		}
	}
	generate := func(launch []string, further ...string) func(c *trial, dir string) {
		return func(c *trial, dir string) {
			c.run(launch, append([]string{"generate", c.spec, "--out", filepath.Join(dir, "data")}, append(further, flags(c.ofData)...)...)...)
		}
	}
	one, slabs, engine := []string{"--workers", "1"}, []string{"--workers", "1", "--slabs", "2"}, []string{"--engine", "xla", "--plugin", s.plugin}
	s.own = door{name: "command", train: command(nil, one...), use: use(nil, one...), dataset: generate(nil, one...)}
	all := []door{
		{name: "workers", train: command(nil, "--workers", "2"), use: use(nil, "--workers", "2"), dataset: generate(nil, "--workers", "2")},
		{name: "library", train: (*trial).library, use: (*trial).useByLibrary, dataset: (*trial).libraryData},
		{name: "resume", train: (*trial).resume, use: s.own.use},
		{name: "from", train: (*trial).from, use: s.own.use},
	}
	if s.launch != nil {
		all = append(all, door{name: "ranks", train: command(s.launch, one...), use: use(s.launch, one...), dataset: generate(s.launch, one...)},
			door{name: "slabs", train: command(s.launch, slabs...), use: use(s.launch, slabs...), bound: slabBounds, own: slabBounds64})
	}
	if s.plugin != "" {
		all = append(all, door{name: "xla", train: command(nil, engine...), use: use(nil, engine...), bound: xlaBounds, own: xlaBounds64})
	}
	s.doors = slices.DeleteFunc(all, func(d door) bool { return *some != "" && !slices.Contains(strings.Split(*some, ","), d.name) })
}

// path is that of a file of the trial's own run.
func (c *trial) path(name string) string { return filepath.Join(c.base, name) }

// run runs pihc, which has to succeed.
func (c *trial) run(launch []string, args ...string) {
	c.t.Helper()
	line := slices.Concat(launch, []string{c.pihc, "-q"}, args)
	if launch == nil {
		line = append(line, "--mpi", "off")
	}
	cmd := exec.CommandContext(c.t.Context(), line[0], line[1:]...)
	cmd.Env = append(os.Environ(), "PIHC_PJRT=", "XLA_FLAGS=--xla_backend_optimization_level=0", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
		"TMPDIR="+c.sessions, "OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_mpi_yield_when_idle=1", "OMPI_MCA_hwloc_base_binding_policy=none")
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("%s: %v\n%s", strings.Join(line, " "), err, out)
	}
}

// problem compares all doors on one problem.
func (s *suite) problem(t *testing.T, spec string, methods []string) {
	dir := t.TempDir()
	c := &trial{suite: s, t: t, spec: spec, base: dir}
	var err error
	if c.sessions, err = os.MkdirTemp("", "pihc"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(c.sessions) })
	if c.ofData, c.further, err = sizes(spec); err != nil {
		t.Fatal(err)
	}
	s.own.dataset(c, dir)
	for _, d := range s.doors {
		if d.dataset == nil {
			continue
		}
		other := filepath.Join(dir, d.name)
		d.dataset(c, other)
		s.record(nameOf(spec), "", d.name, []string{compare(t, "dataset", dataset(t, filepath.Join(other, "data")), dataset(t, c.path("data")), 0)})
	}
	for _, method := range methods {
		t.Run(method, func(t *testing.T) {
			m := *c
			m.t, m.method, m.base = t, method, filepath.Join(dir, method)
			if method == "soft" && nameOf(spec) == "wave" {
				// Nothing bounds what an untrained network adds in a pass without a solve. Its rate at the end of a segment, with which
				// the next begins, overflows.
				m.further = slices.DeleteFunc(slices.Clone(c.further), func(o string) bool { return o == "rollout=2" })
			}
			if err := os.Mkdir(m.base, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(c.path("data"), m.path("data")); err != nil {
				t.Fatal(err)
			}
			m.compare(s.doors)
			if method == model.Methods[int(hashOf(nameOf(spec)))%3] {
				m.wide()
			}
		})
	}
}

// wide compares doors with bounds again, with a network of float64.
func (c *trial) wide() {
	m := *c
	m.base, m.suffix = c.path("float64"), "-64"
	if err := os.Mkdir(m.base, 0o777); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(filepath.Dir(c.base), "data"), m.path("data")); err != nil {
		c.t.Fatal(err)
	}
	m.further = append(slices.Clone(c.further), "network.precision=float64")
	var doors []door
	for _, d := range c.doors {
		if d.bound != (bounds{}) {
			d.bound = d.own
			if used, ok := lessUsed[nameOf(c.spec)+"/"+c.method]; ok {
				d.bound.used = used
			}
			doors = append(doors, d)
		}
	}
	m.compare(doors)
}

// compare compares doors on one problem with one method.
func (c *trial) compare(doors []door) {
	t := c.t
	c.inputs()
	c.own.train(c, c.base)
	c.own.use(c, c.path("run"), c.base)
	first, all := losses(t, c.path("run"))
	for _, d := range doors {
		dir := c.path(d.name)
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if d.name == "slabs" && c.opened().Problem.Steady {
			c.record(nameOf(c.spec), c.method, d.name+c.suffix, []string{"there is no time to divide"})
			continue
		}
		d.train(c, dir)
		if d.name == "from" {
			c.compareFrom(dir)
			continue
		}
		run, exact := filepath.Join(dir, "run"), d.bound == bounds{}
		used := run
		if !exact {
			used = c.path("run") // of the same parameters
		}
		d.use(c, used, dir)
		firstHere, allHere := losses(t, run)
		name := d.name + c.suffix
		step, fellBack := ": first step", all["adjoint_fallbacks"] != nil || allHere["adjoint_fallbacks"] != nil
		want := maps.Clone(first)
		if !exact && fellBack && c.suffix == "" {
			// Solves ended where the Hessian is all but singular: gradients are rounding, many times over. With float64 they are compared.
			step = ": first loss"
			delete(firstHere, "gradient_norm")
			delete(want, "gradient_norm")
		}
		found := []string{compare(t, name+step, firstHere, want, d.bound.first)}
		switch here, there := parameters(t, run), parameters(t, c.path("run")); {
		case exact:
			found = append(found, compare(t, name+": parameters", here, there, 0), compare(t, name+": losses", allHere, all, 0))
		case fellBack:
			found = append(found, "later steps not compared: the adjoint fell back")
		default:
			found = append(found, compare(t, name+": parameters", moved(here), moved(there), d.bound.trained),
				compare(t, name+": losses", round(allHere, false), round(all, false), d.bound.trained))
		}
		found = append(found,
			compare(t, name+": predictions", predictions(t, filepath.Join(dir, "u.npz")), predictions(t, c.path("u.npz")), d.bound.used),
			compare(t, name+": scores", round(scores(t, filepath.Join(dir, "scores.json")), exact), round(scores(t, c.path("scores.json")), exact), d.bound.used))
		for i := range found {
			found[i] = strings.TrimPrefix(found[i], name+": ")
		}
		c.record(nameOf(c.spec), c.method, name, found)
	}
}

// inputs writes those of the test split on the run's grid.
func (c *trial) inputs() {
	x := c.opened()
	set, err := data.Open(c.path("data"))
	if err != nil {
		c.t.Fatal(err)
	}
	g, err := x.Problem.Grid(x.Spec.Grid)
	if err != nil {
		c.t.Fatal(err)
	}
	samples, err := experiment.LoadSamples(set, "validation", x.Problem, g, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	var list []data.Named
	at := 0
	for _, in := range x.Problem.PlaceInputs(g) {
		size := 1
		for _, n := range in.Shape() {
			size *= n
		}
		var all []float64
		for _, s := range samples.Inputs {
			all = append(all, s[at:at+size]...)
		}
		at += size
		list = append(list, data.Named{Name: inputarrays.InputArray(x.Problem, in.Name), Array: data.NewArray(append([]int{len(samples.Inputs)}, in.Shape()...), all)})
	}
	if err := data.WriteNPZ(c.path("inputs.npz"), list); err != nil {
		c.t.Fatal(err)
	}
}

// opened is the experiment of the trial, by the library.
func (c *trial) opened() *experiment.Experiment {
	x, err := experiment.Open(c.spec, slices.Concat(c.ofData, c.further, []string{"method=" + c.method})...)
	if err != nil {
		c.t.Fatal(err)
	}
	return x
}

func (c *trial) libraryData(dir string) {
	x, err := experiment.Open(c.spec, c.ofData...)
	if err == nil {
		_, err = x.Generate(c.t.Context(), filepath.Join(dir, "data"), experiment.Options{Workers: 1})
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// library does what the command does.
func (c *trial) library(dir string) {
	if _, err := c.opened().Train(c.t.Context(), filepath.Join(dir, "run"), c.path("data"), experiment.Options{Workers: 1}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *trial) useByLibrary(run, dir string) {
	r, err := experiment.OpenRun(run)
	if err != nil {
		c.t.Fatal(err)
	}
	e := experiment.Evaluation{Options: experiment.Options{Workers: 1}}
	m, err := r.Score(c.t.Context(), experiment.ScoreOptions{Evaluation: e})
	if err != nil {
		c.t.Fatal(err)
	}
	if err := disk.WriteSealedJSON(filepath.Join(dir, "scores.json"), m); err != nil {
		c.t.Fatal(err)
	}
	g, err := r.Grid(e)
	if err != nil {
		c.t.Fatal(err)
	}
	inputs, err := experiment.ReadInputs(c.path("inputs.npz"), r.Problem, g)
	if err != nil {
		c.t.Fatal(err)
	}
	p, err := r.Predict(c.t.Context(), inputs, experiment.PredictOptions{Evaluation: e})
	if err == nil {
		err = p.Write(filepath.Join(dir, "u.npz"))
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// resume is interrupted in the library after the fourth of six steps, one past a checkpoint, and goes on by the command.
func (c *trial) resume(dir string) {
	ctx, stop := context.WithCancel(c.t.Context())
	defer stop()
	run := filepath.Join(dir, "run")
	_, err := c.opened().Train(ctx, run, c.path("data"), experiment.Options{Workers: 1, Progress: func(p experiment.Progress) {
		if p.Stage != "" && p.Done == 4 {
			stop()
		}
	}})
	if err == nil {
		c.t.Fatal("the training was not interrupted")
	}
	c.run(nil, "train", "--resume", run, "--workers", "1")
}

// from begins a run with the parameters of the trial's, by the command and by the library.
func (c *trial) from(dir string) {
	c.run(nil, append([]string{"train", c.spec, "--method", c.method, "--data", c.path("data"), "--from", c.path("run"), "--out", filepath.Join(dir, "run"), "--workers", "1"}, flags(c.ofData, c.further)...)...)
	c.own.use(c, filepath.Join(dir, "run"), dir)
	other := filepath.Join(dir, "library")
	if err := os.Mkdir(other, 0o777); err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.opened().TrainFrom(c.t.Context(), c.path("run"), filepath.Join(other, "run"), c.path("data"), experiment.Options{Workers: 1}); err != nil {
		c.t.Fatal(err)
	}
	c.useByLibrary(filepath.Join(other, "run"), other)
}

// compareFrom compares the two, and requires that they are not the run that begins at random.
func (c *trial) compareFrom(dir string) {
	t, run, other := c.t, filepath.Join(dir, "run"), filepath.Join(dir, "library")
	_, all := losses(t, run)
	_, allThere := losses(t, filepath.Join(other, "run"))
	found := []string{
		compare(t, "parameters", parameters(t, filepath.Join(other, "run")), parameters(t, run), 0),
		compare(t, "losses", allThere, all, 0),
		compare(t, "predictions", predictions(t, filepath.Join(other, "u.npz")), predictions(t, filepath.Join(dir, "u.npz")), 0),
		compare(t, "scores", scores(t, filepath.Join(other, "scores.json")), scores(t, filepath.Join(dir, "scores.json")), 0),
	}
	if d, _ := difference(parameters(t, run), parameters(t, c.path("run"))); d == 0 {
		t.Error("from: the parameters are those of a run that begins at random")
	}
	c.record(nameOf(c.spec), c.method, "from", found)
}
