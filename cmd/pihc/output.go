package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
)

// jsonFlag adds --json to a command.
func jsonFlag(c *cobra.Command, dst *bool) {
	c.Flags().BoolVar(dst, "json", false, "print one JSON object on standard output")
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
