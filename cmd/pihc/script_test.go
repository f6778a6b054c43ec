package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"pihc/engine"
	"pihc/model"
	"pihc/pde"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"pihc": main, "faulty": faulty, "stuck": stuck})
}

// faulty is pihc with an engine "faulty" whose gradient is 0.12 % too large.
func faulty() {
	engine.Register("faulty", engine.Constructors{
		Float32: func(*model.Spec, *pde.Problem, engine.Options) (engine.Engine[float32], error) {
			return nil, errors.New("float64 only")
		},
		Float64: func(s *model.Spec, p *pde.Problem, o engine.Options) (engine.Engine[float64], error) {
			o.Name = ""
			e, err := engine.New[float64](s, p, o)
			return faultyEngine{e}, err
		},
	})
	main()
}

type faultyEngine struct{ engine.Engine[float64] }

func (e faultyEngine) LossAndGrad(grad, params []float64, b engine.Batch) (engine.Stats, error) {
	own := make([]float64, len(grad))
	st, err := e.Engine.LossAndGrad(own, params, b)
	for i, g := range own {
		grad[i] += 1.0012 * g
	}
	return st, err
}

// TestScripts runs the real main under every script of testdata.
func TestScripts(t *testing.T) {
	// Under nohup, programs inherit that SIGHUP is ignored, but not that it is caught.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status":    statusCommand,
			"waitfor":   waitForCommand,
			"signal":    signalCommand,
			"npy":       npyCommand,
			"npz":       npzCommand,
			"near":      nearCommand,
			"close":     closeCommand,
			"json":      jsonCommand,
			"quotient":  quotientCommand,
			"alter":     alterCommand,
			"cut":       cutCommand,
			"edit":      editCommand,
			"clock":     clockCommand,
			"events":    eventsCommand,
			"killrank":  killrankCommand,
			"terminate": terminateCommand,
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "pjrt":
				return os.Getenv("PIHC_PJRT") != "", nil
			case "numpy", "h5py", "h5netcdf", "xarray", "pyvista", "tensorboard":
				return exec.Command("python3", "-c", "import "+name).Run() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("PLUGIN", os.Getenv("PIHC_PJRT"))
			env.Setenv("PYTHONPATH", os.Getenv("PYTHONPATH"))
			forward, err := os.ReadFile("../../examples/python/forward.py")
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(env.WorkDir, "forward.py"), forward, 0o666); err != nil {
				return err
			}
			// Run folders and datasets that 610a77e and 0f74648 wrote, and files that Python did.
			for _, name := range []string{"version1", "fixture-0f74648", "foreign"} {
				if err := os.CopyFS(filepath.Join(env.WorkDir, name), os.DirFS(filepath.Join("testdata", name))); err != nil {
					return err
				}
			}
			for _, name := range []string{"tiny.yaml", "flow.yaml"} {
				spec, err := os.ReadFile(filepath.Join("testdata", name))
				if err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(env.WorkDir, name), spec, 0o666); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

// status N command args...: runs a command and requires its exit status.
func statusCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// waitfor FILE TEXT: waits until FILE contains TEXT.
func waitForCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: waitfor FILE TEXT")
	}
	path := ts.MkAbs(args[0])
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if content, err := os.ReadFile(path); err == nil && bytes.Contains(content, []byte(args[1])) {
			return
		}
	}
	ts.Fatalf("%s never contained %q", args[0], args[1])
}
