package app

import (
	"context"
	"fmt"

	"legible.sh/mutex/internal/config"
	"legible.sh/mutex/internal/policy"
)

// openAccess makes the policy: the tokens of the settings, the rules of the policy file, and, on a server that only this
// machine can reach and that was given no admin token, one that its own user's commands find.
func (s *Server) openAccess(address config.Address) error {
	c := &s.options.Config
	admin := c.AdminToken
	if admin == "" && address.Local() {
		kept, err := policy.KeepAdminToken(s.options.Dirs, s.adminAddress())
		if err != nil {
			// The locks need no admin. Whoever does is told that there is none.
			s.log.Warn("no admin token", "error", err)
		} else {
			s.adminFile, admin = kept, kept.Token
		}
	}
	s.policy = policy.New(policy.Options{Tokens: c.Tokens, AdminToken: admin, Limits: policy.Limits{
		MaxTTL: c.MaxTTL.D(), MaxWait: c.MaxWait.D(), MaxCapacity: c.MaxCapacity, MaxWaiters: c.MaxWaiters,
	}})
	if c.Policy == "" {
		return nil
	}
	return s.policy.Load(c.Policy)
}

// adminAddress is the server's address as [policy.KeepAdminToken] takes it.
func (s *Server) adminAddress() string {
	if a := s.Addr(); a.Network() == "unix" {
		return "unix://" + a.String()
	}
	return s.Addr().String()
}

// followReload reads the policy file again whenever it is asked to. A file that is wrong changes nothing. Each read has a
// goroutine of its own, since one of a pipe, or of a file system that hangs, may never return: the server must end all
// the same, and leaves it behind then.
func (s *Server) followReload(ctx context.Context) error {
	for {
		select {
		case <-s.options.Reload:
			done := make(chan struct{})
			go func() {
				defer close(done)
				s.reload()
			}()
			select {
			case <-done:
			case <-ctx.Done():
				return nil
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *Server) reload() {
	path := s.options.Config.Policy
	if path == "" {
		s.log.Info("nothing to read again: no policy file is set")
		return
	}
	if err := s.policy.Load(path); err != nil {
		s.log.Error("policy file refused; the old rules stay in force", "error", err)
		return
	}
	s.log.Info("policy file read again", "file", path)
}

// closeAccess takes the admin token's file away.
func (s *Server) closeAccess() error {
	if s.adminFile == nil {
		return nil
	}
	if err := s.adminFile.Remove(); err != nil {
		return fmt.Errorf("admin token: %w", err)
	}
	return nil
}
