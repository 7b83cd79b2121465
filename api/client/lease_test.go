package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"legible.sh/mutex/api/client"
)

// holding is a fake that grants for ttl seconds and answers renewals as renew says.
func holding(ttl float64, renew func(r *http.Request) (*http.Response, error)) *fake {
	return newFake(func(r *http.Request, _ int) (*http.Response, error) {
		switch {
		case isAcquire(r):
			return granted(ttl)
		case isRenew(r):
			return renew(r)
		}
		return released()
	})
}

func acquire(t *testing.T, c *client.Client) *client.Lease {
	t.Helper()
	l, err := c.Acquire(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLeaseRenewsItselfUntilItIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := holding(30, func(*http.Request) (*http.Response, error) { return renewed(30) })
		l := acquire(t, f.client(t))
		time.Sleep(10 * time.Minute)
		if err := l.Err(); err != nil || l.Fence() != 42 || l.Slot() != 1 || l.Topic() != "t" {
			t.Fatal(err, l.Fence(), l.Slot())
		}
		if err := l.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !errors.Is(l.Err(), client.ErrReleased) || l.Remaining() > 0 {
			t.Error(l.Err(), l.Remaining())
		}
		renewals := strings.Count(f.lines(), "/renew")
		if renewals < 60 || renewals > 67 {
			t.Errorf("renewed %d times in 10 minutes with a ttl of 30 s", renewals)
		}
		for _, r := range f.requests() {
			if !isAcquire(r) && (r.Header.Get("X-Lease") != lease || strings.Contains(r.URL.String(), lease)) {
				t.Errorf("%s %s with X-Lease %q", r.Method, r.URL, r.Header.Get("X-Lease"))
			}
		}
	})
}

func TestLeaseIsLostWhenTheServerSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := holding(30, func(*http.Request) (*http.Response, error) { return refuse(404, "NOT_FOUND") })
		l := acquire(t, f.client(t))
		<-l.Context().Done()
		if err := l.Err(); !errors.Is(err, client.ErrLost) || errors.Is(err, client.ErrUnconfirmed) {
			t.Fatal(err)
		}
		if after := time.Since(f.start); after > 10*time.Second {
			t.Errorf("only after %v", after)
		}
		if err := l.Release(t.Context()); !errors.Is(err, client.ErrLost) {
			t.Error("released what was lost:", err)
		}
	})
}

// TestLeaseIsLostWhenNothingConfirmsIt: whatever is wrong, the context ends a tenth of the ttl before anybody else
// can hold the topic, and not sooner.
func TestLeaseIsLostWhenNothingConfirmsIt(t *testing.T) {
	for name, renew := range map[string]func(*http.Request) (*http.Response, error){
		"no connection": func(*http.Request) (*http.Response, error) { return nil, errRefused },
		"no answer":     hang,
		"a bare 404":    func(*http.Request) (*http.Response, error) { return reply(404, "not found") },
		"a bad token":   func(*http.Request) (*http.Response, error) { return refuse(401, "UNAUTHORIZED") },
		"no topic in it": func(*http.Request) (*http.Response, error) {
			return reply(404, `{"error":"e","code":"NOT_FOUND","hint":"h"}`)
		},
		"stopping": func(*http.Request) (*http.Response, error) { return refuse(503, "SHUTDOWN") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := holding(30, renew)
				l := acquire(t, f.client(t))
				<-l.Context().Done()
				if err := l.Err(); !errors.Is(err, client.ErrUnconfirmed) || !errors.Is(err, client.ErrLost) {
					t.Fatal(err)
				}
				if after := time.Since(f.start); after != 27*time.Second {
					t.Errorf("after %v", after)
				}
				if tries := strings.Count(f.lines(), "/renew"); tries < 3 {
					t.Errorf("tried %d times", tries)
				}
				if err := l.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestLeaseRidesOutAServerThatComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f *fake
		f = holding(30, func(*http.Request) (*http.Response, error) {
			if up := time.Since(f.start) % (30 * time.Second); up > 8*time.Second && up < 24*time.Second {
				return nil, errRefused
			}
			return renewed(30)
		})
		l := acquire(t, f.client(t))
		time.Sleep(5 * time.Minute)
		if err := l.Err(); err != nil {
			t.Error(err)
		}
		if err := l.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestLeaseIsLostToSleep: the machine slept past the ttl. The clock says so before any server is asked.
func TestLeaseIsLostToSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := holding(30, func(*http.Request) (*http.Response, error) { return renewed(30) })
		c := f.client(t)
		var slept atomic.Int64
		c.UseClock(func() time.Duration { return time.Since(f.start) + time.Duration(slept.Load()) + time.Hour })
		l := acquire(t, c)
		time.Sleep(time.Second)
		slept.Store(int64(time.Minute))
		if l.Remaining() > 0 {
			t.Error("remaining:", l.Remaining())
		}
		time.Sleep(1100 * time.Millisecond)
		if !errors.Is(l.Err(), client.ErrUnconfirmed) || strings.Contains(f.lines(), "/renew") {
			t.Error(l.Err(), f.lines())
		}
		_ = l.Release(t.Context())
	})
}

// TestAGrantThatWasWaitedForIsConfirmed: nobody knows for how long it was on its way.
func TestAGrantThatWasWaitedForIsConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(nil)
		f.answer = func(r *http.Request, _ int) (*http.Response, error) {
			switch {
			case isAcquire(r):
				time.Sleep(20 * time.Second)
				return granted(5)
			case isRenew(r):
				return renewed(5)
			}
			return released()
		}
		l := acquire(t, f.client(t))
		if left := l.Remaining(); left < 4*time.Second {
			t.Error("remaining:", left)
		}
		if err := l.Release(t.Context()); err != nil {
			t.Error(err)
		}
		if got, want := f.lines(), "0 POST /t?wait=25\n20 POST /t/-/renew\n20 DELETE /t/-"; got != want {
			t.Errorf("sent\n%s\nwant\n%s", got, want)
		}
	})
}

// TestTheContextOfAcquireBoundsTheWaitOnly.
func TestTheContextOfAcquireBoundsTheWaitOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := holding(30, func(*http.Request) (*http.Response, error) { return renewed(30) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		l, err := f.client(t).Acquire(ctx, "t")
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := l.Err(); err != nil {
			t.Error(err)
		}
		for range 2 { // the second changes nothing
			if err := l.Release(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if n := strings.Count(f.lines(), "DELETE"); n != 1 {
			t.Errorf("%d releases", n)
		}
	})
}

// TestAReleaseMayBeTriedAgain: the first call's context was too short to hear that it had worked.
func TestAReleaseMayBeTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deletes := 0
		f := newFake(func(r *http.Request, _ int) (*http.Response, error) {
			switch {
			case isAcquire(r):
				return granted(30)
			case deletes == 0:
				deletes++
				return hang(r)
			}
			return refuse(404, "NOT_FOUND")
		})
		l := acquire(t, f.client(t))
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.Release(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if err := l.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestReleaseIsRepeatedUntilItIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deletes := 0
		f := newFake(func(r *http.Request, _ int) (*http.Response, error) {
			if deletes++; deletes < 4 {
				return nil, errRefused
			}
			return released()
		})
		if r, err := f.client(t).Release(t.Context(), "t", lease); err != nil || !r.Released {
			t.Fatal(r, err)
		}
	})
}

func TestACancelledCallSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(func(*http.Request, int) (*http.Response, error) { return nil, errRefused })
		why := errors.New("interrupted")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		if _, err := f.client(t).Release(ctx, "t", lease); !errors.Is(err, why) {
			t.Error(err)
		}
		short, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := f.client(t).Release(short, "t", lease); !errors.Is(err, errRefused) {
			t.Error(err)
		}
	})
}

func TestGoneAfterALostAnswerIsReleased(t *testing.T) {
	for name, first := range map[string]struct {
		answer   func() (*http.Response, error)
		released bool
	}{
		"the answer was lost": {func() (*http.Response, error) { return nil, errors.New("reset") }, true},
		"a proxy's 502":       {func() (*http.Response, error) { return reply(502, "") }, true},
		"the first answer":    {func() (*http.Response, error) { return refuse(404, "NOT_FOUND") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(func(_ *http.Request, nth int) (*http.Response, error) {
					if nth == 0 {
						return first.answer()
					}
					return refuse(404, "NOT_FOUND")
				})
				_, err := f.client(t).Release(t.Context(), "t", lease)
				if first.released != (err == nil) || err != nil && !errors.Is(err, client.ErrLost) {
					t.Error(err)
				}
			})
		})
	}
}

func TestDoReleasesWhateverHappens(t *testing.T) {
	boom := errors.New("boom")
	for name, fn := range map[string]func(context.Context, *client.Lease) error{
		"an error": func(context.Context, *client.Lease) error { return boom },
		"a panic":  func(context.Context, *client.Lease) error { panic(boom) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := holding(30, func(*http.Request) (*http.Response, error) { return renewed(30) })
				func() {
					defer func() { _ = recover() }()
					if err := f.client(t).Do(t.Context(), "t", fn); !errors.Is(err, boom) {
						t.Error(err)
					}
				}()
				if got, want := f.lines(), "0 POST /t?wait=25\n0 DELETE /t/-"; got != want {
					t.Errorf("sent\n%s\nwant\n%s", got, want)
				}
			})
		})
	}
}

// TestDoLetsTheWorkReleaseEarly: who gives the lease back before other work has lost nothing.
func TestDoLetsTheWorkReleaseEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := holding(30, func(*http.Request) (*http.Response, error) { return renewed(30) })
		err := f.client(t).Do(t.Context(), "t", func(ctx context.Context, l *client.Lease) error {
			return l.Release(ctx)
		})
		if err != nil || strings.Count(f.lines(), "DELETE") != 1 {
			t.Error(err, f.lines())
		}
	})
}

// TestAnswersThatSayNothingConfirmNothing: what stands in a server's place may say 200 to everything.
func TestAnswersThatSayNothingConfirmNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(func(*http.Request, int) (*http.Response, error) { return reply(200, "{}") })
		c := f.client(t)
		if _, err := c.Renew(t.Context(), "t", lease, 0); !errors.Is(err, client.ErrUnreachable) {
			t.Error("renew:", err)
		}
		if _, err := c.Check(t.Context(), "t", lease); !errors.Is(err, client.ErrUnreachable) {
			t.Error("check:", err)
		}
		if _, err := c.Release(t.Context(), "t", lease); !errors.Is(err, client.ErrUnreachable) {
			t.Error("release:", err)
		}
	})
}

// TestTimesThatNoLeaseHasEndNoProgram: they come from a server, and may be anything.
func TestTimesThatNoLeaseHasEndNoProgram(t *testing.T) {
	for _, ttl := range []float64{0, -30, 1e300, -1e300} {
		synctest.Test(t, func(t *testing.T) {
			f := holding(30, func(*http.Request) (*http.Response, error) { return renewed(ttl) })
			l := acquire(t, f.client(t))
			<-l.Context().Done()
			if !errors.Is(l.Err(), client.ErrLost) {
				t.Errorf("renewed for %v: %v", ttl, l.Err())
			}
			f = holding(ttl, func(*http.Request) (*http.Response, error) { return renewed(ttl) })
			if l, err := f.client(t).Acquire(t.Context(), "t", client.Wait(0)); err == nil {
				<-l.Context().Done()
				t.Errorf("granted for %v: %v", ttl, l.Err())
			}
		})
	}
}

func TestDoEndsTheWorkWhenTheLeaseIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := holding(30, func(*http.Request) (*http.Response, error) { return refuse(404, "NOT_FOUND") })
		err := f.client(t).Do(t.Context(), "t", func(ctx context.Context, _ *client.Lease) error {
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), client.ErrLost) {
				t.Error("cause:", context.Cause(ctx))
			}
			return nil // it does not notice; Do must say it
		})
		if !errors.Is(err, client.ErrLost) {
			t.Error(err)
		}
	})
}

func TestDoReleasesAfterItsContextHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := holding(30, func(*http.Request) (*http.Response, error) { return renewed(30) })
		ctx, cancel := context.WithCancel(t.Context())
		err := f.client(t).Do(ctx, "t", func(ctx context.Context, _ *client.Lease) error {
			cancel()
			return ctx.Err()
		})
		if !errors.Is(err, context.Canceled) || !strings.HasSuffix(f.lines(), "DELETE /t/-") {
			t.Error(err, f.lines())
		}
	})
}
