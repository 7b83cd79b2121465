// Package client is the Go client of mutex: named leases, each with a fencing token.
//
//	c, err := client.New("http://127.0.0.1:4185")
//	…
//	err = c.Do(ctx, "deploy:staging", func(ctx context.Context, lease *client.Lease) error {
//		// ctx ends the moment the lease is lost or can no longer be proven.
//		return deploy(ctx, lease.Fence())
//	})
//
// # A lease is not a lock
//
// No lock service can promise exclusion: a holder that stalls does not know that its lease has ended. This
// package ends [Lease.Context] before the lease could belong to another, judged by a clock that goes on while the
// machine sleeps; but work that ignores its context, or is on its way over a network, goes on. So hand
// [Lease.Fence] along with every write and have the resource refuse a lower one.
//
// # What a call promises
//
// [Client.Acquire] repeats itself under one key until its answer is clear, so a lost answer, a restarted server
// or a proxy in between neither costs the place in the queue nor leaves a lock that nobody knows of. When it
// fails, it gives up whatever it may have got. It waits in slices of at most 25 s, which proxies with short idle
// limits let pass.
//
// A [Lease] renews itself every third of its ttl, each try with a short deadline of its own, and over a new
// connection once one has failed. Only the server's own word that the lease is gone, or the time that has passed
// without any confirmation, ends it: a proxy's bare 404 or a server that is down does not.
//
// Methods of [Client] and [Lease] may be called from several goroutines. Each Lease has one goroutine, which ends
// with the lease: call [Lease.Release]. Acquire and [Client.Watch] leave none behind.
//
// Errors are told apart with [errors.Is] against the variables of this package, or taken apart with [errors.As]
// into an [*Error], which carries the server's code and its hint of what to do.
package client
