package teach_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	mutex "legible.sh/mutex"
	"legible.sh/mutex/internal/teach"
)

var update = flag.Bool("update", false, "write what is generated into the repository's files")

const root = "../.."

// TestGeneratedFilesAreFresh holds the files that are told from the contract against it.
func TestGeneratedFilesAreFresh(t *testing.T) {
	block := "```markdown\n" + teach.Block("$MUTEX_URL") + "```\n"
	for name, want := range map[string]string{
		"docs/help.txt":  teach.Help("{{url}}"),
		"docs/llms.txt":  teach.Llms(),
		"README.md":      between(t, "README.md", block),
		"docs/agents.md": between(t, "docs/agents.md", block),
	} {
		path := filepath.Join(root, name)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got := read(t, path); got != want {
			t.Errorf("%s is not what the contract says: run go test ./internal/teach -update", name)
		}
	}
}

// between puts the block between the marks that a file has for it.
func between(t *testing.T, name, block string) string {
	t.Helper()
	const begin, end = "<!-- teach -->\n", "<!-- /teach -->\n"
	before, rest, ok := strings.Cut(read(t, filepath.Join(root, name)), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has lost its marks %q and %q", name, begin, end)
	}
	return before + begin + block + end + after
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestEveryTextHasTheContract: whatever tells somebody how to hold a lease says the same, word for word.
func TestEveryTextHasTheContract(t *testing.T) {
	dir := t.TempDir()
	if _, err := teach.WriteSkills(dir, "http://127.0.0.1:4185"); err != nil {
		t.Fatal(err)
	}
	all := names()
	for _, text := range []struct {
		name, text string
		tongue     teach.Tongue
		rules      []string
	}{
		{"openapi.yaml", string(mutex.SpecYAML), teach.HTTP, []string{"grant", "reread", "renew", "lost", "fence", "release", "secret"}},
		{"llms.txt", string(mutex.Llms), teach.HTTP, all},
		{"README.md", string(mutex.Readme), teach.HTTP, without(all, "ttl")},
		{"help", mutex.Help, teach.HTTP, []string{"grant", "renew", "lost", "fence"}},
		{"mutex teach", teach.Block("https://mutex.test"), teach.HTTP, without(all, "ttl")},
		{"skill mutex", read(t, filepath.Join(dir, "mutex", "SKILL.md")), teach.Command, all},
		{"skill mutex, curl", read(t, filepath.Join(dir, "mutex", "SKILL.md")), teach.HTTP, []string{"grant", "lost"}},
		{"skill agentmutex", read(t, filepath.Join(dir, "agentmutex", "SKILL.md")), teach.Directory, all},
		{"MCP", teach.Instructions(), teach.MCP, []string{"when", "name", "grant", "reread", "lost", "fence", "release"}},
	} {
		said := plain(text.text)
		for _, rule := range text.rules {
			if want := plain(text.tongue.Say(rule)); !strings.Contains(said, want) {
				t.Errorf("%s lacks the rule %q: %s", text.name, rule, want)
			}
		}
	}
}

func names() (all []string) {
	for _, r := range teach.Contract {
		all = append(all, r.Name)
	}
	return all
}

func without(all []string, one string) (rest []string) {
	for _, name := range all {
		if name != one {
			rest = append(rest, name)
		}
	}
	return rest
}

// plain is a text without line breaks and emphasis.
func plain(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("*", "", "`", "").Replace(text)), " ")
}

func TestTheBlockNamesTheServer(t *testing.T) {
	block := teach.Block("https://mutex.test/")
	if !strings.Contains(block, `"https://mutex.test/TOPIC?`) || strings.Contains(block, "{{") {
		t.Error(block)
	}
}

func TestSkillsReplaceOnlySkills(t *testing.T) {
	dir := t.TempDir()
	if _, err := teach.WriteSkills(dir, "http://old.test"); err != nil {
		t.Fatal(err)
	}
	files, err := teach.WriteSkills(dir, "http://new.test")
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	if text := read(t, files[0]); !strings.Contains(text, "http://new.test") || strings.Contains(text, "old.test") {
		t.Error("the skill was not replaced")
	}
	mine := []byte("my own notes\n")
	if err := os.WriteFile(files[1], mine, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := teach.WriteSkills(dir, "http://new.test"); err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("%v", err)
	}
	if b, _ := os.ReadFile(files[1]); !bytes.Equal(b, mine) {
		t.Errorf("%q was overwritten", mine)
	}
}

// TestSkillsSayWhatTheyAreFor: an agent sees nothing but name and description until it has chosen a skill.
func TestSkillsSayWhatTheyAreFor(t *testing.T) {
	files, err := teach.WriteSkills(t.TempDir(), "http://127.0.0.1:4185")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		head, _, ok := strings.Cut(strings.TrimPrefix(read(t, path), "---\n"), "\n---\n")
		name, description, _ := strings.Cut(head, "\ndescription: ")
		if !ok || name != "name: "+filepath.Base(filepath.Dir(path)) || len(description) < 100 || len(description) > 1024 {
			t.Errorf("%s begins with %q", path, head)
		}
	}
}
