package lease_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"legible.sh/mutex/internal/lease"
)

func FuzzParseTopic(f *testing.F) {
	for _, s := range []string{
		"", "-", "--", "a", "deploy:staging", "A_z-0:9", "_", ":", "a b", "a/b", "..", ".", "a.b", "ä", "a\x00", "a\n",
		"%2F", strings.Repeat("x", 64), strings.Repeat("x", 65), "\xff", strings.Repeat("é", 32),
	} {
		f.Add(s)
	}
	sound := regexp.MustCompile(`\A[a-zA-Z0-9_:-]{1,64}\z`)
	f.Fuzz(func(t *testing.T, s string) {
		topic, err := lease.ParseTopic(s)
		want := sound.MatchString(s) && s != "-"
		switch {
		case (err == nil) != want:
			t.Fatalf("%q: %v, want sound: %v", s, err, want)
		case err == nil && string(topic) != s:
			t.Fatalf("%q became %q", s, topic)
		case err != nil && (topic != "" || !errors.Is(err, lease.ErrBadTopic)):
			t.Fatalf("%q: %q with %v", s, topic, err)
		case err != nil && len(err.Error()) > 1000:
			t.Fatalf("an error of %d bytes", len(err.Error()))
		}
	})
}

func FuzzParseToken(f *testing.F) {
	const hex32 = "0123456789abcdef0123456789abcdef"
	for _, s := range []string{
		"", "-", hex32, strings.ToUpper(hex32), hex32[1:], hex32 + "0", " " + hex32[1:], "0x" + hex32[2:],
		strings.Repeat("g", 32), strings.Repeat("0", 32), strings.Repeat("é", 16), hex32[:31] + "\x00",
	} {
		f.Add(s)
	}
	sound := regexp.MustCompile(`\A[0-9a-f]{32}\z`)
	f.Fuzz(func(t *testing.T, s string) {
		token, err := lease.ParseToken(s)
		switch {
		case (err == nil) != sound.MatchString(s):
			t.Fatalf("%q: %v", s, err)
		case err != nil && (!token.IsZero() || !errors.Is(err, lease.ErrBadToken)):
			t.Fatalf("%q: %v", s, err)
		case err == nil && (token.Reveal() != s || string(token.AppendReveal(nil)) != s):
			t.Fatalf("%q became %q", s, token.Reveal())
		}
	})
}

func FuzzCleanText(f *testing.F) {
	for _, s := range []string{
		"", " ", "worker-3", "  trimmed\t", "a\x00b", "a\r\nevent: grant", "\x1b[31mred", "\u202egnp.exe", "a\u2028b", "\ufeffbom",
		"日本語", "e\u0301", "👩‍👩‍👧", "\xff\xfe", "a\u0085b", "\u00a0x\u00a0", "\x7f", strings.Repeat("x", 9), strings.Repeat("ü", 9),
	} {
		f.Add(s, 8)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit &= 0xff
		got, err := lease.CleanText(s, limit)
		if err != nil {
			if got != "" || !errors.Is(err, lease.ErrBadText) {
				t.Fatalf("%q: %q with %v", s, got, err)
			}
			if utf8.ValidString(s) && utf8.RuneCountInString(s) <= limit {
				t.Fatalf("%q: refused within the limit: %v", s, err)
			}
			return
		}
		for _, r := range got {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
				t.Fatalf("%q: %U was let through", s, r)
			}
		}
		again, err := lease.CleanText(got, limit)
		switch {
		case !utf8.ValidString(got) || utf8.RuneCountInString(got) > limit:
			t.Fatalf("%q became %q", s, got)
		case strings.TrimSpace(got) != got:
			t.Fatalf("%q became %q, which is not trimmed", s, got)
		case err != nil || again != got:
			t.Fatalf("%q became %q, and that %q: %v", s, got, again, err)
		}
	})
}

func TestCleanText(t *testing.T) {
	for sent, want := range map[string]string{
		"worker-3": "worker-3", "": "", " \t\r\n": "", "  two words ": "two words", "\u00a0x\u2003": "x",
		"a\r\nevent: grant": "aevent: grant", "\x1b[31mred": "[31mred", "\u202egnp.exe": "gnp.exe",
		"日本語": "日本語", "e\u0301": "e\u0301", "👩\u200d👧": "👩\u200d👧", " \x00 x": "x",
	} {
		if got, err := lease.CleanText(sent, 20); err != nil || got != want {
			t.Errorf("%q became %q, want %q: %v", sent, got, want, err)
		}
	}
	for sent, sound := range map[string]bool{
		strings.Repeat("ü", 20): true, strings.Repeat("ü", 21): false, strings.Repeat("x", 20): true,
		strings.Repeat("x", 21): false, strings.Repeat("x", 20) + "\x00 ": true, "\xff": false,
	} {
		if _, err := lease.CleanText(sent, 20); (err == nil) != sound {
			t.Errorf("%q: %v", sent, err)
		}
	}
}
