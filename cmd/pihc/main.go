// Command pihc trains neural operators on a PDE in the place of its solutions, and
// scores them against reference solutions. `pihc help` lists what it does.
package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"pihc/dist"
	"pihc/internal/kernel"
)

func main() {
	s := streams{Out: os.Stdout, Err: os.Stderr, terminal: term.IsTerminal(int(os.Stderr.Fd()))}
	comm, status := run(heed(s.Err), os.Args[1:], s)
	comm.Exit(status)
}

// streams are where a command writes: results to Out, everything else to Err.
type streams struct {
	Out, Err io.Writer
	terminal bool // Err is one
}

// app is what all commands share.
type app struct {
	streams
	console *console
	log     *slog.Logger
	quiet   bool
	verbose bool
	mpi     string    // path of the MPI library; "off": no other processes
	slabs   int       // of each grid, one a process
	comm    dist.Comm // of the processes that work on this command
	threads int       // for this process, 0 for all cores
	about   string    // what warnings begin with after the program's name
	signals *interruption
	stage   *meter // of the task that is told of, nil: none
}

// run executes one command line and returns its exit status: 0, 1 for a
// failure, 2 for wrong usage, 128 and the signal's number when interrupted. The process ends by dist.Comm.Exit.
func run(signals *interruption, args []string, s streams) (dist.Comm, int) {
	a := &app{streams: s, comm: dist.Alone{}, signals: signals}
	a.console = &console{out: patientWriter{s.Err, signals.Done()}, bars: s.Err}
	a.Err = a.console
	a.log = slog.New(slog.NewTextHandler(a.console, &slog.HandlerOptions{Level: &signals.level}))
	root := newRoot(a)
	root.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		signals.command.Store(c)
		if a.verbose {
			signals.level.Set(slog.LevelDebug)
		}
		if f := c.Flags().Lookup("workers"); f != nil && strings.HasPrefix(f.Value.String(), "-") {
			return usagef("--workers %s: want a positive number, or 0 for all cores", f.Value)
		}
		if err := a.join(c, args); err != nil {
			return err
		}
		signals.comm.Store(&a.comm)
		if advice := kernel.Advice(); advice != "" && !a.quiet {
			fmt.Fprintln(a.Err, "pihc:", advice)
		}
		c.SetContext(a.interrupted(c.Context()))
		return nil
	}
	root.SetArgs(args)
	help := &checkedWriter{w: s.Out}
	root.SetOut(help)
	root.SetErr(a.console)
	command, err := root.ExecuteContextC(signals)
	if err == nil {
		err = help.err
	}
	signals.leave()
	return a.comm, a.leave(err, func(err error) { printError(a.console, command, err) })
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "pihc",
		Short: "Train neural operators under physics-informed hard constraints",
		Long: `pihc trains neural operators on a PDE in the place of its solutions: a network
proposes basis functions, and a differentiable least-squares solve, split among
experts by domain decomposition, combines them so as to lower the residual of the
PDE as far as the basis allows. Three methods stand side by side:

  soft   PI-SC      a penalty in the loss; the network outputs u itself
  hard   PI-HC      one least-squares solve over the whole domain
  moe    PI-HC-MoE  one solve per subdomain ("expert"), same network

Training sees initial conditions and the equation, and no solution, but for a control
that asks for them (loss.data). Reference solutions, of a classical solver or of the
PDE file's own rows on a finer grid, are for scores alone.

An experiment is one YAML file, the spec. SPEC is the path of such a file or the
name of one that comes with pihc, such as diffusion-sorption-demo.

Results go to standard output, progress and logs to standard error. The exit
status is 0, 1 for a failure, 2 for wrong usage, and 128 and the number of the signal
when interrupted: 130 by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP, 131 by SIGQUIT.`,
		Example: `  # everything at once: data, three trainings, scores, report
  pihc reproduce diffusion-sorption --scale demo

  # the same step by step
  pihc generate diffusion-sorption-demo --out data
  pihc train diffusion-sorption-demo --method moe --data data --out runs/moe
  pihc eval runs/moe
  pihc report runs/moe --out report.html`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			return unknownCommand(c, args[0])
		},
	}
	root.SetFlagErrorFunc(flagError)
	flags := root.PersistentFlags()
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "no progress on standard error")
	flags.StringVar(&a.mpi, "mpi", os.Getenv("PIHC_MPI"), "MPI library that joins the processes of mpirun or srun; off: none (default the system's, or $PIHC_MPI)")
	flags.IntVar(&a.slabs, "slabs", 1, "processes of mpirun or srun that share the grid of each sample, divided along its first axis")
	flags.BoolVarP(&a.verbose, "verbose", "v", false, "log what is done on standard error")
	root.AddCommand(
		newInit(a), newGenerate(a), newImport(a), newTrain(a), newEval(a), newPredict(a), newSolve(a), newInvert(a), newReport(a), newReproduce(a),
		newCheck(a), newBench(a), newServe(a),
		newVersion(a),
	)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("")
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Example = "  pihc help train"
			c.Run, c.RunE = nil, func(_ *cobra.Command, args []string) error { return helpFor(root, args) }
		case "completion":
			c.Example = "  source <(pihc completion bash)"
			c.Args, c.RunE = cobra.ArbitraryArgs, func(c *cobra.Command, args []string) error {
				if len(args) == 0 {
					return c.Help()
				}
				return usagef("no completion for %q; there is one for bash, fish, powershell, zsh", args[0])
			}
		}
	}
	return root
}

// helpFor prints the help of the command that args name.
func helpFor(root *cobra.Command, args []string) error {
	c, rest, err := root.Find(args)
	if err != nil {
		return usagef("%w", err)
	}
	if len(rest) > 0 {
		return root.RunE(root, rest) // the error for an unknown command
	}
	c.InitDefaultHelpFlag()
	return c.Help()
}

// positional requires between least and most arguments, most < 0 for any
// number; names is what they are, as in the usage line.
func positional(names string, least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		if len(args) < least {
			return usagef("%s missing", names)
		}
		return usagef("unexpected argument %q", args[most])
	}
}
