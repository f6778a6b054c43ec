package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"pihc/experiment"
	"pihc/internal/config"
	"pihc/internal/discrete"
	"pihc/model"
	"pihc/pde"
	"pihc/train"
)

// usagef is an error for a command line that makes no sense: exit status 2.
func usagef(format string, args ...any) error {
	return &experiment.UsageError{Err: fmt.Errorf(format, args...)}
}

const (
	statusFailure     = 1
	statusUsage       = 2
	statusInterrupted = 130
)

func exitStatus(err error) int {
	var usage *experiment.UsageError
	var mistakes config.Errors
	badKey := func(p *config.Mistake) bool { return p.BadKey() }
	switch {
	case errors.As(err, &usage) || errors.As(err, &mistakes) && slices.ContainsFunc(mistakes, badKey):
		return statusUsage
	case interrupted(err):
		return statusInterrupted
	}
	return statusFailure
}

func interrupted(err error) bool {
	return errors.Is(err, train.ErrInterrupted) || errors.Is(err, context.Canceled)
}

// printError writes "pihc: what failed: why", then "hint: what to do" where
// there is something to do. Mistakes in a YAML file keep their own form, each
// with its line, a caret and its hint.
func printError(w io.Writer, command *cobra.Command, err error) {
	what := "pihc"
	if command != nil && command.HasParent() {
		what += ": " + command.Name()
	}
	var mistakes config.Errors
	if errors.As(err, &mistakes) {
		if len(mistakes) > 1 {
			fmt.Fprintf(w, "%s: %d mistakes\n", what, len(mistakes))
		} else {
			fmt.Fprintf(w, "%s: ", what)
		}
		fmt.Fprintln(w, mistakes.Error())
		return
	}
	why := err.Error()
	if errors.Is(err, context.Canceled) {
		why = "interrupted"
	}
	fmt.Fprintf(w, "%s: %s\n", what, strings.ReplaceAll(why, "\n", "; "))
	if hint := hintOf(command, err); hint != "" {
		fmt.Fprintf(w, "hint: %s\n", hint)
	}
}

// hintOf returns the advice an error carries, or what is known for its type.
func hintOf(command *cobra.Command, err error) string {
	var (
		usage   *experiment.UsageError
		advised interface {
			error
			Hint() string
		}
	)
	switch {
	case errors.As(err, &advised):
		return advised.Hint()
	case errors.Is(err, discrete.ErrNotConverged):
		return "does a solution exist, up to that time, within what the expressions are defined for? If so more points, or a finer `reference: {solver: discrete, refine: ...}`"
	case errors.Is(err, discrete.ErrTooLarge):
		return "fewer points, or a coarser `reference: {solver: discrete, refine: ...}`, or as many rows as values: a first axis of time is marched along, in smaller systems"
	case errors.As(err, &usage):
		return fmt.Sprintf("see `%s --help`", command.CommandPath())
	case errors.Is(err, train.ErrNotFinite):
		return "a smaller training.learning_rate.initial, or a look at the weights of the rows with `pihc check`"
	case noSuchYAML(err) && command != nil && slices.Contains([]string{"solve", "invert"}, command.Name()):
		return "`pihc init` writes a PDE file to begin with; built-in problems go by their names: " + strings.Join(pde.Builtins(), ", ")
	case noSuchYAML(err):
		return "`pihc init` writes a spec and a PDE file to begin with; built-in specs go by their names: " + strings.Join(model.BuiltinSpecs(), ", ")
	case unwritable(err) && strings.HasPrefix(err.Error(), "lock "):
		return "it needs the right to write there; a copy of the folder will do"
	case unwritable(err):
		return "choose a folder that can be written to, with --out"
	case noSpace(err) != "":
		return noSpace(err) + "; the same command again starts anew, or continues what was begun"
	case errors.Is(err, context.Canceled) && command != nil && slices.Contains([]string{"generate", "reproduce"}, command.Name()):
		return "the same command again continues what was begun"
	}
	return ""
}

// noSuchYAML reports whether a spec or a PDE file that was to be read is not there.
func noSuchYAML(err error) bool {
	var at *fs.PathError
	return errors.As(err, &at) && at.Op == "open" && errors.Is(at, fs.ErrNotExist) && pde.IsPath(at.Path) && slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(at.Path))
}

// unwritable reports whether a file or folder could not be made where it was asked for.
func unwritable(err error) bool {
	reasons := []error{fs.ErrPermission, fs.ErrNotExist, syscall.EROFS, syscall.ENOTDIR, syscall.EISDIR}
	if !slices.ContainsFunc(reasons, func(r error) bool { return errors.Is(err, r) }) {
		return false
	}
	for ; err != nil; err = errors.Unwrap(err) {
		for _, action := range []string{"write ", "create ", "mkdir ", "lock "} {
			if strings.HasPrefix(err.Error(), action) {
				return true
			}
		}
	}
	return false
}

// noSpace is what to do about a file that could not be written for want of space, ""
// about other errors.
func noSpace(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "the disk is full: free some space"
	case errors.Is(err, syscall.EDQUOT):
		return "this user's share of the disk is used up: free some space"
	case errors.Is(err, syscall.EFBIG):
		return "files may not be this large here: raise the limit of the shell (ulimit -f), or choose another file system"
	}
	return ""
}
