package secrettest_test

import (
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// evidence is all that others than a secret's owner could read.
type evidence struct {
	t       *testing.T
	mu      sync.Mutex
	seen    []exhibit
	secrets map[string]string // the secret -> what it is
}

type exhibit struct{ where, text string }

func newEvidence(t *testing.T) *evidence {
	return &evidence{t: t, secrets: make(map[string]string)}
}

// plant makes up a secret that nothing else looks like.
func (e *evidence) plant(what string) string {
	secret := "PLANTED-" + strings.ToUpper(what) + "-5ecret"
	e.secret(what, secret)
	return secret
}

func (e *evidence) secret(what, secret string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.secrets[secret] = what
}

func (e *evidence) add(where, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen = append(e.seen, exhibit{where, text})
}

var leaseField = regexp.MustCompile(`"lease": ?"([0-9a-f]{32})"`)

// granted adds what an owner was answered, but for the lease in it, and gives the lease. Without one the test ends.
func (e *evidence) granted(where, text string) (lease string) {
	e.t.Helper()
	m := leaseField.FindStringSubmatch(text)
	if m == nil {
		e.t.Fatalf("%s: no lease in %s", where, text)
	}
	e.secret("the lease of "+where, m[1])
	e.add(where, strings.ReplaceAll(text, m[1], "(its own)"))
	return m[1]
}

// directory adds every file below a directory. In files that mine matches leases may stand: these become secrets for
// everything else.
func (e *evidence) directory(dir, mine string) {
	e.t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := string(b)
		if ok, _ := filepath.Match(mine, d.Name()); ok {
			for _, m := range leaseField.FindAllStringSubmatch(text, -1) {
				e.secret("a lease in "+d.Name(), m[1])
			}
			text = leaseField.ReplaceAllString(text, "")
		}
		e.add(path, text)
		return nil
	})
	if err != nil {
		e.t.Fatal(err)
	}
}

// search fails the test for every secret that shows, in any of the forms that it takes on its way.
func (e *evidence) search() {
	e.t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	for secret, what := range e.secrets {
		for _, form := range forms(secret) {
			for _, x := range e.seen {
				if at := strings.Index(x.text, form); at >= 0 {
					e.t.Errorf("%s shows %s: …%q…", x.where, what, x.text[max(0, at-80):min(len(x.text), at+len(form)+20)])
				}
			}
		}
	}
}

// forms are a secret as it is, as half of a Basic authorization, and a lease's sixteen bytes as they are in memory.
func forms(secret string) []string {
	all := []string{secret, base64.StdEncoding.EncodeToString([]byte(secret))}
	if b, err := hex.DecodeString(secret); err == nil {
		all = append(all, string(b), strings.ToUpper(secret), base64.StdEncoding.EncodeToString(b))
	}
	return all
}

// has tells whether an exhibit has a text: proof that something was looked at.
func (e *evidence) has(where, text string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, x := range e.seen {
		if strings.HasPrefix(x.where, where) && strings.Contains(x.text, text) {
			return true
		}
	}
	return false
}
