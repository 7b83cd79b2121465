package bench

import (
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
)

// TestAFloorStoresWhatALockServiceWould: a record for a grant and one for a release, none for what changes nothing, once
// it was told to.
func TestAFloorStoresWhatALockServiceWould(t *testing.T) {
	f := &floor{answers: floorAnswers{Acquire: "granted", Release: "released", Status: "held"}}
	call := func(method, target string, status int, body string) {
		t.Helper()
		w := httptest.NewRecorder()
		f.ServeHTTP(w, httptest.NewRequest(method, target, nil))
		if w.Code != status || body != "" && w.Body.String() != body {
			t.Errorf("%s %s: %d %q", method, target, w.Code, w.Body)
		}
	}
	dir := t.TempDir()
	call("POST", "/t", 200, "granted")
	call("POST", syncPath+"?dir="+url.QueryEscape(filepath.Join(dir, "nothing")), 500, "")
	call("POST", syncPath+"?dir="+url.QueryEscape(dir), 200, "")
	defer func() { f.journal.Load().Close() }()
	call("POST", "/t", 200, "granted")
	call("GET", "/t", 200, "held")
	call("DELETE", "/t/1", 200, "released")
	stored, err := os.ReadFile(f.journal.Load().Name())
	if err != nil || len(stored) != 2*len(grantRecord) {
		t.Errorf("%d bytes, %v", len(stored), err)
	}
	f.journal.Load().Close()
	call("POST", "/t", 500, "")
}
