package sdktest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"legible.sh/mutex/api"
	"legible.sh/mutex/api/client"
)

// TestGoClient plays the scenario with the client of this module.
func TestGoClient(t *testing.T) {
	url := serve(t)
	var out strings.Builder
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := client.New(url, client.WithAdminToken(adminToken))
	if err != nil {
		t.Fatal(err)
	}
	s := goScenario{t: t, ctx: ctx, c: c, out: &out}
	s.lock("sdk:go")
	err = deploy(ctx, url, "sdk:go", func(_ context.Context, fence int64) error {
		fmt.Fprintf(&out, "deployed fence=%d\n", fence)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.giveBack("sdk:go")
	s.semaphore("sdk:go:slots")
	s.events("sdk:go:events")
	if out.String() != story {
		t.Errorf("the Go client tells\n%swant\n%s", &out, story)
	}
}

func deploy(ctx context.Context, url, topic string, write func(ctx context.Context, fence int64) error) error {
	// [sdk.md
	c, err := client.New(url)
	if err != nil {
		return err
	}
	// It waits, renews while the function runs, and gives back; ctx ends with the lease: stop at once then.
	return c.Do(ctx, topic, func(ctx context.Context, lease *client.Lease) error {
		return write(ctx, lease.Fence()) // the resource refuses a lower fence than its highest
	})
	// sdk.md]
}

type goScenario struct {
	t   *testing.T
	ctx context.Context
	c   *client.Client
	out io.Writer
}

func (s goScenario) say(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

func (s goScenario) grant(topic string, opts ...client.AcquireOption) *api.Grant {
	s.t.Helper()
	grant, err := s.c.Grant(s.ctx, topic, opts...)
	if err != nil {
		s.t.Fatal(err)
	}
	return grant
}

// refusal gives what a call was refused with.
func (s goScenario) refusal(err error) *client.Error {
	s.t.Helper()
	var refused *client.Error
	if !errors.As(err, &refused) {
		s.t.Fatalf("not refused: %v", err)
	}
	return refused
}

func (s goScenario) release(topic, lease string) *api.Release {
	s.t.Helper()
	released, err := s.c.Release(s.ctx, topic, lease)
	if err != nil {
		s.t.Fatal(err)
	}
	return released
}

func (s goScenario) lock(topic string) {
	first := s.grant(topic, client.TTL(time.Minute), client.Name("worker-a"))
	s.say("acquired fence=%d slot=%d", first.Fence, first.Slot)
	_, err := s.c.Grant(s.ctx, topic, client.Wait(0), client.Name("worker-b"))
	busy := s.refusal(err)
	s.say("busy %s holders=%s", busy.Code, strings.Join(busy.Holders, ","))

	granted := make(chan *api.Grant, 1)
	go func() { // ends with the grant, or with the test's context
		second, err := s.c.Grant(s.ctx, topic, client.Wait(25*time.Second), client.Name("worker-b"))
		if err != nil {
			s.t.Error(err)
			second = &api.Grant{}
		}
		granted <- second
	}()
	for status := (&api.TopicStatus{}); status.Waiting < 1; {
		if status, err = s.c.Status(s.ctx, topic); err != nil {
			s.t.Fatal(err)
		}
	}
	s.release(topic, first.Lease)
	second := <-granted
	s.say("waited fence=%d", second.Fence)

	renewal, err := s.c.Renew(s.ctx, topic, second.Lease, 30*time.Second)
	if err != nil {
		s.t.Fatal(err)
	}
	s.say("renewed ttl=%g", renewal.TTL)
	if _, err := s.c.ForceRelease(s.ctx, topic, client.Force{Fence: second.Fence}); err != nil {
		s.t.Fatal(err)
	}
	_, err = s.c.Renew(s.ctx, topic, second.Lease, 30*time.Second)
	s.say("lost %s", s.refusal(err).Code)
}

func (s goScenario) giveBack(topic string) {
	lease := s.grant(topic).Lease
	s.say("released %t", s.release(topic, lease).Released)
	_, err := s.c.Release(s.ctx, topic, lease)
	s.say("gone %s", s.refusal(err).Code)
}

func (s goScenario) semaphore(topic string) {
	first, second := s.grant(topic, client.Capacity(2)), s.grant(topic, client.Capacity(2))
	s.say("slots %d %d", first.Slot, second.Slot)
	_, err := s.c.Grant(s.ctx, topic, client.Wait(0))
	s.say("full %s", s.refusal(err).Code)
	_, err = s.c.Grant(s.ctx, topic, client.Capacity(3), client.Wait(0))
	conflict := s.refusal(err)
	s.say("conflict %s capacity=%d", conflict.Code, conflict.Capacity)
}

func (s goScenario) events(topic string) {
	var seen []string
	for event, err := range s.c.Watch(s.ctx, topic) {
		if err != nil {
			s.t.Fatal(err)
		}
		seen = append(seen, string(event.Type))
		if event.Type == client.EventStatus {
			s.release(topic, s.grant(topic).Lease)
		}
		if seen[len(seen)-1] == "release" {
			break
		}
	}
	s.say("events %s", strings.Join(seen, " "))
}
