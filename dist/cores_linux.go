package dist

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// binding names the machine and the cores that this process may use.
func binding() ([]byte, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "%s %x", host, set), nil
}
