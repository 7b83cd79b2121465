package api_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"testing"
	"time"

	"legible.sh/mutex/api"
)

// recorder keeps what reached the handler. It embeds the interface for the
// operations that a test does not call.
type recorder struct {
	api.ServerInterface
	topic  string
	lease  string
	params any
}

func (s *recorder) Acquire(_ http.ResponseWriter, _ *http.Request, topic string, params api.AcquireParams) {
	s.topic, s.params = topic, params
}

func (s *recorder) Release(_ http.ResponseWriter, _ *http.Request, topic, lease string, params api.ReleaseParams) {
	s.topic, s.lease, s.params = topic, lease, params
}

func (s *recorder) GetHistory(_ http.ResponseWriter, _ *http.Request, topic string, params api.GetHistoryParams) {
	s.topic, s.params = topic, params
}

func (s *recorder) ForceRelease(_ http.ResponseWriter, _ *http.Request, topic string, params api.ForceReleaseParams) {
	s.topic, s.params = topic, params
}

func (s *recorder) GetTopic(_ http.ResponseWriter, _ *http.Request, topic string) {
	s.topic = topic
}

func (s *recorder) GetHelp(http.ResponseWriter, *http.Request) {
	s.params = "help"
}

// send gives what reached the handler, and what kept it from being reached.
func send(method, target string, header http.Header) (*recorder, *api.BindError) {
	var refused *api.BindError
	handler := new(recorder)
	mux := http.NewServeMux()
	api.Mount(mux, handler, func(_ http.ResponseWriter, _ *http.Request, err *api.BindError) {
		refused = err
	})
	r := httptest.NewRequest(method, target, nil)
	if header != nil {
		r.Header = header
	}
	mux.ServeHTTP(httptest.NewRecorder(), r)
	return handler, refused
}

func ptr[T any](v T) *T { return &v }

func TestBinding(t *testing.T) {
	tests := []struct {
		name, method, target string
		header               http.Header
		want                 any
	}{
		{"nothing sent differs from zero", "POST", "/t", nil, api.AcquireParams{}},
		{"zero sent", "POST", "/t?wait=0", nil, api.AcquireParams{Wait: ptr(0.0)}},
		{"every type", "POST", "/t?ttl=0.5&capacity=3&name=worker-3", nil,
			api.AcquireParams{TTL: ptr(0.5), Capacity: ptr(3), Name: ptr("worker-3")}},
		{"percent-encoding and plus", "POST", "/t?name=%C3%A9t%C3%A9+1", nil,
			api.AcquireParams{Name: ptr("été 1")}},
		{"an encoded name of a parameter", "POST", "/t?%74tl=60", nil, api.AcquireParams{TTL: ptr(60.0)}},
		{"an empty text", "POST", "/t?name=", nil, api.AcquireParams{Name: ptr("")}},
		{"empty pairs", "POST", "/t?&&ttl=60&", nil, api.AcquireParams{TTL: ptr(60.0)}},
		{"headers", "POST", "/t", http.Header{"X-Name": {"w"}, "X-Pid": {"7"}, "Idempotency-Key": {`"k"`}},
			api.AcquireParams{XName: ptr("w"), XPid: ptr(7), IdempotencyKey: ptr(`"k"`)}},
		{"a header in the path item", "DELETE", "/t/-", http.Header{"X-Lease": {"l"}}, api.ReleaseParams{XLease: ptr("l")}},
		{"a boolean and a fence", "POST", "/t/force-release?dry_run=true&fence=9007199254740991", nil,
			api.ForceReleaseParams{DryRun: ptr(true), Fence: ptr(int64(9007199254740991))}},
		{"a time", "GET", "/t/history?since=2026-03-01T00:00:00Z", nil,
			api.GetHistoryParams{Since: ptr(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))}},
		{"HEAD as GET", "HEAD", "/t/history?limit=5", nil, api.GetHistoryParams{Limit: ptr(5)}},
		{"pages take any query", "GET", "/?utm_source=x", nil, "help"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, refused := send(test.method, test.target, test.header)
			if refused != nil {
				t.Fatal(refused)
			}
			if !reflect.DeepEqual(got.params, test.want) {
				t.Errorf("bound %+v, want %+v", got.params, test.want)
			}
		})
	}
}

func TestBindingRefuses(t *testing.T) {
	tests := []struct {
		name, method, target string
		header               http.Header
		parameter, in        string
		err                  error // nil: not of the parameter's type
	}{
		{"an unknown parameter", "POST", "/t?tll=60", nil, "tll", "query", api.ErrUnknownParam},
		{"any parameter where there are none", "GET", "/t?ttl=60", nil, "ttl", "query", api.ErrUnknownParam},
		{"a parameter without a name", "POST", "/t?=60", nil, "", "query", api.ErrUnknownParam},
		{"a second value", "POST", "/t?ttl=60&ttl=61", nil, "ttl", "query", api.ErrRepeatedParam},
		{"a second header", "POST", "/t", http.Header{"X-Name": {"a", "b"}}, "X-Name", "header", api.ErrRepeatedParam},
		{"broken percent-encoding", "POST", "/t?ttl=%zz", nil, "ttl", "query", api.ErrMalformed},
		{"a semicolon", "POST", "/t?ttl=60;wait=5", nil, "ttl", "query", api.ErrMalformed},
		{"no number", "POST", "/t?ttl=5m", nil, "ttl", "query", nil},
		{"an empty number", "POST", "/t?ttl=", nil, "ttl", "query", nil},
		{"a fraction of a holder", "POST", "/t?capacity=1.5", nil, "capacity", "query", nil},
		{"a huge integer", "POST", "/t?capacity=99999999999999999999", nil, "capacity", "query", nil},
		{"no boolean", "POST", "/t/force-release?dry_run=yes", nil, "dry_run", "query", nil},
		{"no time", "GET", "/t/history?since=yesterday", nil, "since", "query", nil},
		{"no number in a header", "POST", "/t", http.Header{"X-Pid": {"me"}}, "X-Pid", "header", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, refused := send(test.method, test.target, test.header)
			if refused == nil || got.topic != "" {
				t.Fatalf("reached the handler with %+v", got.params)
			}
			bad := refused.Errs[0]
			if len(refused.Errs) != 1 || bad.Name != test.parameter || bad.In != test.in {
				t.Errorf("refused for %v", refused)
			}
			if test.err != nil && !errors.Is(refused, test.err) {
				t.Errorf("refused for %v, want %v", refused, test.err)
			}
		})
	}
}

// TestBindErrorNamesEverythingAtOnce: one bad parameter does not hide another,
// and what could be bound is there to be checked for its range.
func TestBindErrorNamesEverythingAtOnce(t *testing.T) {
	_, refused := send("POST", "/t?ttl=x&wait=999&tll=1", http.Header{"X-Pid": {"y"}})
	if refused == nil {
		t.Fatal("not refused")
	}
	var names []string
	for _, bad := range refused.Errs {
		names = append(names, bad.Name)
	}
	if want := []string{"ttl", "tll", "X-Pid"}; !slices.Equal(names, want) {
		t.Errorf("refused %q, want %q", names, want)
	}
	params, ok := refused.Params.(api.AcquireParams)
	if !ok || params.Wait == nil || *params.Wait != 999 {
		t.Errorf("Params are %+v", refused.Params)
	}
	if refused.OperationID != "acquire" || !slices.Contains(refused.Known, "ttl") {
		t.Errorf("operation %q knows %q", refused.OperationID, refused.Known)
	}
}

func TestPathParameters(t *testing.T) {
	got, refused := send("DELETE", "/deploy:staging/5f0c8a1e6b7d4c3f9a2b1d0e8c7f6a54", nil)
	if refused != nil {
		t.Fatal(refused)
	}
	if got.topic != "deploy:staging" || got.lease != "5f0c8a1e6b7d4c3f9a2b1d0e8c7f6a54" {
		t.Errorf("topic %q, lease %q", got.topic, got.lease)
	}
}

// TestBindingIsCheap holds the generated layer to its budget. The mux takes
// one allocation, each parameter one.
func TestBindingIsCheap(t *testing.T) {
	const budget = 8
	mux := http.NewServeMux()
	api.Mount(mux, ignore{}, func(_ http.ResponseWriter, _ *http.Request, err *api.BindError) { t.Error(err) })
	r := acquireRequest()
	w := httptest.NewRecorder()
	if n := testing.AllocsPerRun(100, func() { mux.ServeHTTP(w, r) }); n > budget {
		t.Errorf("%v allocations to bind an acquire, want at most %d", n, budget)
	}
}

func BenchmarkBinding(b *testing.B) {
	mux := http.NewServeMux()
	api.Mount(mux, ignore{}, func(_ http.ResponseWriter, _ *http.Request, err *api.BindError) { b.Error(err) })
	r := acquireRequest()
	w := httptest.NewRecorder()
	b.ReportAllocs()
	for b.Loop() {
		mux.ServeHTTP(w, r)
	}
}

// ignore is a handler that does nothing.
type ignore struct{ api.ServerInterface }

func (ignore) Acquire(http.ResponseWriter, *http.Request, string, api.AcquireParams) {}

func acquireRequest() *http.Request {
	r := httptest.NewRequest("POST", "/deploy:staging?ttl=60&wait=300&capacity=3&name=worker-3", nil)
	r.Header.Set("Idempotency-Key", "0b9c6d1e-2f3a-4b5c-8d7e-9f0a1b2c3d4e")
	return r
}
