package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pihc/internal/words"
	"pihc/model"
)

// CheckRead is an error for an override that a command does not read, in any of several variants of the experiment where
// there are some: its result would be the same without. Commands are those of [model.Spec.CheckRead]. An
// experiment is of all commands, so neither Open nor the methods call it, but Train, which warns.
func (x *Experiment) CheckRead(command string, variants ...*Experiment) error {
	for _, err := range x.unread(command, variants...) {
		return &UsageError{err}
	}
	return nil
}

// unread says of every override that a command does not read it.
func (x *Experiment) unread(command string, variants ...*Experiment) (all []error) {
	if len(variants) == 0 {
		variants = []*Experiment{x}
	}
	for _, override := range x.overrides {
		var first error
		read := func(v *Experiment) bool {
			err := v.Spec.CheckRead(command, override)
			first = cmp.Or(first, err)
			return err == nil
		}
		if !slices.ContainsFunc(variants, read) && !x.changesOthers(override) {
			all = append(all, first)
		}
	}
	return all
}

// changesOthers reports whether an override changes other keys than its own: a method has its own values in some files.
func (x *Experiment) changesOthers(override string) bool {
	if !strings.HasPrefix(override, "method=") {
		return false
	}
	without, err := model.OpenSpec(x.name, slices.DeleteFunc(slices.Clone(x.overrides), func(s string) bool { return strings.HasPrefix(s, "method=") })...)
	with, failed := model.OpenSpec(x.name, x.overrides...)
	if err != nil || failed != nil {
		return true
	}
	without.Method = with.Method
	one, err := without.Encode()
	two, failed := with.Encode()
	return err != nil || failed != nil || string(one) != string(two)
}

// lasting are the overrides that no later one replaces.
func lasting(overrides []string) []string {
	var out []string
	for i, s := range overrides {
		key, _, _ := strings.Cut(s, "=")
		replaced := slices.ContainsFunc(overrides[i+1:], func(later string) bool {
			by, _, _ := strings.Cut(later, "=")
			return by == key || strings.HasPrefix(key, by+".")
		})
		if !replaced {
			out = append(out, s)
		}
	}
	return out
}

// checkOverrides is an error for an override that no use of a run reads.
func (r *Run) checkOverrides() error {
	for _, override := range r.overrides {
		s := *r.Spec
		s.Evaluation.Passes = model.AutoPasses // which options may still say
		if err := s.CheckRead("eval", override); err != nil && s.CheckRead("predict", override) != nil {
			return &UsageError{err}
		}
	}
	return nil
}

// checkRead is an error for options, and for overrides, that have no effect on an evaluation: eval, predict, or "" for either.
func (r *Run) checkRead(command string, e *Evaluation) error {
	if err := e.check(r); err != nil {
		return err
	}
	s := *r.Spec
	s.Evaluation = e.evaluation(r.Spec)
	s.Evaluation.Passes = e.passes(r.Spec)
	for _, override := range r.overrides {
		if err := s.CheckRead(cmp.Or(command, "eval"), override); err != nil && (command != "" || s.CheckRead("predict", override) != nil) {
			return &UsageError{err}
		}
		key, _, _ := strings.Cut(override, "=")
		if by := e.replaces(r.Spec, key); by != "" {
			return words.WithHint(usagef("--set %s: %s takes its place", override, by), "without it the result is the same")
		}
	}
	return nil
}

// replaces says what takes the place of a key in an evaluation, "" if it holds.
func (e *Evaluation) replaces(spec *model.Spec, key string) string {
	said := e.evaluation(spec)
	switch {
	case e.AsTrained && strings.HasPrefix(key, "evaluation."):
		return "an evaluation as trained"
	case e.Points != nil && (key == "constraint.points" || key == "evaluation.points"):
		return fmt.Sprintf("--points %d", *e.Points)
	case said.Points != nil && key == "constraint.points":
		return fmt.Sprintf("evaluation.points %d", *said.Points)
	case said.Directions != nil && key == "constraint.directions":
		return fmt.Sprintf("evaluation.directions %d", *said.Directions)
	case e.Tolerance > 0 && key == "constraint.tolerance":
		return fmt.Sprintf("--tolerance %g", e.Tolerance)
	case e.Passes != 0 && (key == "evaluation.passes" || key == "network.passes"):
		return "--passes " + e.Passes.String()
	case said.Passes != 0 && key == "network.passes":
		return "evaluation.passes " + said.Passes.String()
	}
	return ""
}

// check is an error for options that the run has no use for.
func (e *Evaluation) check(r *Run) error {
	if err := e.Options.check(); err != nil {
		return err
	}
	passes := e.passes(r.Spec)
	switch {
	case e.Points != nil && *e.Points < 0:
		return usagef("--points %d: want a number of rows, or 0 for all", *e.Points)
	case e.Tolerance != 0 && !(e.Tolerance > 0 && e.Tolerance < 1):
		return usagef("--tolerance %g: want a positive number below 1, as it bounds a cosine", e.Tolerance)
	case e.Passes < model.AutoPasses:
		return usagef("--passes %d: want a positive number, or auto", int(e.Passes))
	case r.Spec.Method == model.Soft && e.Points != nil:
		return usagef("--points %d: method soft solves nothing, and has no rows to sample", *e.Points)
	case r.Spec.Method == model.Soft && e.Tolerance > 0:
		return usagef("--tolerance %g: method soft solves nothing", e.Tolerance)
	case r.Spec.Network.Passes == 1 && passes == model.AutoPasses, r.Spec.Network.Passes == 1 && passes > 1:
		return words.WithHint(fmt.Errorf("--passes %v: run %s was trained with one pass, and its network corrects no field", passes, r.Dir), "network.passes and network.features of the spec make one that does")
	case e.Residual != 0 && !(e.Residual > 0 && passes == model.AutoPasses):
		return words.WithHint(usagef("--residual %g: want a positive number, with --passes auto", e.Residual), "only passes that are repeated as long as it takes end at a residual")
	}
	return nil
}
