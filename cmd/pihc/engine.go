package main

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pihc/engine"
	"pihc/experiment"
	"pihc/internal/pjrt"
)

// engineFlags say which engine a command works with. No other engine takes the place
// of one that cannot run.
type engineFlags struct {
	name, plugin string
	flags        *pflag.FlagSet
}

func (f *engineFlags) add(c *cobra.Command) {
	f.flags = c.Flags()
	f.flags.StringVar(&f.name, "engine", "", "what evaluates networks and solves: cpu, or xla with a plugin (default cpu)")
	pluginFlag(c, &f.plugin)
}

func pluginFlag(c *cobra.Command, dst *string) {
	c.Flags().StringVar(dst, "plugin", os.Getenv("PIHC_PJRT"), "PJRT plugin of engine xla, a shared library (default $PIHC_PJRT)")
}

// check reports engines that are not there, and flags that contradict each other.
func (f *engineFlags) check() error {
	if names := engine.Names(); f.name != "" && !slices.Contains(names, f.name) {
		return usagef("--engine %s: there is no such engine: want %s", f.name, strings.Join(names, ", "))
	}
	if f.flags != nil && f.flags.Changed("plugin") && f.name != "xla" {
		return usagef("--plugin %s without --engine xla: no other engine has plugins", f.plugin)
	}
	return nil
}

// options adds the engine.
func (f *engineFlags) options(o experiment.Options) experiment.Options {
	o.Engine = f.name
	if f.name == "xla" { // others have none, whatever $PIHC_PJRT says
		o.Plugin = f.plugin
	}
	return o
}

// logEngine says what the engine is, beside everything else that --verbose tells.
func (a *app) logEngine(f *engineFlags) {
	if f.name != "xla" {
		return
	}
	if c, err := pjrt.Open(f.plugin); err == nil { // an error is the engine's to tell
		i := c.Info()
		a.log.Info("engine xla", "plugin", i.Path, "sha256", i.SHA256, "platform", i.Platform, "version", i.Version, "devices", i.Devices)
	}
}
