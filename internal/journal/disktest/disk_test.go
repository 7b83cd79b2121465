package disktest_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"legible.sh/mutex/internal/journal/disk"
	"legible.sh/mutex/internal/journal/disktest"
)

// crashes gives what a file may hold after a power cut.
func crashes(d *disktest.Disk, name string) map[string]bool {
	found := map[string]bool{}
	for seed := range uint64(64) {
		found[string(d.Crash(rand.New(rand.NewPCG(seed, 0))).ReadFile(name))] = true
	}
	return found
}

func create(t *testing.T, d *disktest.Disk, name, text string) disk.File {
	t.Helper()
	f, err := d.Create("", name)
	if err == nil {
		err = f.WriteAt("", []byte(text), 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What was not synced may be there, or not, or its size alone; what was synced is there.
func TestCrash(t *testing.T) {
	d := disktest.New()
	f := create(t, d, "a", "safe")
	if err := errors.Join(f.Sync(""), d.SyncDir("", "/"), f.WriteAt("", []byte("!"), 4)); err != nil {
		t.Fatal(err)
	}
	got := crashes(d, "a")
	for _, want := range []string{"safe", "safe!", "safe\x00"} {
		if !got[want] {
			t.Errorf("never found %q", want)
		}
		delete(got, want)
	}
	if len(got) > 0 {
		t.Errorf("found %v", got)
	}
	if err := f.Sync(""); err != disktest.ErrDead {
		t.Errorf("after the crash: %v", err)
	}
}

// What is written over what was safe comes back as it was, sector by sector, or as any of the writes since left it.
func TestCrashOfOverwrites(t *testing.T) {
	text := func(a, b byte) string {
		return string(bytes.Repeat([]byte{a}, 512)) + string(bytes.Repeat([]byte{b}, 512))
	}
	d := disktest.New()
	f := create(t, d, "a", text('1', '1'))
	if err := errors.Join(f.Sync(""), d.SyncDir("", "/"), f.WriteAt("", []byte(text('2', '2')), 0), f.WriteAt("", []byte(text('3', '3')[:512]), 0)); err != nil {
		t.Fatal(err)
	}
	if got := d.Unsafe("a"); !slices.Equal(got, []int64{0, 1}) {
		t.Errorf("unsafe: %v", got)
	}
	for sector, want := range map[int64]string{0: text('3', '1'), 1: text('1', '2'), 2: text('1', '1')} {
		if got := d.Cut("a", true, func(s int64) bool { return s == sector }).ReadFile("a"); string(got) != want {
			t.Errorf("only sector %d was kept: %s", sector, got)
		}
	}
	got := crashes(d, "a")
	for _, a := range "123" {
		for _, b := range "12" {
			if !got[text(byte(a), byte(b))] {
				t.Errorf("never found %c %c", a, b)
			}
		}
	}
	if len(got) != 6 {
		t.Errorf("found %d contents", len(got))
	}
	if err := f.Sync(""); err != disktest.ErrDead {
		t.Errorf("after the crash: %v", err)
	}
}

// A cut that was not synced may not have come to be.
func TestCrashOfTruncate(t *testing.T) {
	d := disktest.New()
	f := create(t, d, "a", "safe and more")
	if err := errors.Join(f.Sync(""), d.SyncDir("", "/"), f.Truncate("", 4)); err != nil {
		t.Fatal(err)
	}
	if got := crashes(d, "a"); !got["safe"] || !got["safe and more"] || len(got) != 2 {
		t.Errorf("found %v", got)
	}
}

// A name is safe when its directory is.
func TestCrashOfNames(t *testing.T) {
	d := disktest.New()
	d.WriteFile("a", []byte("old"))
	f := create(t, d, "b", "new")
	if err := errors.Join(f.Sync(""), d.Rename("", "b", "a")); err != nil {
		t.Fatal(err)
	}
	if got := crashes(d, "a"); !got["old"] || !got["new"] || len(got) != 2 {
		t.Errorf("before the directory was synced: %v", got)
	}
	d = disktest.New()
	f = create(t, d, "b", "new")
	if err := errors.Join(f.Sync(""), d.Rename("", "b", "a"), d.SyncDir("", "/")); err != nil {
		t.Fatal(err)
	}
	if got := crashes(d, "a"); !got["new"] || len(got) != 1 {
		t.Errorf("after the directory was synced: %v", got)
	}
}

// A sync that failed leaves pages that read back and are lost, even if a later one succeeds.
func TestFailedSync(t *testing.T) {
	d := disktest.New()
	failing := true
	d.Fail = func(op disk.Op, _ string) error {
		if failing && op == disk.AppendSync {
			return syscall.EIO
		}
		return nil
	}
	f := create(t, d, "a", "text")
	if err := f.Sync(disk.AppendSync); err != syscall.EIO {
		t.Fatal(err)
	}
	failing = false
	if err := errors.Join(f.Sync(disk.AppendSync), d.SyncDir("", "/")); err != nil {
		t.Fatal(err)
	}
	if got := string(d.ReadFile("a")); got != "text" {
		t.Errorf("reads back as %v", got)
	}
	if got := crashes(d, "a"); got["text"] {
		t.Errorf("what the failed sync lost is there: %v", got)
	}
}

// A full disk takes what fits, and what was set aside is not counted twice.
func TestLimit(t *testing.T) {
	d := disktest.New()
	d.Limit(10)
	f := create(t, d, "a", "12345")
	if err := f.Allocate("", 5, 3); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteAt("", []byte("678"), 5); err != nil {
		t.Errorf("in the room set aside: %v", err)
	}
	if err := f.WriteAt("", []byte("9abc"), 8); err != syscall.ENOSPC {
		t.Errorf("beyond the limit: %v", err)
	}
	if got := string(d.ReadFile("a")); got != "123456789a" {
		t.Errorf("a full disk has %v", got)
	}
	if err := f.Truncate("", 2); err != nil || d.Used() != 2 {
		t.Errorf("%d used after a cut, %v", d.Used(), err)
	}
}
