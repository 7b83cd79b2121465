package arch_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "legible.sh/mutex/"

// arrows says which of our packages each package may import. A package that is not listed may import none. Tests
// may import anything.
var arrows = map[string][]string{
	"api/client":          {"api"},
	"topicactor":          {"internal/lease"},
	"registry":            {"topicactor", "internal/lease"},
	"internal/journal":    {"internal/lease", "internal/journal/*"},
	"internal/journal/*":  {"internal/lease", "internal/journal/*"},
	"internal/history":    {"internal/lease"},
	"internal/policy":     {"internal/lease", "internal/private"},
	"internal/config":     {"internal/private"},
	"internal/metrics":    {"internal/lease"},
	"internal/web":        {"api", "."},
	"internal/httpserver": {"api", ".", "internal/lease", "internal/policy", "internal/web", "registry", "topicactor"},
	"internal/mcpserver":  {"api", "api/client", "internal/teach"},
	"internal/app":        {"*"},
	"internal/app/*":      {"internal/app", "internal/config"},
	"internal/locker":     {},
	"internal/remote":     {"api", "api/client", "internal/locker"},
	"internal/dirstore":   {"internal/lease", "internal/history", "internal/locker"},
	"internal/cli":        {"internal/locker", "internal/supervise"},
	"cmd/*":               {"internal/app", "internal/cli", "internal/config", "internal/journal", "internal/locker", "internal/policy", "internal/private", "internal/remote", "internal/dirstore", "internal/bench", "internal/supervise", "internal/fence", "internal/teach", "internal/mcpserver", "api", "api/client"},
}

// onlyIn says which packages may use a third party's library.
var onlyIn = map[string][]string{
	"github.com/oklog/run":            {"internal/app"},
	"github.com/caarlos0/env/v11":     {"internal/config"},
	"github.com/getkin/kin-openapi":   {"api"},
	"modernc.org/sqlite":              {"internal/history", "examples/*"},
	"github.com/modelcontextprotocol": {"internal/mcpserver"},
	"github.com/oapi-codegen/runtime": {"api"},
}

type pkg struct {
	ImportPath, Doc string
	GoFiles         []string
	Imports         []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Doc,GoFiles,Imports", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// ours gives a package's path below the module, "." for its root.
func ours(importPath string) (string, bool) {
	if importPath+"/" == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module)
}

func allowed(rules map[string][]string, name string) []string {
	if to, ok := rules[name]; ok {
		return to
	}
	return rules[path.Dir(name)+"/*"]
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		dir, all := strings.CutSuffix(p, "*")
		return p == name || all && strings.HasPrefix(name, dir)
	})
}

func TestImportsFollowTheArrows(t *testing.T) {
	for _, p := range packages(t) {
		name, _ := ours(p.ImportPath)
		for _, imported := range p.Imports {
			to, is := ours(imported)
			if is && !matches(allowed(arrows, name), to) {
				t.Errorf("%s must not import %s", name, to)
			}
		}
	}
}

func TestLibrariesStayInTheirRoom(t *testing.T) {
	for _, p := range packages(t) {
		name, _ := ours(p.ImportPath)
		for lib, rooms := range onlyIn {
			uses := slices.ContainsFunc(p.Imports, func(i string) bool { return i == lib || strings.HasPrefix(i, lib+"/") })
			if uses && !matches(rooms, name) {
				t.Errorf("%s must not use %s; only %s does", name, lib, strings.Join(rooms, ", "))
			}
		}
	}
}

func TestEveryPackageSaysWhatItOwns(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.GoFiles) > 0 && p.Doc == "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}
