package machine

import "fmt"

// Busy is what to say where the threads had only a share of the processors' time,
// 0 where the system does not tell: alone on a machine a step gets more than 0.9.
func Busy(share float64) string {
	if share == 0 || share >= 0.8 {
		return ""
	}
	return fmt.Sprintf("the threads had %.0f %% of the time of their processors: the machine is busy, and times and ratios are not its own", 100*share)
}
