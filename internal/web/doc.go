// Package web renders the pages that people look at: a few embedded templates over the wire's own types, one
// stylesheet, four small scripts. No build step, no asset from elsewhere.
//
// [Pages] holds parsed templates and the API reference, which is rendered once from the embedded contract. It owns no
// other state and no goroutine, and is safe for concurrent use.
//
// # Promises
//
//   - A page shows nothing that the API would not tell the same reader: views carry types of package api, which hold
//     no lease, ticket or token.
//   - Everything is escaped by html/template. What is marked as HTML in Go code (text of the contract, charts, times)
//     is put together from escaped parts, and [Headers] forbids inline script and style and every other origin, should
//     anything slip through.
//   - Every page reads without script. Scripts keep it current, count down, copy, and try calls out.
//   - All links are relative, so that pages work below a path of a proxy, too.
//   - What a color says is said in words as well.
//
// # How a page stays current
//
// The server alone decides what a page says. live.js fetches the page again when the topic's stream tells of an event,
// or at the moment that the page itself names in data-recheck, and swaps the parts that changed; between two fetches
// it only moves the clocks, by the server's time. A hidden page closes its stream, since a browser has few of them.
//
// # What callers may not assume
//
// That a view is checked: who may see it is the caller's to decide. Times are shown as of the view's Now.
//
// To test: go test ./internal/web renders pages and takes them apart; browsertest looks at them in a real browser.
package web
