package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pihc/data"
	"pihc/internal/paper"
	"pihc/internal/words"
	"pihc/pde"
)

// study fills the options of reproduce for a study, and returns the experiment that it
// is on.
func (o *reproduceOptions) study(name string) (paper.Study, string, error) {
	s, ok := paper.Studies[name]
	if !ok {
		if o.problem != "" {
			return s, "", usagef("--problem %s: for %s", o.problem, strings.Join(slices.Sorted(maps.Keys(paper.Studies)), ", "))
		}
		return s, name, nil
	}
	if o.fair || o.onePass || len(o.methods) > 0 {
		return s, "", usagef("%s has its own methods: --fair, --one-pass and --methods do not go with it", name)
	}
	base := cmp.Or(o.problem, s.Problems[0])
	own := pde.IsPath(base)
	switch {
	case own && len(s.Problems) < 2, !own && !slices.Contains(s.Problems, base):
		known := strings.Join(s.Problems, ", ")
		if len(s.Problems) > 1 {
			known += " and spec files (SPEC.yaml)"
		}
		return s, "", usagef("--problem %s: %s is for %s", base, name, known)
	case (len(s.Changes) > 0 || s.Arms) && o.out == "" && !own:
		o.out = filepath.Join("runs", name+"-"+o.scale)
		if base != s.Problems[0] {
			o.out = filepath.Join("runs", name+"-"+base+"-"+o.scale)
		}
	}
	changes := slices.Clone(s.Changes)
	if o.scale == "demo" {
		changes = append(changes, s.Demo[base]...)
	}
	o.methods, o.set = s.Methods, append(changes, o.set...)
	return s, base, nil
}

// measure runs a study and prints its tables.
func (a *app) measure(ctx context.Context, work *paper.Work, dataDir string, asJSON bool, begin time.Time) error {
	var err error
	if work.Set, err = data.Open(dataDir); err != nil {
		return err
	}
	result, page, path, err := work.Measure(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(result)
	}
	for _, t := range page.Tables {
		if _, err := t.WriteTo(a.Out); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(a.Out); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(a.Out, "report: %s\ntotal: %s\n", path, words.Duration(time.Since(begin).Seconds()))
	return err
}
