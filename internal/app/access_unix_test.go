//go:build unix

package app_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A policy file that cannot be read to its end keeps nobody from stopping the server.
func TestAPolicyFileThatHangsDoesNotHoldUpTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(path, []byte("rules: []"), 0o600); err != nil {
		t.Fatal(err)
	}
	reload := make(chan os.Signal)
	o := options(t, map[string]string{"MUTEX_POLICY": path})
	o.Reload = reload
	s := start(t, o)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0) // somebody who might write
	if err != nil {
		t.Fatal(err)
	}
	reload <- syscall.SIGHUP
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if err := pipe.Close(); err != nil { // whoever still reads gets an end
		t.Error(err)
	}
}
