package words

import (
	"strings"
	"testing"
)

func TestListAndClip(t *testing.T) {
	many := strings.Fields("a b c d e f g h i j k l m")
	for _, test := range []struct{ got, want string }{
		{List(nil), ""},
		{List(many[:11]), "a, b, c, d, e, f, g, h, i, j, k"},
		{List(many), "a, b, c, d, e, f, g, h, i, j, and 3 more"},
		{ListBy("; ", many[:12]), "a; b; c; d; e; f; g; h; i; j; and 2 more"},
		{Clip("höher", 5), "höher"},
		{Clip("höher", 2), "hö..."},
		{Clip("", 0), ""},
	} {
		if test.got != test.want {
			t.Errorf("%q, want %q", test.got, test.want)
		}
	}
	if strings.Join(many, "") != "abcdefghijklm" {
		t.Errorf("List changed its argument: %q", many)
	}
}
