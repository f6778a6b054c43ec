package experiment

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"pihc/internal/kernel"
)

// Version is the module version of this program, or the revision it was built from.
func Version() string {
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

// Machine is the number of cores and the width of the vectors.
func Machine() string {
	cores := runtime.GOMAXPROCS(0)
	plural := "s"
	if cores == 1 {
		plural = ""
	}
	return fmt.Sprintf("%d core%s, %s", cores, plural, kernel.Description())
}
