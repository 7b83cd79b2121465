// Package sdktest has no code, only the tests that hold the built server and openapi.yaml to other people's tools.
//
// It owns the proof that the contract is what it says, whoever reads it: schemathesis sends a running server whatever
// the document allows and much of what it forbids; public generators make clients of the document, and one scenario is
// run with each of them; the document's own examples are asked for, and compared byte for byte. The commands and
// programs that docs/sdk.md shows are the ones that run here.
//
// The tools are installed by install.sh into a cache of the user's; a test whose tool is missing fails and says so. With
// -short each test runs a smaller part. Run everything with
//
//	go test ./internal/sdktest
//
// and let schemathesis look for longer, and elsewhere, with
//
//	go test ./internal/sdktest -run Schemathesis -sdktest.seconds 600 -sdktest.seed 2 -v
package sdktest
