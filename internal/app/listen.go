package app

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"time"

	"legible.sh/mutex/internal/config"
	"legible.sh/mutex/internal/httpserver"
)

// Addr is where the server listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// URL is the server's address as a client of this machine would write it.
func (s *Server) URL() string {
	if s.Addr().Network() == "unix" {
		return "unix://" + s.Addr().String()
	}
	if s.options.Config.TLSCert != "" {
		return "https://" + s.Addr().String()
	}
	return "http://" + s.Addr().String()
}

// listen binds the address, with TLS on top where it is asked for.
func (s *Server) listen(a config.Address) error {
	l, err := bindSocket(a)
	if err != nil {
		return err
	}
	s.accepted = httpserver.Listen(l)
	s.listener = s.accepted
	if s.options.Config.TLSCert == "" {
		return nil
	}
	cert, err := tls.LoadX509KeyPair(s.options.Config.TLSCert, s.options.Config.TLSKey)
	if err != nil {
		return fmt.Errorf("tls: %w", err)
	}
	s.listener = tls.NewListener(s.listener, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12})
	return nil
}

// bindSocket opens a socket. A unix socket that a dead server left behind is replaced; one that answers is not.
func bindSocket(a config.Address) (net.Listener, error) {
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
