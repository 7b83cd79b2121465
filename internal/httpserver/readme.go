package httpserver

import (
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"

	mutex "legible.sh/mutex"
)

// The README is read here by those who have nothing else, so what it leads to is served as well. That is no part of the
// contract, and stands where no topic can be: a topic may be named docs.

// documents gives the texts behind the README's links, by their paths in the repository. They are not read before a
// server asks: most runs of this program are of a command that has no use for them.
var documents = sync.OnceValue(func() map[string][]byte {
	texts := make(map[string][]byte)
	read := func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		texts[name], err = mutex.Docs.ReadFile(name)
		return err
	}
	if err := fs.WalkDir(mutex.Docs, ".", read); err != nil {
		panic(err) // they are part of the binary
	}
	return texts
})

func (s *Server) mountDocs() {
	s.readme = relink("README.md", mutex.Readme)
	for name, text := range documents() {
		text, at := relink(name, text), served(name)
		s.mux.HandleFunc("GET /"+at, func(w http.ResponseWriter, _ *http.Request) { s.text(w, typeMarkdown, text) })
	}
}

// served is the path, without its first slash, of a file of the repository; "" for one that is not served.
func served(name string) string {
	switch {
	case name == "README.md", name == "openapi.yaml":
		return name
	case documents()[name] != nil:
		return "-/docs/" + path.Base(name)
	}
	return ""
}

var link = regexp.MustCompile(`\[([^\]]+)\]\(([^)\s#]+)(#[^)\s]*)?\)`)

// relink points a text's links to where their files are served. Of one that leads into the repository alone, to a folder
// of examples say, the words are left.
func relink(name string, text []byte) []byte {
	up := strings.Repeat("../", strings.Count(served(name), "/"))
	return link.ReplaceAllFunc(text, func(found []byte) []byte {
		parts := link.FindSubmatch(found)
		words, target, place := string(parts[1]), string(parts[2]), string(parts[3])
		if strings.Contains(target, "://") {
			return found
		}
		if at := served(path.Join(path.Dir(name), target)); at != "" {
			return []byte("[" + words + "](" + up + at + place + ")")
		}
		return []byte(words)
	})
}
