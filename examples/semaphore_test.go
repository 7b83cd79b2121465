package examples_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSemaphore has three jobs on three GPUs at once, and a fourth that gets one when the first has ended.
func TestSemaphore(t *testing.T) {
	dir := t.TempDir()
	job := `echo "$CUDA_VISIBLE_DEVICES" >> slots; while ! [ -e "$1" ]; do sleep 0.02; done`
	train := func(until string) chan result {
		done := make(chan result, 1)
		go func() {
			done <- run(t, dir, "", nil, "mutex", "run", "gpu", "--capacity", "3", "--",
				script(t, "semaphore/train.sh"), dir, "sh", "-c", job, "sh", until)
		}()
		return done
	}
	first := train("first")
	slots := filepath.Join(dir, "slots")
	has(t, slots, "0\n")
	second := train("rest")
	has(t, slots, "0\n1\n")
	third := train("rest")
	has(t, slots, "0\n1\n2\n")
	fourth := train("rest")
	touch(t, filepath.Join(dir, "first"))
	has(t, slots, "0\n1\n2\n0\n")
	touch(t, filepath.Join(dir, "rest"))
	for _, done := range []chan result{first, second, third, fourth} {
		if r := <-done; r.code != 0 {
			t.Errorf("exit %d: %s", r.code, r.err)
		}
	}
}

// TestAZombieDoesNotWakeUpOnAnothersGPU: the slot went to another, whose fence is higher.
func TestAZombieDoesNotWakeUpOnAnothersGPU(t *testing.T) {
	dir := t.TempDir()
	late, heir := zombie(t, "gpu:zombie")
	if late.Slot != heir.Slot {
		t.Fatalf("slots %d, %d", late.Slot, heir.Slot)
	}
	for _, step := range []struct {
		fence int64
		code  int
	}{{late.Fence, 0}, {heir.Fence, 0}, {late.Fence, 76}, {heir.Fence, 0}} {
		env := append(fenceOf(step.fence), "MUTEX_SLOT=0")
		if r := run(t, dir, "", env, script(t, "semaphore/train.sh"), dir, "true"); r.code != step.code {
			t.Errorf("fence %d: exit %d, want %d: %s", step.fence, r.code, step.code, r.err)
		}
	}
}

// has waits until a file has a text.
func has(t *testing.T, path, text string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		b, _ := os.ReadFile(path)
		if string(b) == text {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s has %q, not %q", path, b, text)
		}
	}
}

func touch(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
