package main

import (
	"cmp"
	"embed"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"pihc/internal/kernel"
	"pihc/internal/machine"
	"pihc/internal/pjrt"
)

// licences are the texts by module, licences/MODULE.txt; TestLicences rewrites them.
//
//go:embed licences
var licences embed.FS

func newVersion(a *app) *cobra.Command {
	plugin, withLicences := "", false
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version and what the machine offers",
		Long: `version prints the version of pihc, the Go release it was built with, the number
of cores, and the width of the vectors its kernels use on this machine. With
--plugin it also tells what a plugin of engine xla is, and the devices it finds.
With --licences it prints the licence of pihc and of everything that is linked into it.`,
		Example: "  pihc version\n  pihc version --licences\n  pihc version --plugin plugin.so",
		Args:    positional("", 0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if withLicences {
				return a.printLicences()
			}
			_, err := fmt.Fprintf(a.Out, "pihc %s\n%s %s/%s\n%s\n", machine.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, kernel.Machine())
			if err != nil || !c.Flags().Changed("plugin") {
				return err
			}
			return a.describePlugin(plugin)
		},
	}
	pluginFlag(c, &plugin)
	c.Flags().BoolVar(&withLicences, "licences", false, "print the licences of pihc and of what is linked into it")
	return c
}

// printLicences prints the texts for pihc, Go, the script of report pages, and every
// module of this program. Tests are programs of more modules, which have no text here.
func (a *app) printLicences() error {
	parts := []*debug.Module{{Path: "pihc", Version: machine.Version()}, {Path: "go", Version: runtime.Version()}, {Path: "uplot"}}
	if info, ok := debug.ReadBuildInfo(); ok {
		parts = append(parts, info.Deps...)
	}
	for _, m := range parts {
		text, err := licences.ReadFile("licences/" + m.Path + ".txt")
		if err != nil {
			continue
		}
		if _, err := fmt.Fprintf(a.Out, "---- %s\n\n%s\n", strings.TrimSpace(m.Path+" "+m.Version), text); err != nil {
			return err
		}
	}
	return nil
}

// describePlugin prints what a plugin is, one fact a line.
func (a *app) describePlugin(path string) error {
	client, err := pjrt.Open(path)
	if err != nil {
		return err
	}
	i := client.Info()
	_, err = fmt.Fprintf(a.Out, "plugin %s\nsha256 %s\nPJRT %d.%d, StableHLO %s\nplatform %s: %s\n", i.Path, i.SHA256, i.Major, i.Minor, cmp.Or(i.StableHLO, "unknown"), i.Platform, i.Version)
	for n, d := range i.Devices {
		if err == nil {
			_, err = fmt.Fprintf(a.Out, "device %d: %s\n", n, d)
		}
	}
	return err
}
