package model

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pihc/internal/config"
	"pihc/internal/words"
)

// A reading says which commands read a key of a spec and those below it, but for those that have
// readings of their own. The parts of bench go by their names.
type reading struct {
	key, commands string
	unless        func(*Spec) string // why such a spec has no use for it, "" if it has; nil: each has
}

const (
	commandsOfSpecs = "generate train network constraint solver step"
	commandsOfRuns  = "train eval predict step"
)

// readings has every key. What `pihc train` reads includes what it hands on to other commands in
// the spec of the run, and what it compares with the dataset. `pihc check` and `pihc reproduce` read all.
var readings = []reading{
	{"defaults", commandsOfSpecs, nil},
	{"problem", commandsOfSpecs, nil},
	{"constants", commandsOfSpecs, nil},
	{"grid", commandsOfSpecs, nil},
	{"rollout", "train step", nil},
	{"rollout", "generate", noGrids},
	{"method", "train eval predict", nil},
	{"method", "generate", noGrids},
	{"seed", "train step", nil},
	{"paper", "train", nil}, // for a report

	{"network", "train network constraint step", nil},
	{"network", "generate", noGrids},
	{"network.basis", "train constraint network step", noSolves},
	{"network.matmul", "train eval predict", nil},
	{"network.passes", commandsOfRuns, nil},

	{"constraint", commandsOfRuns + " constraint", noSolves},
	{"constraint.experts", commandsOfRuns, noExperts},
	{"constraint.experts", "generate", noGrids},
	{"constraint.router", commandsOfRuns, noExperts},
	{"constraint.router", "generate", noGrids},
	{"constraint.condition_rows", commandsOfRuns, noExperts},
	{"constraint.overlap.start", "train step", noExperts},
	{"constraint.overlap.end", commandsOfRuns, noExperts},
	{"constraint.overlap.from", "train", noExperts},
	{"constraint.overlap.to", "train", noExperts},
	{"constraint.soft_weight", commandsOfRuns, noUnitOfWeights},
	{"constraint.tolerance", commandsOfRuns, noSolves},
	{"constraint.cost_tolerance", commandsOfRuns, noSolves},
	{"constraint.max_iterations", commandsOfRuns, noSolves},
	{"constraint.directions", "train step", noDirections},
	{"constraint.directions", "eval predict", noDirectionsHere},
	{"constraint.adjoint", "train step", noSolves},

	{"loss", "train eval step", nil},
	{"loss", "predict", noAuto},
	{"loss.relative", "train step", nil},
	{"loss.border_jump", "train step", noExperts},
	{"loss.border_jump", "eval predict", noAutoExperts},
	{"loss.border_slope", "train step", noExperts},
	{"loss.border_slope", "eval predict", noAutoExperts},
	{"loss.border_rows.start", "train step", noExperts},
	{"loss.border_rows.end", "train step", noExperts},
	{"loss.border_rows.end", "eval predict", noAutoExperts},
	{"loss.border_rows.from", "train", noExperts},
	{"loss.border_rows.to", "train", noExperts},
	{"loss.data", "generate train", nil},

	{"training", "train", nil},
	{"training.batch", "train step", nil},
	{"training.micro_batch", commandsOfRuns, nil},
	{"training.stages", "train", nil},
	{"training.stages.grid", "train", nil},
	{"training.stages.grid", "eval predict", noAuto},
	{"training.window", "train eval", nil},

	{"data", "generate train", nil},
	{"data.test.seed", "generate train constraint solver step", nil},
	{"data.test.grids", "generate train eval", nil},

	{"evaluation.passes", "train eval predict", nil},
	{"evaluation.limit", "train", nil},
	{"evaluation.limit", "eval predict", noAuto},
	{"evaluation.points", "train", nil},
	{"evaluation.points", "eval predict", noSolves},
	{"evaluation.blend", "train", nil},
	{"evaluation.blend", "eval predict", noExperts},
	{"evaluation.directions", "train", nil},
	{"evaluation.directions", "eval predict", noDirectionsHere},
	{"evaluation.newton", "train", nil},
	{"evaluation.newton", "eval predict", noNewton},
}

func noGrids(s *Spec) string {
	return text(len(s.Data.Test.Grids) == 0, "there are no data.test.grids to be checked")
}

func noSolves(s *Spec) string { return text(s.Method == Soft, "method soft solves nothing") }

func noExperts(s *Spec) string { return text(s.Method != MoE, "method "+s.Method+" has no experts") }

func noAuto(s *Spec) string { return text(s.Evaluation.Passes != AutoPasses, "passes are not auto") }

func noAutoExperts(s *Spec) string {
	if why := noExperts(s); why != "" {
		return why
	}
	return noAuto(s)
}

func noDirections(s *Spec) string {
	return text(s.Method == Soft || s.Network.Passes == 1, "only solves of several passes have directions")
}

func noDirectionsHere(s *Spec) string {
	return cmp.Or(noDirections(s), text(s.Evaluation.Passes == 1, "there is one pass"))
}

func noNewton(s *Spec) string { return cmp.Or(noDirections(s), noAuto(s)) }

func noUnitOfWeights(s *Spec) string {
	several := noDirections(s) == "" && (s.Constraint.Directions > 0 || s.Evaluation.Newton || s.Evaluation.Directions != nil && *s.Evaluation.Directions > 0)
	return text(s.Method != Soft && !several, "method "+s.Method+" has no directions here")
}

func text(when bool, why string) string {
	if when {
		return why
	}
	return ""
}

// CheckRead is an error, with a hint, for an override that a command does not read, of a key or of
// several in braces: its result would be the same without. Commands are generate, train, eval, predict, and the parts of
// bench: network, constraint, solver, step. Evaluation.Passes of the spec are those of the evaluation.
func (s *Spec) CheckRead(command, override string) error {
	for _, key := range overridden(override) {
		why, by := s.unread(command, key)
		if why == "" {
			continue
		}
		name := command
		if slices.Contains([]string{"network", "constraint", "solver", "step"}, command) {
			name = "bench " + command
		}
		err := fmt.Errorf("--set %s: %s does not read %s", override, name, key)
		if slices.Contains(by, command) {
			return words.WithHint(fmt.Errorf("%w: %s", err, why), "without it the result is the same")
		}
		for i, c := range by {
			by[i] = "`pihc " + c + "`"
		}
		switch hint := strings.Join(by, " and "); {
		case strings.HasPrefix(key, "data") && strings.Contains(commandsOfRuns, command):
			return words.WithHint(err, "%s read it; --data DIR scores a run on another dataset", hint)
		case len(by) > 1:
			return words.WithHint(err, "%s read it", hint)
		case len(by) == 1:
			return words.WithHint(err, "%s reads it", hint)
		}
		return words.WithHint(err, "nothing reads it")
	}
	return nil
}

// CheckBlock is an error, with a hint, for an override that replaces a block of a stored spec: all that the run has below it would go.
// evaluation={} is none: it asks for an evaluation as trained.
func CheckBlock(override string) error {
	key, value, _ := strings.Cut(override, "=")
	if override == "evaluation={}" || key == "training.stages" || !slices.ContainsFunc(readings, func(r reading) bool { return strings.HasPrefix(r.key, key+".") }) {
		return nil
	}
	first := "KEY"
	if d, err := config.Parse("", []byte(value)); err == nil && len(d.Root().Keys()) > 0 {
		first = d.Root().Keys()[0]
	}
	return words.WithHint(fmt.Errorf("--set %s: it would take away all else that the run has below %s", override, key), "set its keys one by one, as in --set %s.%s=...", key, first)
}

// unread says why a command does not read a key in a spec, "" if it does, and which do in some.
func (s *Spec) unread(command, key string) (why string, by []string) {
	best := 0
	for _, r := range readings {
		if r.has(key) {
			best = max(best, len(r.key))
		}
	}
	why = "not at all"
	for _, r := range readings {
		if !(strings.HasPrefix(r.key, key+".") || r.has(key) && len(r.key) == best) {
			continue
		}
		for c := range strings.FieldsSeq(r.commands) {
			if c != command {
				if slices.Contains([]string{"generate", "train", "eval", "predict"}, c) && !slices.Contains(by, c) {
					by = append(by, c)
				}
				continue
			}
			by = append(by, c)
			if r.unless == nil || r.unless(s) == "" {
				return "", by
			}
			why = r.unless(s)
		}
	}
	return why, by
}

// has reports whether a key is that of the reading, or below it.
func (r *reading) has(key string) bool { return key == r.key || strings.HasPrefix(key, r.key+".") }

// overridden are the keys that an override sets, those of mappings apart, without the numbers of elements of lists.
func overridden(override string) []string {
	path, value, _ := strings.Cut(override, "=")
	segments := slices.DeleteFunc(strings.Split(path, "."), func(s string) bool { _, err := strconv.Atoi(s); return err == nil })
	key := strings.Join(segments, ".")
	d, err := config.Parse("", []byte(value))
	if err != nil {
		return []string{key}
	}
	return keysBelow(key, d.Root())
}

func keysBelow(key string, n config.Node) (keys []string) {
	if !n.IsMapping() || len(n.Keys()) == 0 {
		return []string{key}
	}
	for _, name := range n.Keys() {
		value, _ := n.Lookup(name)
		keys = append(keys, keysBelow(key+"."+name, value)...)
	}
	return keys
}
