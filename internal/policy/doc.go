// Package policy says who may do what to which topic, and how far its limits go.
//
// A [Policy] holds digests of the server's tokens and of its admin token, and the rules of a policy file. Any goroutine
// may ask it; [Policy.Load] swaps the rules in one step, so that a question is answered by the old rules or by the new
// ones, never by some of each. The package starts no goroutine and keeps no token, only SHA-256 digests.
//
// # Promises
//
//   - A file with any mistake in it is refused whole, with the line of every mistake, and what was in force stays.
//   - Tokens are compared in constant time, as digests, with every token that could match; how long an answer takes
//     says nothing about how close a guess was.
//   - Whoever presents no token, or one that is not known here, gets [ErrUnauthorized] where the design lets nobody in
//     unasked, and the answer depends on the topic's name alone, never on whether the topic exists or is held.
//     [ErrForbidden] is only for those who hold a token that is known here.
//   - No error, and nothing in one, holds a token or anything that was put where a token belongs.
//   - Without tokens and rules a question costs no more than a few loads, and never an allocation.
//
// The admin token of a server that only its own machine can reach is made at its start, and kept where the same
// user's commands find it: see [KeepAdminToken] and [FindAdminToken].
//
// # What callers may not assume
//
// That two questions in a row are answered by the same rules. The package reads no environment variable.
//
// docs/policy.md describes the file. To test, write a file into a directory of the test's own and load it.
package policy
