// Package mcpserver gives agents the locks as tools of the Model Context Protocol, on stdio and over streamable HTTP.
//
// A [Server] has the tools and knows nothing of how it is reached: each call makes a client of package api/client, on
// stdio one of some server, over HTTP one that speaks to the very server it is part of, through memory. So every tool
// is a request of the wire, with its access rules, its ranges and its hints, and nothing is decided twice.
//
// # What a session has
//
// What acquire takes is kept alive while the session lives, so that an agent needs nothing in the background. A session
// has at most one lease a topic. When one is lost, the next result of any tool begins with LOST.
//
// A session that ends in order, its input closed or its deletion asked for, gives its leases back. One that vanishes,
// and one whose server stops, does not: what worked under them may be working still, so they end by their ttl.
//
// # Goroutines
//
// The library answers each call on a goroutine of its own; fields they share are guarded by the mutex beside them. A lease
// has the goroutine that package api/client gives it, until the session gives it back, loses it or ends. [HTTP] serves
// requests from memory until Close.
//
// Test it with the library's own client over both transports, against a server made for the test.
package mcpserver
