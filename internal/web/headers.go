package web

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
)

// policy lets a page use what comes from its own server, and nothing else. An image may stand in the page itself.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// Headers sets what every page needs.
func Headers(h http.Header) {
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // a page's own forms tell their origin, nobody else learns a topic's name
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// digests has the beginning of the SHA-256 of every static file, by name.
var digests = func() map[string]string {
	all := make(map[string]string)
	entries, err := fs.ReadDir(files, "static")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		b, err := files.ReadFile("static/" + e.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(b)
		all[e.Name()] = hex.EncodeToString(sum[:6])
	}
	return all
}()

// asset is the path of a static file below the server's root. It changes with the content, so that a browser may
// keep what it has.
func asset(name string) string {
	digest, ok := digests[name]
	if !ok {
		panic("web: no static file " + name)
	}
	return "-/static/" + name + "?v=" + digest
}

// Static serves the stylesheet, the scripts and the icons below /static/.
func Static() http.Handler {
	files := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		if v := r.URL.Query().Get("v"); v != "" && v == digests[path.Base(r.URL.Path)] {
			h.Set("Cache-Control", "public, max-age=31536000, immutable")
		} else {
			h.Set("Cache-Control", "no-cache")
		}
		files.ServeHTTP(w, r)
	})
}
