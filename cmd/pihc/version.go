package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"pihc/internal/kernel"
)

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version and what the machine offers",
		Long: `version prints the version of pihc, the Go release it was built with, the number
of cores, and the width of the vectors its kernels use on this machine.`,
		Example: "  pihc version",
		Args:    positional("", 0, 0),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.Out, "pihc %s\n%s %s/%s\n%s\n", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH, machineText())
			return err
		},
	}
}

// versionText is the module version, or the revision it was built from.
func versionText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = " with changes"
		}
	}
	if len(revision) > 12 {
		revision = revision[:12]
	}
	version := info.Main.Version
	if version == "" || version == "(devel)" {
		version = "development"
	}
	if revision == "" {
		return version
	}
	return fmt.Sprintf("%s (revision %s%s)", version, revision, dirty)
}

// machineText is the number of cores and the width of the vectors.
func machineText() string {
	cores := runtime.GOMAXPROCS(0)
	plural := "s"
	if cores == 1 {
		plural = ""
	}
	return fmt.Sprintf("%d core%s, %s", cores, plural, kernel.Description())
}
