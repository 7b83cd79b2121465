package fence

import (
	"errors"
	"net/url"
	"strings"
)

// IsURL tells whether a fence's place is a URL rather than a file.
func IsURL(place string) bool {
	return strings.HasPrefix(place, "http://") || strings.HasPrefix(place, "https://")
}

// where is the URL for errors: without what may be a secret, its user and its query.
func (o Object) where() string {
	u, err := url.Parse(o.URL)
	if err != nil {
		return "the URL"
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}

// cause is an error of net/http without the URL in its text.
func cause(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
