package disk

import (
	"os"
	"path/filepath"
)

// Meant returns the path that a word may stand for which is no built-in name: that of file in a folder of the name, or of a file of the name;
// "" where there is neither.
func Meant(name, file string) string {
	info, err := os.Stat(name)
	if err != nil {
		return ""
	}
	if !info.IsDir() {
		return "." + string(filepath.Separator) + name
	}
	inside := filepath.Join(name, file)
	if _, err := os.Stat(inside); err != nil {
		return ""
	}
	return inside
}
