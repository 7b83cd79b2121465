package sdktest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// story is what every client tells of the scenario, whatever its language: a lease taken, one refused with its reasons,
// one waited for, kept, lost to an administrator; one taken, used and given back as docs/sdk.md has it; one given back
// twice; a semaphore, full and asked for with another capacity; and a topic watched.
const story = `acquired fence=1 slot=0
busy BUSY holders=worker-a
waited fence=2
renewed ttl=30
lost NOT_FOUND
deployed fence=3
released true
gone NOT_FOUND
slots 0 1
full BUSY
conflict CONFLICT capacity=2
events status grant release
`

// A language is one section of docs/sdk.md: the command there makes a client, and the program beside this file uses it.
type language struct {
	heading string
	tools   string // says what must be installed
	program string // of this directory; the lines that docs/sdk.md shows are marked in it
	path    string // of the tools, below the cache
	also    []string
	runs    string                        // the program that runs it
	steps   func(cache string) [][]string // compile and run
}

func typescript(heading, program string) language {
	return language{
		heading: heading, tools: "typescript/package-lock.json", program: "typescript/" + program + ".ts",
		path: "typescript/node_modules/.bin", runs: "node", also: []string{"typescript/tsconfig.json", "typescript/package.json"},
		steps: func(string) [][]string { return [][]string{{"tsc", "-p", "."}, {"node", "out/" + program + ".js"}} },
	}
}

var languages = []language{
	{
		heading: "Python", tools: "python/requirements.txt", program: "python/scenario.py", path: "python/venv/bin", runs: "python3",
		steps: func(string) [][]string { return [][]string{{"python", "scenario.py"}} },
	},
	typescript("TypeScript, with openapi-fetch", "fetch"),
	typescript("TypeScript, with Hey API", "heyapi"),
	{
		heading: "Java", tools: "java/pom.xml", program: "java/Scenario.java", path: "python/venv/bin", runs: "java",
		steps: func(cache string) [][]string {
			lib := filepath.Join(cache, "java/lib/*")
			return [][]string{
				{"sh", "-c", `javac -nowarn -proc:none -d out -cp "$0" Scenario.java $(find mutex-client/src/main -name '*.java')`, lib},
				{"java", "-cp", "out:" + lib, "Scenario"},
			}
		},
	},
}

// TestGeneratedClients makes a client in each language as docs/sdk.md says, and plays the scenario with it. With -short
// it does so for the first one.
func TestGeneratedClients(t *testing.T) {
	for _, l := range languages {
		t.Run(l.heading, func(t *testing.T) {
			t.Parallel()
			l.play(t)
		})
		if testing.Short() {
			break
		}
	}
}

func (l language) play(t *testing.T) {
	cache := installed(t, l.tools)
	if _, err := exec.LookPath(l.runs); err != nil {
		t.Fatalf("%s is missing: run scripts/tools.sh", l.runs)
	}
	if l.heading == "Java" {
		installed(t, "python/requirements.txt") // the generator is there
	}
	dir := t.TempDir()
	for _, name := range append(l.also, l.program) {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, filepath.Base(name)), content)
	}
	if err := os.Symlink(filepath.Join(cache, "typescript/node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	env := []string{
		"MUTEX_URL=" + serve(t), "MUTEX_ADMIN_TOKEN=" + adminToken, "MUTEX_TOPIC=sdk:" + filepath.Base(l.program)[:3],
		"PATH=" + filepath.Join(cache, l.path) + ":" + os.Getenv("PATH"),
		"npm_config_offline=true", "PYTHONDONTWRITEBYTECODE=1",
	}
	command := read(t, l.heading).block("sh")
	tool(t, 3*time.Minute, dir, env, "sh", "-ec", command)
	var out string
	for _, step := range l.steps(cache) {
		out = tool(t, 2*time.Minute, dir, env, "env", step...)
	}
	if out != story {
		t.Errorf("%s tells\n%swant\n%s", l.program, out, story)
	}
}

// TestDocsShowWhatRuns holds the lines in docs/sdk.md to those marked in the programs that run.
func TestDocsShowWhatRuns(t *testing.T) {
	shown := map[string]string{"Go": "go_test.go"}
	for _, l := range languages {
		shown[l.heading] = l.program
	}
	for heading, program := range shown {
		kind := map[string]string{".go": "go", ".ts": "ts", ".py": "python", ".java": "java"}[filepath.Ext(program)]
		if got, want := read(t, heading).block(kind), marked(t, program); got != want {
			t.Errorf("docs/sdk.md, %s: shows\n%sand internal/sdktest/%s runs\n%s", heading, got, program, want)
		}
	}
}

// section is a part of docs/sdk.md.
type section string

func read(t *testing.T, heading string) section {
	t.Helper()
	text, err := os.ReadFile("../../docs/sdk.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("docs/sdk.md has no section %q", heading)
	}
	body, _, _ := strings.Cut(after, "\n## ")
	return section(body)
}

// block gives the section's code of a kind.
func (s section) block(kind string) string {
	_, after, _ := strings.Cut(string(s), "```"+kind+"\n")
	code, _, _ := strings.Cut(after, "```")
	return code
}

var excerpt = regexp.MustCompile(`(?s)\n([\t ]*)(?://|#) \[sdk\.md\n(.*?)\n[\t ]*(?://|#) sdk\.md\]\n`)

// marked gives the lines of a program that are to be shown, without their indentation.
func marked(t *testing.T, program string) string {
	t.Helper()
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	m := excerpt.FindSubmatch(text)
	if m == nil {
		t.Fatalf("%s marks nothing for docs/sdk.md", program)
	}
	var lines strings.Builder
	for line := range strings.SplitSeq(string(m[2]), "\n") {
		lines.WriteString(strings.TrimPrefix(line, string(m[1])) + "\n")
	}
	return lines.String()
}
