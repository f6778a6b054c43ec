package model

import (
	"embed"
	"fmt"
	"path"
	"strings"

	"pihc/internal/disk"
	"pihc/internal/words"
)

//go:embed specs/*.yaml
var specs embed.FS

// BuiltinSpecs returns the names of the specs that come with pihc.
func BuiltinSpecs() []string {
	entries, err := specs.ReadDir("specs")
	if err != nil {
		panic("model: no built-in specs: " + err.Error())
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// readSpec reads the text of the spec called name, and the name of its file.
func readSpec(name string) (file string, src []byte, err error) {
	if strings.ContainsAny(name, "/\\") || strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		src, err = disk.ReadFile(name)
		return name, src, err
	}
	if src, err = specs.ReadFile(path.Join("specs", name+".yaml")); err != nil {
		err = fmt.Errorf("spec %q: no such built-in spec; there are %s (or give the path of a spec file)", name, strings.Join(BuiltinSpecs(), ", "))
		if meant := disk.Meant(name, "spec.yaml"); meant != "" {
			err = words.WithHint(err, "did you mean %s?", meant)
		}
	}
	return name + ".yaml", src, err
}

// OpenSpec reads the spec called name: a built-in one, or the path of a file
// (anything with a slash or ending in .yaml or .yml).
func OpenSpec(name string, overrides ...string) (*Spec, error) {
	file, src, err := readSpec(name)
	if err != nil {
		return nil, err
	}
	return LoadSpec(file, src, overrides...)
}
