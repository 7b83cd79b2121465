package httpserver_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// fuzzed sends whatever it is given straight to the handler, and holds the answer to what every answer must be.
func fuzzed(t *testing.T, s *server, r *http.Request) {
	w := httptest.NewRecorder()
	s.Config.Handler.ServeHTTP(w, r)
	if w.Code >= 500 && w.Code != http.StatusNotImplemented {
		t.Fatalf("%s %q: %d %s", r.Method, r.URL, w.Code, w.Body)
	}
	if w.Code >= 300 && w.Code < 400 {
		t.Fatalf("%s %q: a redirect to %s", r.Method, r.URL, w.Header().Get("Location"))
	}
	if w.Code < 400 {
		return
	}
	var e struct{ Error, Code, Hint string }
	if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || e.Error == "" || e.Code == "" || e.Hint == "" {
		t.Fatalf("%s %q: %d %s", r.Method, r.URL, w.Code, w.Body)
	}
}

func request(method, path, query, body string) *http.Request {
	r := httptest.NewRequest(method, "http://localhost/", strings.NewReader(body))
	r.URL = &url.URL{Scheme: "http", Host: "localhost", Path: path, RawQuery: query}
	return r
}

func FuzzPath(f *testing.F) {
	s := start(f, nil)
	for _, path := range []string{"/a", "//", "/a/../b", "/-", "/-/", "/-/topics", "/a/-/renew", "/a/0123456789abcdef0123456789abcdef", "/\x00", "/a b", "", "/ä"} {
		f.Add("GET", path)
		f.Add("POST", path)
		f.Add("DELETE", path)
	}
	f.Fuzz(func(t *testing.T, method, path string) {
		if strings.HasSuffix(path, "/sse") || !validMethod(method) {
			return // a stream lasts
		}
		fuzzed(t, s, request(method, path, "", ""))
	})
}

func validMethod(m string) bool {
	return m != "" && strings.Trim(m, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

func FuzzQuery(f *testing.F) {
	s := start(f, nil)
	for _, q := range []string{"ttl=60", "ttl=%zz", "ttl=1;wait=2", "tll=1", "ttl=NaN&capacity=1e9", "name=%00%ff", "&&=", "ttl", "fence=1", "dry_run=maybe", "before=-1", "since=yesterday"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, q string) {
		if strings.Contains(q, "wait") {
			return // it would
		}
		for _, c := range [][2]string{{"POST", "/a"}, {"POST", "/a/-/renew"}, {"GET", "/a"}, {"GET", "/a/history"}, {"GET", "/-/topics"}, {"POST", "/a/force-release"}} {
			fuzzed(t, s, request(c[0], c[1], q, ""))
		}
	})
}

func FuzzHeaders(f *testing.F) {
	s := start(f, nil)
	f.Add("X-Name", "=?UTF-8?Q?=FF?=", "body")
	f.Add("Idempotency-Key", `"`, "")
	f.Add("X-Lease", "0123456789abcdef0123456789abcdef", "")
	f.Add("Accept", "text/html;q=,*/*;q=2", "")
	f.Add("Origin", "null", "")
	f.Add("Host", "evil", "")
	f.Add("X-Pid", "999999999999999999999", "\xff\xfe")
	f.Fuzz(func(t *testing.T, name, value, body string) {
		if strings.EqualFold(name, "Accept") && strings.Contains(value, "event-stream") {
			return // a stream lasts
		}
		for _, c := range [][2]string{{"POST", "/a"}, {"DELETE", "/a/-"}, {"GET", "/a"}, {"GET", "/"}} {
			r := request(c[0], c[1], "", body)
			r.Header[http.CanonicalHeaderKey(name)] = []string{value}
			fuzzed(t, s, r)
		}
	})
}

// FuzzNames holds the answers that are appended by hand equal to what encoding/json makes of the generated types.
func FuzzNames(f *testing.F) {
	s := start(f, nil)
	for _, name := range []string{"a", `"\`, "<img src=x>", "\u2028", "é", "🦫", "\x7f", "&"} {
		f.Add(name, 60.0)
	}
	f.Add("x", 0.1)
	f.Add("x", 3600.0)
	f.Add("x", 1234.000001)
	f.Fuzz(func(t *testing.T, name string, ttl float64) {
		q := url.Values{"name": {name}, "ttl": {jsonNumber(ttl)}}
		w := httptest.NewRecorder()
		s.Config.Handler.ServeHTTP(w, request("POST", "/fuzz", q.Encode(), ""))
		if w.Code != http.StatusOK {
			return
		}
		var grant struct{ Lease string }
		same(t, w.Body.Bytes(), &grant)
		for _, c := range [][2]string{{"POST", "/fuzz"}, {"GET", "/fuzz"}, {"POST", "/fuzz/" + grant.Lease + "/renew"}, {"DELETE", "/fuzz/" + grant.Lease}} {
			w := httptest.NewRecorder()
			s.Config.Handler.ServeHTTP(w, request(c[0], c[1], "", ""))
			same(t, w.Body.Bytes(), nil)
		}
	})
}

func jsonNumber(f float64) string {
	b, err := json.Marshal(f)
	if err != nil {
		return "60"
	}
	return string(b)
}

// same checks that a text is what an encoder with the house's settings makes of what it says, key order apart from none:
// the tokens are read in order and written again.
func same(t *testing.T, text []byte, into any) {
	t.Helper()
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
	}
	var compact, indented bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if err := json.Indent(&indented, compact.Bytes(), "", "  "); err != nil {
		t.Fatal(err)
	}
	if indented.String()+"\n" != string(text) {
		t.Fatalf("got\n%s\nwant\n%s", text, indented.String())
	}
}
