package client_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"legible.sh/mutex/api/client"
	"legible.sh/mutex/internal/app/apptest"
)

// server runs a server of its own for one example.
func server() (url string, stop func()) {
	url, end, err := apptest.Start(nil)
	if err != nil {
		panic(err)
	}
	return url, func() {
		if err := end(); err != nil {
			panic(err)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func ExampleClient_Do() {
	url, stop := server()
	defer stop()
	c := must(client.New(url))

	err := c.Do(context.Background(), "deploy:staging", func(ctx context.Context, lease *client.Lease) error {
		// ctx ends when the lease does. Send the fence along with every write.
		fmt.Println("deploying under fence", lease.Fence())
		return ctx.Err()
	})
	fmt.Println(err)
	// Output:
	// deploying under fence 1
	// <nil>
}

func ExampleClient_Acquire() {
	url, stop := server()
	defer stop()
	c := must(client.New(url))
	ctx := context.Background()

	lease := must(c.Acquire(ctx, "nightly", client.TTL(30*time.Second), client.Name("worker-3"), client.Reason("release 1.8")))
	defer lease.Release(ctx)

	_, err := c.Acquire(ctx, "nightly", client.Wait(0))
	var busy *client.Error
	if errors.As(err, &busy) {
		fmt.Println(errors.Is(err, client.ErrBusy), busy.Holders)
	}
	// Output: true [worker-3]
}

// Three may use a GPU at once; the slot says which is yours.
func ExampleCapacity() {
	url, stop := server()
	defer stop()
	c := must(client.New(url))
	ctx := context.Background()

	for range 3 {
		lease := must(c.Acquire(ctx, "gpu", client.Capacity(3)))
		defer lease.Release(ctx)
		fmt.Println("using GPU", lease.Slot())
	}
	// Output:
	// using GPU 0
	// using GPU 1
	// using GPU 2
}

func ExampleLease_Context() {
	url, stop := server()
	defer stop()
	c := must(client.New(url))
	ctx := context.Background()

	lease := must(c.Acquire(ctx, "job", client.TTL(300*time.Millisecond)))
	must(c.Release(ctx, "job", lease.Token())) // somebody else ends it

	<-lease.Context().Done()
	fmt.Println(errors.Is(lease.Err(), client.ErrLost))
	// Output: true
}

func ExampleClient_Watch() {
	url, stop := server()
	defer stop()
	c := must(client.New(url))
	ctx := context.Background()

	for event, err := range c.Watch(ctx, "deploy:staging") {
		if errors.Is(err, client.ErrUnreachable) {
			continue // try again
		}
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(event.Type)
		if event.Type == client.EventStatus {
			lease := must(c.Acquire(ctx, "deploy:staging"))
			_ = lease.Release(ctx)
		}
		if event.Type == client.EventRelease {
			break
		}
	}
	// Output:
	// status
	// grant
	// release
}
