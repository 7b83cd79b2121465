package client_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"legible.sh/mutex/api/client"
)

// queue parks acquires as a server does: a later one with the same key takes the wait over, and the grant comes
// at a given moment.
type queue struct {
	grantAt time.Time

	mu   sync.Mutex    // guards last, which parked requests share
	last chan struct{} // closed when a newer request takes over
}

func (q *queue) takeOver() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.last != nil {
		close(q.last)
	}
	q.last = make(chan struct{})
	return q.last
}

func (q *queue) park(r *http.Request) (*http.Response, error) {
	wait, _ := time.ParseDuration(r.URL.Query().Get("wait") + "s")
	if wait == 0 {
		return refuse(409, "BUSY")
	}
	newer := q.takeOver()
	select {
	case <-newer:
		return refuse(409, "SUPERSEDED")
	case <-time.After(time.Until(q.grantAt)):
		return granted(60)
	case <-time.After(wait):
		return refuse(408, "TIMEOUT")
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

func TestWaitGoesInSlicesThatTakeOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{grantAt: time.Now().Add(40 * time.Second)}
		f := newFake(func(r *http.Request, _ int) (*http.Response, error) { return q.park(r) })
		g, err := f.client(t).Grant(t.Context(), "t", client.Wait(time.Minute))
		if err != nil || g.Fence != 42 {
			t.Fatal(g, err)
		}
		if got := time.Since(f.start); got != 40*time.Second {
			t.Errorf("granted after %v", got)
		}
		if got, want := f.lines(), "0 POST /t?wait=25\n24 POST /t?wait=25"; got != want {
			t.Errorf("sent\n%s\nwant\n%s", got, want)
		}
		sameKey(t, f.requests())
	})
}

func sameKey(t *testing.T, all []*http.Request) {
	t.Helper()
	for _, r := range all {
		if key := r.Header.Get("Idempotency-Key"); len(key) < 26 || key != all[0].Header.Get("Idempotency-Key") {
			t.Errorf("%s %s has the key %q", r.Method, r.URL, key)
		}
	}
}

func TestTimeoutComesWhenTheWholeWaitIsOverAndGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{grantAt: time.Now().Add(time.Hour)}
		f := newFake(func(r *http.Request, _ int) (*http.Response, error) {
			if isRelease(r) {
				return reply(200, `{"released":false,"topic":"t","left_queue":true}`)
			}
			return q.park(r)
		})
		_, err := f.client(t).Grant(t.Context(), "t", client.Wait(30*time.Second))
		if !errors.Is(err, client.ErrTimeout) {
			t.Fatal(err)
		}
		if got, want := f.lines(), "0 POST /t?wait=25\n24 POST /t?wait=6\n30 DELETE /t/-"; got != want {
			t.Errorf("sent\n%s\nwant\n%s", got, want)
		}
		sameKey(t, f.requests())
	})
}

func TestBusyIsAVerdictWithoutAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(func(*http.Request, int) (*http.Response, error) { return refuse(409, "BUSY") })
		_, err := f.client(t).Grant(t.Context(), "t", client.Wait(0))
		var no *client.Error
		if !errors.Is(err, client.ErrBusy) || !errors.As(err, &no) || no.Holders[0] != "worker-3" {
			t.Fatal(err)
		}
		if got, want := f.lines(), "0 POST /t"; got != want {
			t.Errorf("sent\n%s\nwant\n%s", got, want)
		}
	})
}

// TestNoVerdictIsRepeatedWithTheSameKey: none of these says whether the lease is held, so each is asked again.
func TestNoVerdictIsRepeatedWithTheSameKey(t *testing.T) {
	for name, once := range map[string]func() (*http.Response, error){
		"no connection":  func() (*http.Response, error) { return nil, errRefused },
		"a cut answer":   func() (*http.Response, error) { return reply(200, `{"topic":"t","lea`) },
		"a proxy's 502":  func() (*http.Response, error) { return reply(502, "<h1>Bad Gateway</h1>") },
		"a bare 404":     func() (*http.Response, error) { return reply(404, "not found") },
		"a bare 408":     func() (*http.Response, error) { return reply(408, "") },
		"stopping":       func() (*http.Response, error) { return refuse(503, "SHUTDOWN") },
		"a failed disk":  func() (*http.Response, error) { return refuse(503, "STORAGE") },
		"a code unknown": func() (*http.Response, error) { return refuse(503, "MOON_PHASE") },
		"another's 200":  func() (*http.Response, error) { return reply(200, `{"ok":true}`) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(func(_ *http.Request, nth int) (*http.Response, error) {
					if nth < 3 {
						return once()
					}
					return granted(60)
				})
				g, err := f.client(t).Grant(t.Context(), "t", client.Wait(0))
				if err != nil || g.Lease != lease {
					t.Fatal(g, err)
				}
				sameKey(t, f.requests())
			})
		})
	}
}

func TestADeadServerIsReportedSoonWithoutAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(func(*http.Request, int) (*http.Response, error) { return nil, errRefused })
		_, err := f.client(t).Grant(t.Context(), "t", client.Wait(0))
		var silent *client.UnreachableError
		if !errors.As(err, &silent) || silent.URL != "http://fake:1" || !errors.Is(err, errRefused) {
			t.Fatal(err)
		}
		if took := time.Since(f.start); took < time.Second || took > 3*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestADeadServerIsWaitedForWithinTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(func(*http.Request, int) (*http.Response, error) {
			return nil, errRefused
		})
		f.answer = func(*http.Request, int) (*http.Response, error) {
			if time.Since(f.start) < 50*time.Second {
				return nil, errRefused
			}
			return granted(60)
		}
		var trouble []error
		var patience time.Duration
		_, err := f.client(t).Grant(t.Context(), "t", client.Wait(time.Minute),
			client.OnWait(time.Second, func(p client.Progress) { trouble, patience = append(trouble, p.Trouble), p.Patience }))
		if err != nil {
			t.Fatal(err)
		}
		if len(trouble) != 1 || !errors.Is(trouble[0], client.ErrUnreachable) {
			t.Errorf("told %v", trouble)
		}
		if patience != time.Minute {
			t.Error("is to be tried for", patience)
		}
	})
}

func TestSomebodyElsesAnswerIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(func(*http.Request, int) (*http.Response, error) { return reply(404, "no such page") })
		var patience time.Duration
		_, err := f.client(t).Grant(t.Context(), "t", client.OnWait(0, func(p client.Progress) { patience = p.Patience }))
		if !errors.Is(err, client.ErrUnreachable) || time.Since(f.start) > 5*time.Second || patience != 2*time.Second {
			t.Fatal(err, time.Since(f.start), patience)
		}
	})
}

// TestASpentKeyIsReplaced: the grant was lost on its way, and its lease ended before it was asked for again.
func TestASpentKeyIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(func(_ *http.Request, nth int) (*http.Response, error) {
			switch nth {
			case 0:
				return nil, errRefused
			case 1:
				return refuse(409, "KEY_SPENT")
			}
			return granted(60)
		})
		if _, err := f.client(t).Grant(t.Context(), "t", client.Wait(5*time.Second)); err != nil {
			t.Fatal(err)
		}
		all := f.requests()
		if all[1].Header.Get("Idempotency-Key") == all[2].Header.Get("Idempotency-Key") {
			t.Error("went on with the spent key")
		}
	})
}

func TestCancelLeavesTheQueueAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(func(r *http.Request, _ int) (*http.Response, error) { return hang(r) })
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(5*time.Second, func() { cancel(why) })
		_, err := f.client(t, client.WithGiveUp(80*time.Millisecond)).Grant(ctx, "t")
		if !errors.Is(err, why) || time.Since(f.start) != 5080*time.Millisecond {
			t.Fatal(err, time.Since(f.start))
		}
		if got, want := f.lines(), "0 POST /t?wait=25\n5 DELETE /t/-"; got != want {
			t.Errorf("sent\n%s\nwant\n%s", got, want)
		}
		sameKey(t, f.requests())
	})
}

func TestProgressTellsWhoHoldsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{grantAt: time.Now().Add(3 * time.Second)}
		f := newFake(func(r *http.Request, _ int) (*http.Response, error) { return q.park(r) })
		var told []client.Progress
		_, err := f.client(t).Grant(t.Context(), "t", client.OnWait(time.Second, func(p client.Progress) { told = append(told, p) }))
		if err != nil {
			t.Fatal(err)
		}
		if len(told) != 3 || told[0].Holders[0] != "worker-3" || told[0].Position != 2 {
			t.Errorf("told %+v", told)
		}
	})
}

func TestAShorterSliceIsTakenWhereTheServerWantsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(func(r *http.Request, _ int) (*http.Response, error) {
			if wait, _ := time.ParseDuration(r.URL.Query().Get("wait") + "s"); wait > 10*time.Second {
				return reply(400, `{"error":"no","code":"BAD_PARAM","hint":"h","parameters":[{"name":"wait","in":"query","sent":"25","expected":"0 to 10"}]}`)
			}
			return granted(60)
		})
		if _, err := f.client(t).Grant(t.Context(), "t"); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAnOptionIsSentAsItStands(t *testing.T) {
	f := newFake(func(*http.Request, int) (*http.Response, error) { return granted(0.5) })
	_, err := f.client(t, client.WithToken("s3cret"), client.WithTraceParent("00-ab")).Grant(t.Context(), "t", client.TTL(500*time.Millisecond), client.Capacity(3),
		client.Name("jürgen & co"), client.Reason("a+b"), client.Host("h"), client.PID(7), client.Wait(0))
	if err != nil {
		t.Fatal(err)
	}
	r := f.requests()[0]
	want := map[string]string{"ttl": "0.5", "capacity": "3", "name": "jürgen & co", "reason": "a+b", "host": "h", "pid": "7"}
	for k, v := range want {
		if got := r.URL.Query().Get(k); got != v {
			t.Errorf("%s=%q, want %q", k, got, v)
		}
	}
	for name, want := range map[string]string{"Authorization": "Bearer s3cret", "Traceparent": "00-ab", "User-Agent": "mutex-go"} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestNoTopicIsSentThatIsNone(t *testing.T) {
	f := newFake(func(*http.Request, int) (*http.Response, error) { return granted(60) })
	for _, topic := range []string{"", "-", "..", "a/b", "a b", "ü", string(make([]byte, 65))} {
		if _, err := f.client(t).Grant(t.Context(), topic); !errors.Is(err, client.ErrBadTopic) {
			t.Errorf("%q: %v", topic, err)
		}
	}
	if len(f.requests()) > 0 {
		t.Error("something was sent:", f.lines())
	}
}
