package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"legible.sh/mutex/internal/config"
	"legible.sh/mutex/internal/httpserver"
	"legible.sh/mutex/internal/journal"
	"legible.sh/mutex/internal/policy"
	"legible.sh/mutex/internal/web"
	"legible.sh/mutex/registry"
)

// Server is a server that is bound and ready to run.
type Server struct {
	config   config.Config
	log      *slog.Logger
	listener net.Listener
	registry *registry.Registry
	http     *http.Server
	base     context.Context // of every request
	cancel   context.CancelCauseFunc
}

// New binds what the settings name: it listens, opens files and takes locks, but serves nothing yet. [Server.Run] or
// [Server.Close] must follow.
func New(c config.Config, log *slog.Logger, version string) (*Server, error) {
	s := &Server{config: c, log: log}
	s.base, s.cancel = context.WithCancelCause(context.Background())
	address, err := c.Address()
	if err != nil {
		return nil, err
	}
	s.registry = registry.New(registry.Options{
		MaxTopics: c.MaxTopics, TopicIdle: c.TopicIdle.D(), Keep: c.KeepPlace.D(), Journal: journal.Memory{},
	})
	handler, err := s.handler(address, version)
	if err != nil {
		return nil, err
	}
	if s.listener, err = listen(address); err != nil {
		return nil, err
	}
	s.listener = httpserver.Listen(s.listener)
	if err := s.serveTLS(); err != nil {
		return nil, errors.Join(err, s.listener.Close())
	}
	s.http = &http.Server{
		Handler:           handler,
		BaseContext:       func(net.Listener) context.Context { return s.base },
		ConnContext:       httpserver.ConnContext,
		ReadHeaderTimeout: c.ReadHeaderTimeout.D(),
		IdleTimeout:       c.IdleTimeout.D(),
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		// No WriteTimeout: it would end long polls and streams. Streams set a deadline for each write.
	}
	return s, nil
}

func (s *Server) handler(address config.Address, version string) (http.Handler, error) {
	c := &s.config
	limits := policy.Limits{
		MaxTTL: c.MaxTTL.D(), MaxWait: c.MaxWait.D(), MaxCapacity: c.MaxCapacity, MaxWaiters: c.MaxWaiters,
	}
	return httpserver.New(httpserver.Options{
		Registry: s.registry,
		Policy:   policy.New(policy.Options{Tokens: c.Tokens, AdminToken: c.AdminToken, Limits: limits}),
		Pages:    web.New(),
		Log:      s.log,
		Version:  version,
		Limits: httpserver.Limits{
			MaxTTL: c.MaxTTL.D(), MaxWait: c.MaxWait.D(), MaxCapacity: c.MaxCapacity, MaxWaiters: c.MaxWaiters,
			MaxBody: c.MaxBody,
		},
		BodyTimeout:  c.ReadHeaderTimeout.D(),
		Heartbeat:    c.Heartbeat.D(),
		BaseURL:      c.BaseURL,
		AllowedHosts: c.AllowedHosts,
		CheckHost:    address.Network == "tcp" && address.Local(),
		CORSOrigins:  c.CORSOrigins,
	})
}

// Addr is where the server listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// URL is the server's address as a client of this machine would write it.
func (s *Server) URL() string {
	if s.Addr().Network() == "unix" {
		return "unix://" + s.Addr().String()
	}
	if s.config.TLSCert != "" {
		return "https://" + s.Addr().String()
	}
	return "http://" + s.Addr().String()
}

// listen opens a socket. A unix socket that a dead server left behind is replaced; one that answers is not.
func listen(a config.Address) (net.Listener, error) {
	if a.Network != "unix" {
		return net.Listen(a.Network, a.Addr)
	}
	info, err := os.Lstat(a.Addr)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("%s: is there and is no socket", a.Addr)
	default:
		if conn, err := net.DialTimeout("unix", a.Addr, time.Second); err == nil {
			return nil, errors.Join(fmt.Errorf("%s: another server answers there", a.Addr), conn.Close())
		}
		if err := os.Remove(a.Addr); err != nil {
			return nil, err
		}
	}
	return net.Listen("unix", a.Addr)
}

func (s *Server) serveTLS() error {
	if s.config.TLSCert == "" {
		return nil
	}
	cert, err := tls.LoadX509KeyPair(s.config.TLSCert, s.config.TLSKey)
	if err != nil {
		return fmt.Errorf("tls: %w", err)
	}
	s.listener = tls.NewListener(s.listener, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12})
	return nil
}
