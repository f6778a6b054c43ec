// Package experiment is what one holds to work with pihc: an experiment that is opened, its dataset, its training, and the
// run that comes of it, which predicts and is scored. The command pihc is flags and words around this package, and both give
// the same bytes.
//
//	x, err := experiment.Open("diffusion-sorption-demo", "training.steps=200") // a spec, and values of its keys
//	_, err = x.Generate(ctx, "data", experiment.Options{})                     // initial conditions; solutions to score with
//	run, err := x.Train(ctx, "runs/moe", "data", experiment.Options{})         // a run folder; Resume goes on with it
//	run, err = experiment.OpenRun("runs/moe")                                  // later, elsewhere
//	p, err := run.Predict(ctx, inputs, experiment.PredictOptions{})            // fields for inputs, with warnings
//	m, err := run.Score(ctx, experiment.ScoreOptions{})                        // against the solutions of the dataset
//	c, err := run.Compare(ctx, []*experiment.Run{other}, experiment.CompareOptions{})          // the page of a report
//
// [Size] begins an experiment on an equation of one's own: from a PDE file it makes a spec whose sizes suit the machine.
// [Experiment.Check] examines one: whether the rows determine the unknown, whether the gradient is right, and what the
// discretisation costs.
//
// A spec says everything about an experiment, in one YAML file; docs/reference/spec-files.md has its keys, and docs/reference/pde-files.md those of
// the PDE file that it names. Opening applies all of it, constants and defaults that follow from the problem too, and
// a run is used as the block evaluation of its spec says, unless an [Evaluation] says otherwise.
//
// # Inputs
//
// The inputs of a sample are one slice: those of [pihc/pde.Problem.Inputs] one after another, each row-major on the points of
// its axes; of most problems the initial condition alone, (x[, y]). [ReadInputs] reads them from a file. To make one's own:
//
//	g, err := run.Grid(experiment.Evaluation{})       // the grid of training
//	in := run.Problem.PlaceInputs(g)[0]               // the first input; InputSize(g) values are a sample
//	x := in.Space[0].Coordinates()                    // where its values are; centres of cells, or points, as the axis says
//
// Fields are row-major, (t, x[, y]), time slowest.
//
// # Long work
//
// Generate, Train, Predict and Score end with an error soon after their context is done, and leave nothing half
// written: the same call again, or Resume, goes on. The error is context.Canceled, of a training train.ErrInterrupted. [Options] name the engine, threads and processes, and
// a callback for [Progress]. Results have their warnings as data. Errors say what is wrong and where; those that something
// can be done about have a method Hint() string. Both name the flags of the command, which are the fields of options:
// --set an override, --out a folder. Some requests that make no sense whatever the files hold are a [*UsageError], with which
// the command exits with status 2.
//
// # Builds
//
// Build with GOEXPERIMENT=simd: without it all works, several times slower, and rounds otherwise, so that a short training
// may differ in every digit. Same spec, dataset, build and width of vectors give the same bits.
package experiment
