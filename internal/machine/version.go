package machine

import (
	"fmt"
	"runtime/debug"
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
