//go:build !(faults && unix)

package disk

import "os"

// Inject is where a build with the tag faults fails or ends the process, for
// tools/stress: before an operation on a file.
func Inject(string, string) error { return nil }

// writeFile writes to a file.
func writeFile(f *os.File, p []byte) (int, error) { return f.Write(p) }
