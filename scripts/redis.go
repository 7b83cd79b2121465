//go:build ignore

// Redis puts a lock in Redis beside one in mutex, in turns on the same disk: SET NX PX and a compare-and-delete, each
// answered once it is in the append-only file and synced, beside acquire and release with a journal. Both are started
// fresh for each round, on loopback. It prints the median of the rounds; a cycle is one lock and one unlock.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	mutex    = flag.String("mutex", "bin/mutex", "the mutex to measure")
	redis    = flag.String("redis", "redis-server", "the Redis to measure")
	dir      = flag.String("dir", "", "a directory on the disk to measure (default: the one for temporary files)")
	clients  = flag.String("c", "64,1", "how many connections, one measurement for each number")
	duration = flag.Duration("duration", 5*time.Second, "how long one measurement takes")
	rounds   = flag.Int("rounds", 5, "how often each is measured")
)

const warmup = 500 * time.Millisecond

func main() {
	flag.Parse()
	if err := compare(); err != nil {
		fmt.Fprintln(os.Stderr, "redis:", err)
		os.Exit(1)
	}
}

func compare() error {
	for text := range strings.SplitSeq(*clients, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		var theirs, ours, ratios []float64
		for range *rounds {
			their, err := measureRedis(n)
			if err != nil {
				return err
			}
			our, err := measureMutex(n)
			if err != nil {
				return err
			}
			theirs, ours, ratios = append(theirs, their), append(ours, our), append(ratios, our/their)
			fmt.Fprintf(os.Stderr, "%d connections: redis %.0f, mutex %.0f cycles/s\n", n, their, our)
		}
		fmt.Printf("%d connections: redis %.0f, mutex %.0f cycles/s, mutex by redis %.2f (medians of %d)\n",
			n, median(theirs), median(ours), median(ratios), *rounds)
	}
	return nil
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// measureMutex gives the cycles a second of mutex bench, with a journal on the same disk.
func measureMutex(connections int) (float64, error) {
	data, err := os.MkdirTemp(*dir, "mutex-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(data)
	bench := exec.Command(*mutex, "bench", "cycles", "--self", "--quiet", "--json", "--rounds", "1",
		"-c", strconv.Itoa(connections), "--duration", duration.String(), "--warmup", warmup.String(),
		"--serve-flag=--data-dir="+data)
	bench.Stderr = os.Stderr
	out, err := bench.Output()
	if err != nil {
		return 0, err
	}
	var report struct {
		Figures []struct {
			Name  string
			Value float64
		}
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return 0, err
	}
	for _, f := range report.Figures {
		if f.Name == "throughput" {
			return f.Value, nil
		}
	}
	return 0, fmt.Errorf("no throughput in %s", out)
}

// measureRedis gives the cycles a second of a Redis that syncs before every answer.
func measureRedis(connections int) (rate float64, failed error) {
	data, err := os.MkdirTemp(*dir, "redis-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(data)
	addr, err := freeAddress()
	if err != nil {
		return 0, err
	}
	_, port, _ := net.SplitHostPort(addr)
	server := exec.Command(*redis, "--bind", "127.0.0.1", "--port", port, "--dir", data, "--save", "",
		"--appendonly", "yes", "--appendfsync", "always", "--loglevel", "warning")
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		return 0, err
	}
	defer func() {
		failed = errors.Join(failed, server.Process.Signal(os.Interrupt))
		_ = server.Wait() // however it ends, it was told to
	}()
	return load(addr, connections)
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// load goes round on one key a connection, and counts once all are warm.
func load(addr string, connections int) (float64, error) {
	var counting, stop atomic.Bool
	var cycles atomic.Int64
	failures := make(chan error, connections)
	var all sync.WaitGroup
	for n := range connections {
		c, err := dial(addr)
		if err != nil {
			return 0, err
		}
		defer c.conn.Close()
		sha, err := c.ask("SCRIPT", "LOAD", compareAndDelete)
		if err != nil {
			return 0, err
		}
		all.Go(func() {
			key := fmt.Sprintf("lock-%d", n)
			for turn := 0; !stop.Load(); turn++ {
				if err := c.cycle(key, fmt.Sprintf("%016x%016x", n, turn), sha); err != nil {
					failures <- err
					return
				}
				if counting.Load() {
					cycles.Add(1)
				}
			}
		})
	}
	time.Sleep(warmup)
	counting.Store(true)
	begun := time.Now()
	time.Sleep(*duration)
	rate := float64(cycles.Load()) / time.Since(begun).Seconds()
	stop.Store(true)
	all.Wait()
	select {
	case err := <-failures:
		return 0, err
	default:
		return rate, nil
	}
}

const compareAndDelete = `if redis.call("get",KEYS[1])==ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`

// client speaks RESP on one connection.
type client struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
}

// dial connects once the server is up.
func dial(addr string) (*client, error) {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			return &client{conn: conn, in: bufio.NewReader(conn)}, nil
		}
		if time.Now().After(deadline) {
			return nil, err
		}
	}
}

func (c *client) cycle(key, token, sha string) error {
	got, err := c.ask("SET", key, token, "NX", "PX", "60000")
	if err != nil || got != "OK" {
		return cmp.Or(err, fmt.Errorf("%s was not granted: %s", key, got))
	}
	got, err = c.ask("EVALSHA", sha, "1", key, token)
	if err != nil || got != "1" {
		return cmp.Or(err, fmt.Errorf("%s was not released: %s", key, got))
	}
	return nil
}

// ask sends one command and gives its answer: a simple or bulk string, or a number.
func (c *client) ask(words ...string) (string, error) {
	c.out = fmt.Appendf(c.out[:0], "*%d\r\n", len(words))
	for _, w := range words {
		c.out = fmt.Appendf(c.out, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := c.conn.Write(c.out); err != nil {
		return "", err
	}
	line, err := c.in.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimSuffix(line, "\r\n")
	switch kind, rest := line[0], line[1:]; kind {
	case '+', ':':
		return rest, nil
	case '$':
		size, err := strconv.Atoi(rest)
		if err != nil || size < 0 {
			return "", err
		}
		text := make([]byte, size+2)
		_, err = io.ReadFull(c.in, text)
		return string(text[:size]), err
	}
	return "", fmt.Errorf("%s: %s", words[0], line)
}
