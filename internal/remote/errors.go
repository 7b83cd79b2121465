package remote

import (
	"errors"
	"strings"
	"time"

	"legible.sh/mutex/api"
	"legible.sh/mutex/api/client"
	"legible.sh/mutex/internal/locker"
)

// refused is why an acquire got nothing.
func (r *Remote) refused(topic string, err error, waited time.Duration) error {
	var no *client.Error
	if !errors.As(err, &no) || no.Code != api.ErrorCodeBusy && no.Code != api.ErrorCodeTimeout {
		return r.err(err)
	}
	busy := &locker.BusyError{
		Key: topic, Kind: locker.ErrBusy, Holders: no.Holders, Waiting: no.Waiting, RetryAfter: no.RetryAfter,
	}
	if no.Code == api.ErrorCodeTimeout {
		busy.Kind, busy.Waited = locker.ErrTimeout, waited
	}
	return busy
}

// err puts an error of the client into the words of the commands.
func (r *Remote) err(err error) error {
	var no *client.Error
	var silent *client.UnreachableError
	switch {
	case errors.Is(err, client.ErrBadTopic):
		return usage(plain(err))
	case errors.As(err, &silent):
		return &locker.UnreachableError{Where: silent.URL, Err: silent.Err}
	case !errors.As(err, &no):
		return err
	case errors.Is(err, client.ErrLost):
		return &kindError{locker.ErrGone, errors.New(no.Message)} // what to do about it depends on the command
	}
	switch {
	case len(no.Parameters) == 1 && no.Parameters[0].Name == "X-Lease":
		return &kindError{locker.ErrNotLease, errors.New("that is not a lease, which is 32 hex digits, as acquire prints it")}
	case no.Code == api.ErrorCodeBadTopic, no.Code == api.ErrorCodeBadParam:
		return usage(&brief{no})
	case no.Code == api.ErrorCodeUnauthorized, no.Code == api.ErrorCodeForbidden:
		return &kindError{locker.ErrNotPermitted, no}
	case no.Status >= 500 && no.Code != api.ErrorCodeUnsupported:
		return &locker.UnreachableError{Where: r.c.URL(), Answered: true, Err: no}
	}
	return no
}

// kindError is an error whose text says all, and that is also one of the commands' kinds.
type kindError struct {
	kind error
	error
}

func (e *kindError) Unwrap() []error { return []error{e.kind, e.error} }

func usage(err error) error { return &kindError{locker.ErrUsage, err} }

// brief is a refusal without its hint, which speaks of requests.
type brief struct{ whole *client.Error }

func (e *brief) Error() string { return e.whole.Message }

// Unwrap gives the whole refusal.
func (e *brief) Unwrap() error { return e.whole }

// plain is the client's error without its name in front: the commands put theirs there.
func plain(err error) error {
	return errors.New(strings.TrimPrefix(err.Error(), "mutex: "))
}
