package journal_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"legible.sh/mutex/internal/lease"
)

// A data directory of the first generation opens as it is: its leases live on, with the lowest free slots by fence,
// and its fences go on.
func TestFirstGeneration(t *testing.T) {
	image, err := os.ReadFile(filepath.Join("testdata", "first-generation", "mutex.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.disk.WriteFile(path, image)
	w.open()
	want := map[lease.Topic]string{
		"deploy-staging": "fence 1 capacity 1",
		"gpu": "fence 3 capacity 3" +
			"; holder trainer-2 fence 2 slot 0 since 1799999991000 renewed 0 expires 1800000291000" +
			"; holder trainer-3 fence 3 slot 1 since 1799999992000 renewed 1799999995000 expires 1800000055000",
		"no-topic-record": "fence 17 capacity 1; holder anon-4f2a91 fence 17 slot 0 since 1799999999000 renewed 0 expires 1800000059000",
		"late":            "fence 2 capacity 2; holder w fence 2 slot 0 since 1799999999000 renewed 0 expires 1800000059000",
		"dead":            "fence 41 capacity 1",
	}
	verify := func(when string) {
		t.Helper()
		for name, want := range want {
			if got := w.topic(name).describe(); got != want {
				t.Errorf("%s, %s:\n%s\nwant\n%s", when, name, got, want)
			}
		}
	}
	verify("at first")
	w.restart()
	verify("after a restart")

	// Slots once given stay, whoever leaves.
	gpu := w.topic("gpu")
	gpu.acquire(7) // slot 2
	two, _ := lease.ParseToken("22222222222222222222222222222222")
	gpu.must(lease.Command{Op: lease.Release, Token: two})
	gpu.acquire(8) // slot 0
	before := gpu.describe()
	w.restart()
	if got := w.topic("gpu").describe(); got != before {
		t.Errorf("after a restart:\n%s\nwant\n%s", got, before)
	}
	three, _ := lease.ParseToken("33333333333333333333333333333333")
	w.clock.pass(10 * time.Second)
	renewed := w.topic("gpu").must(lease.Command{Op: lease.Renew, Token: three})
	if got := renewed.Lease.TTL; got != time.Minute {
		t.Errorf("renewed for its own ttl %v, want a minute", got)
	}
	w.close()
}
