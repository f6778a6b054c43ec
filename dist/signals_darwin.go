//go:build (amd64 || arm64) && !static

package dist

// signalActions is empty here: no raw access to signal handlers.
type signalActions struct{}

func readSignals() signalActions { return signalActions{} }

func (*signalActions) restore() {}
