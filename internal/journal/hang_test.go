package journal_test

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Who ends a server whose disk hangs need not wait for that. When the disk lets go, all ends as it should.
func TestCloseOnADiskThatHangs(t *testing.T) {
	w := newWorld(t)
	hung := w.syncThatHangs()
	w.open()
	hung.armed.Store(true)
	granted := make(chan struct{})
	go func() {
		w.topic("x").acquire(1)
		close(granted)
	}()
	<-hung.reached
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
	close(hung.letGo)
	<-granted
	w.close()
	w.open()
	if got := w.left(); got != time.Minute {
		t.Errorf("%v left of the grant, want a minute", got)
	}
	w.close()
}
