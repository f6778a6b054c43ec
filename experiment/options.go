package experiment

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"runtime"

	"pihc/dist"
	"pihc/engine"
	"pihc/internal/dataset"
	"pihc/internal/kernel"
	"pihc/internal/machine"
	"pihc/model"
	"pihc/pde"
	"pihc/xla"
)

func init() { engine.Register("xla", xla.Constructors()) }

// Options say what works on a task and who is told of it. The zero value works with engine cpu on all cores of this
// process, silently.
type Options struct {
	Engine   string         // "" is cpu
	Plugin   string         // of engine xla: path of a PJRT plugin
	Workers  int            // threads, 0 for all cores; results do not depend on it
	Comm     dist.Comm      // processes that share the work and make all calls together; nil: this one alone
	Slabs    int            // processes that share the grid of a sample; 0 is 1
	Progress func(Progress) // one call at a time, though not always from one goroutine; nil: nobody is told
	Logger   *slog.Logger   // nil: no log
	Events   string         // folder for event files of TensorBoard, of trainings; "": none
}

// Progress is news of a task, in one of three forms: how far a stage is, a line of text, or a warning, which
// the task's result has too.
type Progress struct {
	Stage       string // what is being done; "" for the other two
	Done, Total int
	Note        string // beside the numbers
	Line        bool   // the note is worth a line of its own
	Ended       bool   // the stage is over
	Text        string
	Saving      bool // the text says that the stage was interrupted and will end by itself, after a checkpoint
	Warning     string
}

func (o Options) comm() dist.Comm {
	if o.Comm == nil {
		return dist.Alone{}
	}
	return o.Comm
}

// check is an error for numbers that make no sense.
func (o Options) check() error {
	switch {
	case o.Workers < 0:
		return usagef("--workers %d: want a number of threads, or 0 for all cores", o.Workers)
	case o.Slabs < 0:
		return usagef("--slabs %d: want a number of processes", o.Slabs)
	}
	return nil
}

// writes reports whether this process writes files and speaks.
func (o Options) writes() bool { return o.comm().Rank() == 0 }

func (o Options) tell(p Progress) {
	if o.Progress != nil {
		o.Progress(p)
	}
}

func (o Options) say(format string, args ...any) {
	o.tell(Progress{Text: fmt.Sprintf(format, args...)})
}

// warn tells of a warning, and adds it to those of a result.
func (o Options) warn(to *[]string, format string, args ...any) {
	if !o.writes() {
		return
	}
	text := fmt.Sprintf(format, args...)
	if to != nil {
		*to = append(*to, text)
	}
	o.tell(Progress{Warning: text})
}

// A Stage tells of one part of a task.
type Stage struct {
	o     Options
	state Progress
}

// Stage begins a part of a task that has so many steps.
func (o Options) Stage(title string, total int) *Stage {
	s := &Stage{o, Progress{Stage: title, Total: total}}
	o.tell(s.state)
	return s
}

// Set tells that so many steps are done, with a note.
func (s *Stage) Set(done int, note string) {
	s.state.Done, s.state.Note = done, note
	s.o.tell(s.state)
}

// of tells that so many steps of as many are done.
func (s *Stage) of(done, total int) {
	s.state.Total = total
	s.Set(done, "")
}

// Line tells it once more, as worth a line of its own.
func (s *Stage) Line() {
	now := s.state
	now.Line = true
	s.o.tell(now)
}

// End ends the stage, once.
func (s *Stage) End() {
	if !s.state.Ended {
		s.state.Ended = true
		s.o.tell(s.state)
	}
}

// engine adds what the options say to those of an engine.
func (o Options) engine(e engine.Options) engine.Options {
	e.Name, e.Plugin = o.Engine, o.Plugin
	return e
}

// threads is the number of threads.
func (o Options) threads() int { return cmp.Or(o.Workers, runtime.GOMAXPROCS(0)) }

// Agree refuses processes of another build, with vectors of another width, or that would work on something else than
// the first: pairs of a name and a value.
func (o Options) Agree(spec *model.Spec, p *pde.Problem, further ...[2]string) error {
	if o.comm().Size() == 1 {
		return nil
	}
	encoded, err := spec.Encode()
	if err != nil {
		return err
	}
	return dist.Agree(o.Comm, append(further, [2]string{"spec", fmt.Sprintf("%x", sha256.Sum256(encoded))}, [2]string{"PDE file", dataset.ProblemHash(p)},
		[2]string{"vector width", fmt.Sprint(kernel.Width())}, [2]string{"build", machine.Version()})...)
}

// While visits predictions, tells of each, and stops when ctx ends. A nil each visits nothing.
func (s *Stage) While(ctx context.Context, each func(i int, p *engine.Prediction) error) func(i int, p *engine.Prediction) error {
	return func(i int, p *engine.Prediction) error {
		s.Set(i+1, "")
		if err := ctx.Err(); err != nil || each == nil {
			return err
		}
		return each(i, p)
	}
}
