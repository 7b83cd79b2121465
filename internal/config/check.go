package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"legible.sh/mutex/internal/private"
)

// check holds the settings to their ranges; names says what the user called each.
func (c *Config) check(names map[string]string) error {
	var bad []error
	want := func(ok bool, field, takes string) {
		if !ok {
			bad = append(bad, fmt.Errorf("%s takes %s", names[field], takes))
		}
	}
	want(c.Port >= 0 && c.Port <= 65535, "Port", "a port from 0 to 65535")
	want(c.TLSCert == "" || c.TLSKey != "", "TLSCert", "a file, together with --tls-key (MUTEX_TLS_KEY)")
	want(c.TLSKey == "" || c.TLSCert != "", "TLSKey", "a file, together with --tls-cert (MUTEX_TLS_CERT)")
	want(slices.Contains([]string{"always", "interval", "never"}, c.Fsync), "Fsync", "always, interval or never")
	want(c.FsyncInterval.D() >= time.Millisecond, "FsyncInterval", "1ms or more")
	want(c.MaxTTL.D() >= time.Second && c.MaxTTL.D() <= 30*24*time.Hour, "MaxTTL", "1s to 720h")
	want(c.MaxWait.D() <= 24*time.Hour, "MaxWait", "0 to 24h")
	want(c.MaxCapacity >= 1 && c.MaxCapacity <= 1<<20, "MaxCapacity", "1 to 1048576")
	want(c.MaxTopics >= 1, "MaxTopics", "1 or more")
	want(c.MaxWaiters >= 1, "MaxWaiters", "1 or more")
	want(c.MaxBody >= 128 && c.MaxBody <= 1<<20, "MaxBody", "128 to 1048576 bytes")
	want(c.TopicIdle.D() >= time.Second, "TopicIdle", "1s or more")
	want(c.KeepPlace.D() >= time.Second, "KeepPlace", "1s or more")
	want(c.Heartbeat.D() >= time.Second, "Heartbeat", "1s or more")
	want(c.ReadHeaderTimeout > 0, "ReadHeaderTimeout", "more than 0")
	want(c.IdleTimeout > 0, "IdleTimeout", "more than 0")
	want(c.ShutdownTimeout > 0, "ShutdownTimeout", "more than 0")
	want(c.HistorySize >= 1<<20, "HistorySize", "1048576 bytes or more")
	want(slices.Contains([]string{"text", "json"}, c.LogFormat), "LogFormat", "text or json")
	want(slices.Contains([]string{"debug", "info", "warn", "error"}, c.LogLevel), "LogLevel", "debug, info, warn or error")
	want(c.Pprof == "" || loopbackAddress(c.Pprof), "Pprof", "a loopback address and port, such as 127.0.0.1:6060")
	_, err := c.Address()
	want(err == nil, "Listen", "unix:/path or host:port")
	return errors.Join(bad...)
}

// Address says where to listen, as net.Listen takes it.
func (c *Config) Address() (a Address, err error) {
	switch path, isUnix := strings.CutPrefix(c.Listen, "unix:"); {
	case isUnix:
		path = strings.TrimPrefix(path, "//")
		if path == "" {
			return a, errors.New("no path")
		}
		return Address{"unix", path}, nil
	case c.Listen != "":
		_, _, err := net.SplitHostPort(c.Listen)
		return Address{"tcp", c.Listen}, err
	}
	return Address{"tcp", net.JoinHostPort(strings.Trim(c.Host, "[]"), fmt.Sprint(c.Port))}, nil
}

// Address is a network and an address on it.
type Address struct{ Network, Addr string }

// Local tells whether only this machine can reach it.
func (a Address) Local() bool { return a.Network == "unix" || loopbackAddress(a.Addr) }

func loopbackAddress(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// readFiles reads the tokens that stand in files; names says what the user called each setting.
func (c *Config) readFiles(names map[string]string) error {
	if c.TokenFile != "" {
		words, err := private.Words(c.TokenFile)
		if err != nil {
			return fmt.Errorf("%s: %w", names["TokenFile"], err)
		}
		c.Tokens = append(c.Tokens, words...)
	}
	if c.AdminTokenFile != "" {
		words, err := private.Words(c.AdminTokenFile)
		if err != nil {
			return fmt.Errorf("%s: %w", names["AdminTokenFile"], err)
		}
		c.AdminToken = words[0]
	}
	for _, t := range append(slices.Clone(c.Tokens), c.AdminToken) {
		if strings.ContainsAny(t, " \t\r\n") {
			return errors.New("a token must not have blanks in it")
		}
	}
	return nil
}
