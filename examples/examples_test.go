package examples_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
)

// resource is what an example writes to.
type resource interface {
	// write runs the example, in the way a holder with this environment does; nil is for one behind "mutex run".
	write(t *testing.T, env []string, value string) result
	// read gives what was written last, "" for nothing.
	read(t *testing.T) string
}

// maker makes resources of one kind, each fresh, to be written by holders of topic.
type maker func(t *testing.T, topic string) resource

// TestExamples tells the same stories of each.
func TestExamples(t *testing.T) {
	for name, kind := range map[string]func(t *testing.T) maker{
		"file":     func(*testing.T) maker { return newFile },
		"sqlite":   func(*testing.T) maker { return newDatabase },
		"postgres": startPostgres,
		"s3":       func(*testing.T) maker { return newObject },
		"git":      func(*testing.T) maker { return newRepository },
	} {
		t.Run(name, func(t *testing.T) {
			fresh := kind(t)
			t.Run("a zombie is refused", func(t *testing.T) { refusesAZombie(t, name+":zombie", fresh) })
			t.Run("behind a run", func(t *testing.T) { worksBehindARun(t, name+":run", fresh) })
			t.Run("the highest fence stays", func(t *testing.T) { keepsTheHighest(t, fresh(t, name+":race")) })
		})
	}
}

// TestNothingStandsBetweenARunAndAnExample that would keep the exit code from it, as go run does.
func TestNothingStandsBetweenARunAndAnExample(t *testing.T) {
	for _, name := range []string{"README.md", "sqlite/main.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), " -- ") || strings.Contains(string(text), "-- go run") {
			t.Errorf("%s has a run of go run, or of nothing", name)
		}
	}
}

// refusesAZombie is the story all this is about: a holder sleeps past its ttl, another is granted the topic and writes,
// and then the first wakes up and goes on as if nothing had happened.
func refusesAZombie(t *testing.T, topic string, fresh maker) {
	r := fresh(t, topic)
	late, heir := zombie(t, topic)
	expect(t, r, late.Fence, "before it slept", 0, "before it slept")
	expect(t, r, heir.Fence, "by the heir", 0, "by the heir")
	expect(t, r, late.Fence, "by the zombie", 76, "by the heir")
	expect(t, r, heir.Fence, "by the heir again", 0, "by the heir again")
}

func expect(t *testing.T, r resource, fence int64, value string, code int, then string) {
	t.Helper()
	if got := r.write(t, fenceOf(fence), value); got.code != code {
		t.Fatalf("writing %q under fence %d: exit %d, want %d: %s", value, fence, got.code, code, got.err)
	}
	if got := r.read(t); got != then {
		t.Fatalf("after %q under fence %d it has %q, want %q", value, fence, got, then)
	}
}

// worksBehindARun does as an example's first lines say.
func worksBehindARun(t *testing.T, topic string, fresh maker) {
	r := fresh(t, topic)
	for _, value := range []string{"one", "two"} {
		if got := r.write(t, nil, value); got.code != 0 || r.read(t) != value {
			t.Fatalf("exit %d, it has %q: %s", got.code, r.read(t), got.err)
		}
	}
}

// keepsTheHighest has holders of several fences write at once, as if all but one were late.
func keepsTheHighest(t *testing.T, r resource) {
	const writers = 4
	var all sync.WaitGroup
	for fence := int64(1); fence <= writers; fence++ {
		all.Go(func() {
			got := r.write(t, fenceOf(fence), fmt.Sprint("by ", fence))
			if got.code != 0 && (got.code != 76 || fence == writers) {
				t.Errorf("fence %d: exit %d: %s", fence, got.code, got.err)
			}
		})
	}
	all.Wait()
	if got := r.read(t); got != fmt.Sprint("by ", writers) {
		t.Errorf("it has %q", got)
	}
}
