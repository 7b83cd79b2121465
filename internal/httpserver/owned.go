package httpserver

import "net/http"

// owned are the paths that an operation names in full. The wider patterns of topics and leases match them too, and could
// only answer that sse is no lease and llms.txt no topic; what the path's own operations do not take is refused instead,
// with the methods that it does have.
var owned = []string{
	"/{topic}/sse", "/{topic}/history", "/{topic}/force-release", "/README.md", "/llms.txt", "/openapi.yaml", "/openapi.json",
}

// closeOwned gives every method of an owned path that no operation takes to noRoute, and remembers the pattern as none
// of an operation's.
func (s *Server) closeOwned() {
	s.closed = make(map[string]bool)
	for _, path := range owned {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			pattern := method + " " + path
			if s.handles(method, path) == pattern {
				continue
			}
			s.closed[pattern] = true
			s.mux.HandleFunc(pattern, s.noRoute)
		}
	}
}

// handles gives the pattern that a request would be answered under.
func (s *Server) handles(method, path string) string {
	r, err := http.NewRequest(method, path, nil)
	if err != nil {
		return ""
	}
	_, pattern := s.mux.Handler(r)
	return pattern
}
