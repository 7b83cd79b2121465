package main

import (
	"bufio"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"legible.sh/mutex/internal/testlog"
)

// agent starts "mutex mcp" as an agent does, and has it take topic.
func agent(t *testing.T, s *server, topic string, ttl float64) (*mcp.ClientSession, *testlog.Buffer, func(syscall.Signal)) {
	t.Helper()
	cmd := mutex(t, s.vars(), "mcp")
	words := &testlog.Buffer{}
	cmd.Stderr = words
	session, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(),
		&mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "acquire", Arguments: map[string]any{"topic": topic, "ttl": ttl}})
	if err != nil || r.IsError {
		t.Fatal(r, err, words)
	}
	return session, words, func(sig syscall.Signal) { _ = cmd.Process.Signal(sig) }
}

func TestMCPGivesBackWhatTheAgentHeld(t *testing.T) {
	s := startServer(t)
	free := func(topic string) func() bool {
		return func() bool { state, _ := s.status(topic); return state == "free" }
	}
	session, words, _ := agent(t, s, "closed", 3600)
	if state, _ := s.status("closed"); state != "held" {
		t.Error(state)
	}
	if err := session.Close(); err != nil || words.String() != "" {
		t.Errorf("%v, said %q", err, words)
	}
	eventually(t, "its input closed, and it gave back", free("closed"))

	_, _, signal := agent(t, s, "stopped", 3600)
	signal(syscall.SIGTERM)
	eventually(t, "it was asked to stop, and gave back", free("stopped"))

	_, _, signal = agent(t, s, "killed", 2)
	signal(syscall.SIGKILL)
	eventually(t, "it was killed, and its ttl passed", free("killed"))
}

// TestMCPGivesBackWhereNobodyReads: an agent that dies may leave its end of stdin to a child, and stdin then never ends.
func TestMCPGivesBackWhereNobodyReads(t *testing.T) {
	s := startServer(t)
	cmd := mutex(t, s.vars(), "mcp")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ask := func(id int, method, params string) {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
	}
	answers := bufio.NewScanner(out)
	ask(1, "initialize", `{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"a","version":"1"}}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	ask(2, "tools/call", `{"name":"acquire","arguments":{"topic":"deaf","ttl":3600}}`)
	for answers.Scan() && !strings.Contains(answers.Text(), `"id":2`) {
	}
	if state, _ := s.status("deaf"); state != "held" {
		t.Fatal(state)
	}
	out.Close()
	ask(3, "tools/list", "{}")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if state, _ := s.status("deaf"); state != "free" {
		t.Error(state)
	}
}

func TestMCPNeedsAServer(t *testing.T) {
	run(t, mutex(t, []string{"MUTEX_URL=file:///tmp/x"}, "mcp")).wants(t, 2, "not a server's URL")
}
