package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pihc/experiment"
	"pihc/internal/config"
	"pihc/internal/words"
)

// wantByType says what values flags of pflag's types take, whose own errors are strconv's.
var wantByType = map[string]string{
	"float64": "a number", "int": "a whole number", "int64": "a whole number", "uint64": "a whole number that is not negative", "bool": "true or false",
}

// unknownCommand is the error for a word that is no command of root.
func unknownCommand(root *cobra.Command, word string) error {
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	err := usagef("unknown command %q", word)
	if near := config.Nearest(word, names); near != "" {
		return words.WithHint(err, "did you mean `pihc %s`?", near)
	}
	return err
}

// flagError says what is wrong with a flag of c, and names the one that may be meant.
func flagError(c *cobra.Command, err error) error {
	var none *pflag.NotExistError
	if errors.As(err, &none) && len(none.GetSpecifiedName()) > 1 {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := config.Nearest(none.GetSpecifiedName(), names); near != "" {
			return words.WithHint(&experiment.UsageError{Err: err}, "did you mean --%s?", near)
		}
	}
	var value *pflag.InvalidValueError
	var number *strconv.NumError
	if errors.As(err, &value) && errors.As(err, &number) {
		want := wantByType[value.GetFlag().Value.Type()]
		if errors.Is(number, strconv.ErrRange) && !strings.HasPrefix(value.GetValue(), "-") {
			want = "a smaller number"
		}
		if want != "" {
			return usagef("--%s %s: want %s", value.GetFlag().Name, value.GetValue(), want)
		}
	}
	return &experiment.UsageError{Err: err}
}
