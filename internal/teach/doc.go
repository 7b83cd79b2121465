// Package teach has what a holder of a lease must know, once, and puts it into every text that tells it: the block for an
// agent's instructions, the skills, the instructions of the MCP server, the help at the root of a server, /llms.txt and
// the README.
//
// [Contract] is the one source. A rule that is changed there changes everywhere: what is generated is held against the
// files of the repository by this package's test, and what is written by hand, openapi.yaml, must contain the rules word
// for word. After a change run
//
//	go test ./internal/teach -update
//
// Nothing here is computed before it is asked for, and nothing starts a goroutine.
package teach
