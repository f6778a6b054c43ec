package words

import (
	"fmt"
	"strings"
)

// Clip is a text with at most so many characters, and "..." where there were more.
func Clip(text string, most int) string {
	for i := range text {
		if most--; most < 0 {
			return text[:i] + "..."
		}
	}
	return text
}

// MostListed is how many of many a message names.
const MostListed = 10

// List joins names by commas, at most ten of them, and counts the others.
func List(names []string) string { return ListBy(", ", names) }

// ListBy is List with something else between the names.
func ListBy(between string, names []string) string {
	shown, more := Most(names)
	if more > 0 {
		shown = append(shown, fmt.Sprintf("and %s more", Count(more)))
	}
	return strings.Join(shown, between)
}

// Most is the first ten of many, and how many others there are; all of them where there is one more.
func Most[T any](many []T) (shown []T, more int) {
	if more = len(many) - MostListed; more <= 1 {
		return many, 0
	}
	return many[:MostListed:MostListed], more
}
