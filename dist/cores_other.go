//go:build !linux

package dist

import "os"

// binding names the machine; processes are not bound to cores here.
func binding() ([]byte, error) {
	host, err := os.Hostname()
	return []byte(host), err
}
