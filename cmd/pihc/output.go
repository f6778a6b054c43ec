package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// jsonFlag adds --json to a command.
func jsonFlag(c *cobra.Command, dst *bool) {
	c.Flags().BoolVar(dst, "json", false, "print one JSON object on standard output")
}

// forceFlag adds --force to a command that writes files under names of the user's choice.
func forceFlag(c *cobra.Command, dst *bool) {
	c.Flags().BoolVar(dst, "force", false, "replace a file that is no earlier output of this command (never a device or a link, nor in a run or dataset folder what does not belong there)")
}

// tensorboardFlag adds --tensorboard to a command that trains.
func tensorboardFlag(c *cobra.Command, dst *string) {
	c.Flags().StringVar(dst, "tensorboard", "", "folder for event files of TensorBoard (default none)")
}

// printJSON writes v as the only object on standard output.
func (a *app) printJSON(v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "%s\n", text)
	return err
}

// checkedWriter keeps the first error of writing a help text, which nobody looks
// at.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (c *checkedWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if c.err == nil {
		c.err = err
	}
	return n, err
}
