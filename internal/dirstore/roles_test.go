package dirstore_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"legible.sh/mutex/internal/dirstore"
	"legible.sh/mutex/internal/locker"
)

var forever = locker.Request{Who: locker.Who{Name: "process"}, Wait: locker.Forever, TTL: time.Minute}

// increment DIR N: N times, take the key and add one to a file by reading it, pausing, and writing it. Each is said
// while the key is still held.
func increment(args []string) error {
	s, err := dirstore.Open(dirstore.Options{Dir: args[0]})
	if err != nil {
		return err
	}
	n, _ := strconv.Atoi(args[1])
	for range n {
		r := forever
		r.TTL = time.Second // what one who is killed holds
		g, err := s.Acquire(context.Background(), "counter", r)
		if err != nil {
			return err
		}
		if err := addOne(filepath.Join(args[0], "count")); err != nil {
			return err
		}
		fmt.Println("one more")
		if _, err := s.Release(context.Background(), "counter", g.Token); err != nil {
			return err
		}
	}
	return s.Close()
}

func addOne(path string) error {
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	time.Sleep(100 * time.Microsecond) // enough for another to come between, without the lock
	if err := os.WriteFile(path+".new", []byte(strconv.Itoa(n+1)), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// handoff DIR N: N times, take the key and print when it was had and when it is given back, on the machine's clock.
func handoff(args []string) error {
	s, err := dirstore.Open(dirstore.Options{Dir: args[0]})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	n, _ := strconv.Atoi(args[1])
	for range n {
		g, err := s.Acquire(context.Background(), "handoff", forever)
		if err != nil {
			return err
		}
		_, had, _ := dirstore.ReadClock()
		time.Sleep(time.Millisecond)
		_, given, _ := dirstore.ReadClock()
		if _, err := s.Release(context.Background(), "handoff", g.Token); err != nil {
			return err
		}
		fmt.Fprintln(out, had.Nanoseconds(), given.Nanoseconds())
	}
	return out.Flush()
}

// hold DIR KEY TTL: take the key, say so, and stay until stdin ends, without a renewal or a release.
func hold(args []string) error {
	s, err := dirstore.Open(dirstore.Options{Dir: args[0]})
	if err != nil {
		return err
	}
	r := forever
	if r.TTL, err = time.ParseDuration(args[2]); err != nil {
		return err
	}
	g, err := s.Acquire(context.Background(), args[1], r)
	if err != nil {
		return err
	}
	fmt.Println(g.Fence, g.Token.Reveal())
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // until whoever started it has seen enough
	return nil
}

// queue DIR KEY NAME: wait in line under a name; once granted, write it to the order file and give the key back.
func queue(args []string) error {
	s, err := dirstore.Open(dirstore.Options{Dir: args[0]})
	if err != nil {
		return err
	}
	r := forever
	r.Name = args[2]
	g, err := s.Acquire(context.Background(), args[1], r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(args[0], "order"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	fmt.Fprintln(f, args[2])
	_ = f.Close()
	_, err = s.Release(context.Background(), args[1], g.Token)
	return err
}

// die DIR OPERATION STEP TOKEN: do something to the key "crash", and be killed at a labelled step of it.
func die(args []string) error {
	s, err := dirstore.Open(dirstore.Options{Dir: args[0]})
	if err != nil {
		return err
	}
	s.Hook(numbered(func(step string) error {
		if step == args[2] {
			me, err := os.FindProcess(os.Getpid())
			if err != nil {
				return err
			}
			_ = me.Kill()
			select {}
		}
		return nil
	}))
	return operations[args[1]].do(s, args[3])
}
