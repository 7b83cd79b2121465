package app_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"legible.sh/mutex/internal/app"
	"legible.sh/mutex/internal/config"
	"legible.sh/mutex/internal/policy"
)

func options(t *testing.T, environ map[string]string) app.Options {
	t.Helper()
	if environ["MUTEX_LISTEN"] == "" {
		environ["MUTEX_PORT"] = "0"
	}
	c, err := config.Load(pflag.NewFlagSet("", pflag.PanicOnError), environ)
	if err != nil {
		t.Fatal(err)
	}
	return app.Options{Config: c, Log: slog.New(slog.DiscardHandler), Version: "test", Dirs: policy.Dirs{Home: t.TempDir()}}
}

// running is a server that serves.
type running struct {
	*app.Server
	stop func() error // asks it to end, and waits
}

func start(t *testing.T, o app.Options) running {
	t.Helper()
	s, err := app.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	ended := false
	stop := func() error {
		if ended {
			return nil
		}
		ended = true
		cancel()
		return <-done
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return running{s, stop}
}

func call(t *testing.T, client *http.Client, method, url string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func TestStoppingTellsWhoWaitsAndEndsSoon(t *testing.T) {
	s := start(t, options(t, map[string]string{}))
	if status, text := call(t, http.DefaultClient, "POST", s.URL()+"/a"); status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	stream, err := http.Get(s.URL() + "/a/sse")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	waiter := make(chan string, 1)
	go func() {
		res, err := http.Post(s.URL()+"/a?wait=60", "", nil)
		if err != nil {
			waiter <- err.Error()
			return
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		waiter <- string(b)
	}()
	deadline := time.Now().Add(10 * time.Second)
	for {
		if _, text := call(t, http.DefaultClient, "GET", s.URL()+"/a"); strings.Contains(text, `"waiting": 1`) {
			break
		} else if time.Now().After(deadline) {
			t.Fatal("never queued")
		}
	}
	if err := s.stop(); err != nil {
		t.Errorf("stopping: %v", err)
	}
	if text := <-waiter; !strings.Contains(text, "SHUTDOWN") {
		t.Errorf("the waiter was told %s", text)
	}
	if b, _ := io.ReadAll(stream.Body); !strings.Contains(string(b), "event: end") {
		t.Errorf("the stream ended with %q", b)
	}
}

// TestStuckClientsDoNotSpoilTheEnd stops a server while one client has sent half a body and another does not read.
func TestStuckClientsDoNotSpoilTheEnd(t *testing.T) {
	dir := t.TempDir()
	s := start(t, options(t, map[string]string{"MUTEX_DATA_DIR": dir, "MUTEX_SHUTDOWN_TIMEOUT": "0.1"}))
	half := send(t, s, "POST /a?ttl=60 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nme")
	defer half.Close()
	deaf := send(t, s, strings.Repeat("GET /README.md HTTP/1.1\r\nHost: localhost\r\n\r\n", 1000))
	defer deaf.Close()
	if status, text := call(t, http.DefaultClient, "POST", s.URL()+"/b?ttl=60"); status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	if err := s.stop(); err != nil {
		t.Errorf("stopping: %v", err)
	}
	s = start(t, options(t, map[string]string{"MUTEX_DATA_DIR": dir}))
	if _, text := call(t, http.DefaultClient, "GET", s.URL()+"/b/history"); !strings.Contains(text, `"acquired"`) {
		t.Errorf("the history has lost what was there: %s", text)
	}
}

func send(t *testing.T, s running, request string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLeasesOutliveARestart(t *testing.T) {
	dir := t.TempDir()
	s := start(t, options(t, map[string]string{"MUTEX_DATA_DIR": dir}))
	_, grant := call(t, http.DefaultClient, "POST", s.URL()+"/a?ttl=600")
	_, rest, _ := strings.Cut(grant, `"lease": "`)
	lease := rest[:32]

	_, err := app.New(options(t, map[string]string{"MUTEX_DATA_DIR": dir}))
	if err == nil {
		t.Fatal("two servers on one directory")
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s = start(t, options(t, map[string]string{"MUTEX_DATA_DIR": dir}))
	if status, text := call(t, http.DefaultClient, "POST", s.URL()+"/a/"+lease+"/renew"); status != 200 {
		t.Errorf("renewing after the restart: %d %s", status, text)
	}
	if _, text := call(t, http.DefaultClient, "GET", s.URL()+"/a/history"); !strings.Contains(text, `"acquired"`) {
		t.Errorf("history: %s", text)
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.sock")
	o := options(t, map[string]string{"MUTEX_LISTEN": "unix:" + path})
	left, err := net.Listen("unix", path) // a server that died leaves its socket behind
	if err != nil {
		t.Fatal(err)
	}
	if _, err := app.New(o); err == nil {
		t.Fatal("took a socket that answers")
	}
	left.(*net.UnixListener).SetUnlinkOnClose(false)
	left.Close()
	start(t, o)
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
	defer client.CloseIdleConnections()
	if status, text := call(t, client, "POST", "http://any.name/a"); status != 200 {
		t.Errorf("%d %s", status, text)
	}
}

func TestTLS(t *testing.T) {
	cert, key := certificate(t)
	s := start(t, options(t, map[string]string{"MUTEX_TLS_CERT": cert, "MUTEX_TLS_KEY": key}))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	if status, text := call(t, client, "POST", s.URL()+"/a"); status != 200 || !strings.Contains(text, `"renew": "https://`) {
		t.Errorf("%d %s", status, text)
	}
}

// certificate makes one for itself.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{{127, 0, 0, 1}}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", keyDER)
}

func TestPolicyIsReadAgainAndAWrongOneChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.yaml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("rules:\n  - topic: short-*\n    max_ttl: 1m\n")
	reload := make(chan os.Signal)
	o := options(t, map[string]string{"MUTEX_POLICY": path})
	o.Reload = reload
	s := start(t, o)
	limited := func() bool {
		status, _ := call(t, http.DefaultClient, "POST", s.URL()+"/short-1?ttl=600")
		return status == 400
	}
	if !limited() {
		t.Fatal("the rule does not hold")
	}
	write("rules: nonsense")
	reload <- syscall.SIGHUP
	reload <- syscall.SIGHUP // taken only when the first was done with
	if !limited() {
		t.Error("a wrong file changed the rules")
	}
	write("rules:\n  - topic: other\n    max_ttl: 1m\n")
	reload <- syscall.SIGHUP
	reload <- syscall.SIGHUP
	if limited() {
		t.Error("the new file is not in force")
	}
	write("rules: nonsense")
	if _, err := app.New(o); err == nil {
		t.Error("started with a wrong file")
	}
}

func TestLocalServersMakeAnAdminToken(t *testing.T) {
	o := options(t, map[string]string{})
	s := start(t, o)
	address := strings.TrimPrefix(s.URL(), "http://")
	token, err := policy.FindAdminToken(o.Dirs, address)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequest("GET", s.URL()+"/-/topics", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 200 {
		t.Errorf("%d", res.StatusCode)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := policy.FindAdminToken(o.Dirs, address); !errors.Is(err, policy.ErrNoAdminFile) {
		t.Errorf("after the end: %v", err)
	}
}

func TestSilentClientsAreCutOff(t *testing.T) {
	s := start(t, options(t, map[string]string{"MUTEX_READ_HEADER_TIMEOUT": "50ms"}))
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("POST /a HTTP/1.1\r\nHost:")); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("still open after half a minute")
	}
}

// TestAConnectionWithoutARequestDoesNotDelayTheEnd: browsers open connections ahead of need. Were they waited for, the
// budget for requests would run out.
func TestAConnectionWithoutARequestDoesNotDelayTheEnd(t *testing.T) {
	o := options(t, map[string]string{"MUTEX_SHUTDOWN_TIMEOUT": "2s"})
	var log strings.Builder
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	s := start(t, o)
	address := strings.TrimPrefix(s.URL(), "http://")
	silent, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if status, text := call(t, http.DefaultClient, "GET", s.URL()+"/a"); status != 200 { // silent is accepted by now
		t.Fatalf("%d %s", status, text)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if strings.Contains(log.String(), "cut off") {
		t.Errorf("the connection was waited for:\n%s", log.String())
	}
	if n, err := silent.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Errorf("read %d, %v from the connection", n, err)
	}
}

// TestWhatWasPerhapsNotMeantIsSaid: one line that a restart forgets, and none about the network on loopback.
func TestWhatWasPerhapsNotMeantIsSaid(t *testing.T) {
	for _, stored := range []bool{false, true} {
		environ := map[string]string{}
		if stored {
			environ["MUTEX_DATA_DIR"] = t.TempDir()
		}
		o := options(t, environ)
		var log strings.Builder
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := app.Serve(ended, o); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(log.String(), "a restart forgets"); said == stored || strings.Contains(log.String(), "WARN") {
			t.Errorf("stored %t:\n%s", stored, log.String())
		}
	}
}
