package words

import "fmt"

// hintError carries advice.
type hintError struct {
	err  error
	hint string
}

func (e *hintError) Error() string { return e.err.Error() }
func (e *hintError) Unwrap() error { return e.err }

// Hint says what to do about the error.
func (e *hintError) Hint() string { return e.hint }

// WithHint returns err with advice, which a method Hint() string of the result returns.
func WithHint(err error, format string, args ...any) error {
	return &hintError{err, fmt.Sprintf(format, args...)}
}
