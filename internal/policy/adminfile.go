package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"legible.sh/mutex/internal/private"
)

// Dirs are the places where a user's programs leave things for one another, as the environment names them.
type Dirs struct {
	Runtime string // XDG_RUNTIME_DIR
	State   string // XDG_STATE_HOME
	Home    string // the user's home directory
}

// places lists where an admin token may lie, best first. Server and command look through the same ones, since one of
// them may run without a login session and so without a runtime directory.
func (d Dirs) places() (dirs []string) {
	add := func(base string, more ...string) {
		if filepath.IsAbs(base) {
			dirs = append(dirs, filepath.Join(append([]string{base}, more...)...))
		}
	}
	if info, err := os.Stat(d.Runtime); err == nil && info.IsDir() { // made by the system at login, never by us
		add(d.Runtime, "mutex")
	}
	add(d.State, "mutex")
	add(d.Home, ".local", "state", "mutex")
	return dirs
}

// AdminFile is a file in which a server keeps its admin token for its user's commands.
type AdminFile struct {
	Path  string
	Token string
}

// KeepAdminToken makes an admin token for the server that listens on address ("127.0.0.1:4185", "[::1]:4185",
// "unix:///run/m.sock") and keeps it where [FindAdminToken] finds it. The file is 0600, in a directory that only its
// owner can write, and replaces whatever lay there. Each start makes a new token: one that is left over from a server
// that died opens nothing, whoever listens on its port by then.
//
// The address must be one that only this machine can reach.
func KeepAdminToken(d Dirs, address string) (*AdminFile, error) {
	name, err := adminFileName(address)
	if err != nil {
		return nil, err
	}
	token, _ := NewToken()
	var errs []error
	for _, dir := range d.places() {
		f := &AdminFile{Path: filepath.Join(dir, name), Token: token}
		if err := f.write(); err != nil {
			errs = append(errs, err)
			continue
		}
		return f, nil
	}
	if len(errs) == 0 {
		errs = []error{errors.New("neither XDG_RUNTIME_DIR, XDG_STATE_HOME nor HOME is an absolute path")}
	}
	return nil, fmt.Errorf("policy: the admin token could not be kept: %w", errors.Join(errs...))
}

func (f *AdminFile) write() error {
	dir := filepath.Dir(f.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := private.Dir(dir); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".admin-*") // 0600
	if err != nil {
		return err
	}
	_, err = tmp.WriteString(f.Token + "\n")
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), f.Path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}

// Remove takes the file away at the server's end, unless another server has put its own there meanwhile.
func (f *AdminFile) Remove() error {
	token, _, err := readAdminFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && token != f.Token {
		return nil
	}
	return errors.Join(err, os.Remove(f.Path))
}

// FindAdminToken gives the admin token that a server of this user on this machine has left for the address, as a client
// writes it: "localhost:4185", "unix:///run/m.sock". Where several are left, the newest counts. The error is
// [ErrNoAdminFile], or [ErrNotPrivate] for a file that is there and not to be trusted.
//
// Send the token to that address only.
func FindAdminToken(d Dirs, address string) (string, error) {
	name, err := adminFileName(address)
	if err != nil {
		return "", err
	}
	var (
		newest string
		made   time.Time
		errs   []error
	)
	for _, dir := range d.places() {
		token, at, err := readAdminFile(filepath.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			errs = append(errs, err)
		case newest == "" || at.After(made):
			newest, made = token, at
		}
	}
	switch {
	case newest != "":
		return newest, nil
	case len(errs) > 0:
		return "", errors.Join(errs...)
	}
	return "", fmt.Errorf("%w: %s", ErrNoAdminFile, address)
}

// readAdminFile reads a token out of a file that nobody but its owner can have put there.
func readAdminFile(path string) (token string, made time.Time, err error) {
	if err := private.Dir(filepath.Dir(path)); err != nil {
		return "", time.Time{}, err
	}
	f, err := private.Open(path)
	if err != nil {
		return "", time.Time{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return "", time.Time{}, err
	}
	text, err := io.ReadAll(io.LimitReader(f, 256))
	if err != nil {
		return "", time.Time{}, err
	}
	token = strings.TrimSuffix(string(text), "\n")
	if !isOurs(token) {
		// Some other file under this name: not to be sent anywhere.
		return "", time.Time{}, fmt.Errorf("%w: %s does not hold an admin token", ErrNotPrivate, path)
	}
	return token, info.ModTime(), nil
}

// adminFileName names the file after what server and client can both tell: the port where the address is the machine's
// usual loopback, by whichever of its names; all of it for other loopback addresses; a digest of a socket's path.
func adminFileName(address string) (string, error) {
	if path, ok := strings.CutPrefix(address, "unix://"); ok {
		if !filepath.IsAbs(path) {
			return "", fmt.Errorf("policy: %q: a socket's path must be absolute", address)
		}
		sum := sha256.Sum256([]byte(filepath.Clean(path)))
		return "admin-unix-" + hex.EncodeToString(sum[:8]), nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("policy: %w", err)
	}
	if strings.Trim(port, "0123456789") != "" || port == "" {
		return "", fmt.Errorf("policy: %q has no port number", address)
	}
	if strings.EqualFold(host, "localhost") {
		return "admin-" + port, nil
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case err != nil || !ip.Unmap().IsLoopback():
		return "", fmt.Errorf("policy: %q is not an address that only this machine can reach", address)
	case ip.Unmap() == netip.AddrFrom4([4]byte{127, 0, 0, 1}), ip == netip.IPv6Loopback():
		return "admin-" + port, nil
	}
	return "admin-" + ip.Unmap().String() + "-" + port, nil
}
