package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pihc/internal/check"
)

const everyCommand = "\n## Every command\n"

// docs/reference/commands.md ends in the help of every command, as the program has it.
func TestCommandsDocumented(t *testing.T) {
	const name = "../../docs/reference/commands.md"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PIHC_MPI", "") // a default of the help
	t.Setenv("PIHC_PJRT", "")
	written, _, found := strings.Cut(string(text), everyCommand)
	if !found {
		t.Fatalf("%s has no heading %q", name, strings.TrimSpace(everyCommand))
	}
	made := []byte(written + everyCommand + helpPage(newRoot(&app{})))
	if check.Regenerating() {
		if err := os.WriteFile(name, made, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(made, text) {
		t.Errorf("%s has another help than the program: go test ./cmd/pihc -run CommandsDocumented -regenerate writes it anew", name)
	}
	for _, flag := range []string{"`--passes`", "`--tolerance`", "`--free`", "`--workers`", "`--quiet`"} {
		if !bytes.Contains(made, []byte("| "+flag)) {
			t.Errorf("no flag %s", flag)
		}
	}
}

// helpPage is the help of all commands in Markdown: what is for all of them, then each with its text and flags.
func helpPage(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("\nFrom the program's own help, which a test holds it to. For all commands:\n\n")
	flagTable(&b, root.PersistentFlags())
	for _, c := range root.Commands() {
		if c.Name() == "help" || c.Name() == "completion" || c.Hidden {
			continue
		}
		helpSection(&b, c)
		for _, below := range c.Commands() {
			helpSection(&b, below)
		}
	}
	return b.String()
}

func helpSection(b *strings.Builder, c *cobra.Command) {
	fmt.Fprintf(b, "\n### pihc %s\n\n%s.\n\n```\n", strings.TrimPrefix(c.CommandPath(), "pihc "), c.Short)
	if c.Long != "" {
		fmt.Fprintf(b, "%s\n\n", strings.TrimSpace(c.Long))
	}
	fmt.Fprintf(b, "usage: %s\n", strings.TrimSpace(c.UseLine()))
	if c.Example != "" {
		fmt.Fprintf(b, "\n%s\n", strings.TrimRight(c.Example, "\n"))
	}
	b.WriteString("```\n")
	if c.NonInheritedFlags().HasAvailableFlags() {
		b.WriteString("\n")
		flagTable(b, c.NonInheritedFlags())
	}
}

func flagTable(b *strings.Builder, flags *pflag.FlagSet) {
	b.WriteString("| flag | | |\n|---|---|---|\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		name := "`--" + f.Name + "`"
		if f.Shorthand != "" {
			name += ", `-" + f.Shorthand + "`"
		}
		switch f.DefValue {
		case "", "false", "0", "[]":
		default:
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", name, kind, strings.ReplaceAll(usage, "|", "\\|"))
	})
}
