package dirstore

import (
	"fmt"
	"strconv"
	"strings"

	"legible.sh/mutex/internal/locker"
)

// MaxKeyLength is the longest key, in bytes.
const MaxKeyLength = 80

// checkKey says what is wrong with a key.
func checkKey(key string) error {
	ok := key != "" && len(key) <= MaxKeyLength && alphanumeric(key[0])
	for i := range len(key) {
		ok = ok && (plain(key[i]) || key[i] == ':' || key[i] == '/')
	}
	if !ok {
		return fmt.Errorf("%w: the key %.*q: a key is 1 to %d of A-Z a-z 0-9 . _ : / - and begins with a letter or a digit",
			locker.ErrUsage, MaxKeyLength+1, key, MaxKeyLength)
	}
	return nil
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// plain are the bytes that stand for themselves in a file's name.
func plain(c byte) bool { return alphanumeric(c) || c == '.' || c == '_' || c == '-' }

// escape makes a key the name of its directory: every byte outside [A-Za-z0-9._-] becomes %XX.
func escape(key string) string {
	var b strings.Builder
	for i := range len(key) {
		if plain(key[i]) {
			b.WriteByte(key[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", key[i])
		}
	}
	return b.String()
}

// unescape gives the key of a directory's name; ok is false for what is no key's.
func unescape(name string) (key string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c == '%' {
			code, err := strconv.ParseUint(name[min(i+1, len(name)):min(i+3, len(name))], 16, 8)
			if err != nil {
				return "", false
			}
			c, i = byte(code), i+2
		}
		b.WriteByte(c)
	}
	key = b.String()
	return key, checkKey(key) == nil && escape(key) == name
}
