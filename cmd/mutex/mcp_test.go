package main

import (
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// agent starts "mutex mcp" as an agent does, and has it take topic.
func agent(t *testing.T, s *server, topic string, ttl float64) (*mcp.ClientSession, *syncBuffer, func(syscall.Signal)) {
	t.Helper()
	cmd := mutex(t, s.vars(), "mcp")
	words := &syncBuffer{}
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

func TestMCPNeedsAServer(t *testing.T) {
	run(t, mutex(t, []string{"MUTEX_URL=file:///tmp/x"}, "mcp")).wants(t, 2, "not a server's URL")
}
