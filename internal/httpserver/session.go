package httpserver

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"legible.sh/mutex/internal/web"
)

// A browser cannot send a bearer token by itself. Whoever shows the admin token once gets a session instead: a random
// number in a cookie that scripts cannot read, that goes to paths below /-/ only and never along with a request that
// another site has made. It opens the pages; programs keep sending the token.

const (
	sessionLife = 12 * time.Hour
	maxSessions = 1000
)

// sessions are the browsers that have shown the admin token. They live in memory and end with the process.
type sessions struct {
	mu   sync.Mutex
	ends map[[sha256.Size]byte]time.Time // by the SHA-256 of the number; guarded by mu
}

// begin makes a session and gives its number.
func (s *sessions) begin() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	number := hex.EncodeToString(b[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ends == nil {
		s.ends = make(map[[sha256.Size]byte]time.Time)
	}
	s.makeRoom()
	s.ends[sha256.Sum256([]byte(number))] = time.Now().Add(sessionLife)
	return number
}

// makeRoom forgets what has ended, and where that is not enough, the oldest. The caller holds the lock.
func (s *sessions) makeRoom() {
	now := time.Now()
	var oldest [sha256.Size]byte
	var first time.Time
	for id, end := range s.ends {
		if end.Before(now) {
			delete(s.ends, id)
			continue
		}
		if first.IsZero() || end.Before(first) {
			oldest, first = id, end
		}
	}
	if len(s.ends) >= maxSessions {
		delete(s.ends, oldest)
	}
}

// lives tells whether a number is that of a session that has not ended.
func (s *sessions) lives(number string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(s.ends[sha256.Sum256([]byte(number))])
}

func (s *sessions) end(number string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ends, sha256.Sum256([]byte(number)))
}

// adminOrSession lets in who sends the admin token, and the browser of one who has shown it.
func (s *Server) adminOrSession(r *http.Request) error {
	if c, err := r.Cookie(cookieName(r)); err == nil && s.sessions.lives(c.Value) {
		return nil
	}
	return s.admin(r)
}

// signIn takes the admin token out of a form.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request) {
	if !s.ownPage(w, r) {
		return
	}
	body, err := s.readBody(w, r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	form, _ := url.ParseQuery(body) // what cannot be read is no token
	if err := s.options.Policy.Admin(strings.TrimSpace(form.Get("token"))); err != nil {
		s.signInPage(w, r, err, "That is not the admin token of this server.")
		return
	}
	http.SetCookie(w, s.cookie(r, s.sessions.begin(), int(sessionLife.Seconds())))
	seeOther(w, "dashboard")
}

// ownPage refuses a form that another origin's page has sent. Not even where other origins may call, as programs do,
// may they sign a browser in or out.
func (s *Server) ownPage(w http.ResponseWriter, r *http.Request) bool {
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		s.fail(w, r, errCrossOrigin)
		return false
	}
	return true
}

// signOut ends the browser's session.
func (s *Server) signOut(w http.ResponseWriter, r *http.Request) {
	if !s.ownPage(w, r) {
		return
	}
	if c, err := r.Cookie(cookieName(r)); err == nil {
		s.sessions.end(c.Value)
	}
	http.SetCookie(w, s.cookie(r, "", -1))
	seeOther(w, "dashboard")
}

// toDashboard answers who comes back to the address of the form.
func (s *Server) toDashboard(w http.ResponseWriter, _ *http.Request) { seeOther(w, "dashboard") }

// seeOther sends a browser to a page beside this one. The way there is relative, so that it holds behind a proxy too.
func seeOther(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
}

// signInPage answers a refusal to a browser: with the form, or with what is missing for there to be one.
func (s *Server) signInPage(w http.ResponseWriter, r *http.Request, err error, problem string) {
	v, known := judge(err)
	if !known {
		s.fail(w, r, err)
		return
	}
	page := web.SignIn{Problem: problem}
	if v.status != http.StatusUnauthorized {
		page = web.SignIn{Problem: sentence(v.err.Error()), Hint: v.hint, Closed: true}
	} else {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	s.pageWith(w, r, v.status, func(b *buffer) error { return s.options.Pages.SignIn(b, page) })
}

// sentence makes an error's text one.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

// cookie carries a session's number to the admin's pages of this server and nowhere else.
func (s *Server) cookie(r *http.Request, number string, maxAge int) *http.Cookie {
	c := &http.Cookie{
		Name: cookieName(r), Value: number, Path: "/-/", MaxAge: maxAge, HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	}
	if u := s.options.BaseURL; u != nil {
		c.Path = strings.TrimSuffix(u.Path, "/") + "/-/"
		c.Secure = c.Secure || u.Scheme == "https"
	}
	return c
}

// cookieName keeps servers on other ports of a machine apart: a browser sends a cookie to all of them.
func cookieName(r *http.Request) string {
	const name = "mutex-session"
	if _, port, err := net.SplitHostPort(r.Host); err == nil && port != "" {
		return name + "-" + port
	}
	return name
}
