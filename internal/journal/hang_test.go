package journal_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"legible.sh/mutex/internal/journal/disk"
)

// Who ends a server whose disk hangs need not wait for that. When the disk lets go, all ends as it should.
func TestCloseOnADiskThatHangs(t *testing.T) {
	w := newWorld(t)
	var hangs atomic.Bool
	reached, letGo := make(chan struct{}), make(chan struct{})
	w.disk.Fail = func(op disk.Op, _ string) error {
		if op == disk.AppendSync && hangs.CompareAndSwap(true, false) {
			close(reached)
			<-letGo
		}
		return nil
	}
	w.open()
	hangs.Store(true)
	granted := make(chan struct{})
	go func() {
		w.topic("x").acquire(1)
		close(granted)
	}()
	<-reached
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer stop()
	closed := make(chan error, 1)
	go func() { closed <- w.file.CloseWithin(ctx) }()
	select {
	case err := <-closed:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want that it did not end in time", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("still waiting for the disk")
	}
	close(letGo)
	<-granted
	w.close()
	w.open()
	if got := w.left(); got != time.Minute {
		t.Errorf("%v left of the grant, want a minute", got)
	}
	w.close()
}
