package config

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/spf13/pflag"
)

// Prefix begins every variable's name.
const Prefix = "MUTEX_"

// Register adds a flag for every setting. The flags only hold text; [Load] reads it together with the environment.
func Register(flags *pflag.FlagSet) {
	for f := range settings() {
		help := fmt.Sprintf("%s [%s]", f.Tag.Get("help"), variable(f))
		if f.Type.Kind() == reflect.Bool {
			text := boolText(f.Tag.Get("envDefault"))
			flags.Var(&text, flagName(f), help)
			flags.Lookup(flagName(f)).NoOptDefVal = "true"
			continue
		}
		flags.String(flagName(f), f.Tag.Get("envDefault"), help)
	}
}

// boolText holds the text of a flag that help shows as a boolean.
type boolText string

func (b *boolText) String() string     { return string(*b) }
func (b *boolText) Set(s string) error { *b = boolText(s); return nil }
func (*boolText) Type() string         { return "bool" }

// Load reads the settings: from flags that were given, else from environ, else the defaults. Its errors name the flag or
// the variable, and what it takes.
func Load(flags *pflag.FlagSet, environ map[string]string) (Config, error) {
	values := maps.Clone(environ)
	if values == nil {
		values = map[string]string{}
	}
	names := make(map[string]string) // field -> what the user called it
	for f := range settings() {
		names[f.Name] = variable(f)
		if flag := flags.Lookup(flagName(f)); flag != nil && flag.Changed {
			values[variable(f)] = flag.Value.String()
			names[f.Name] = "--" + flagName(f)
		}
	}
	var c Config
	err := env.ParseWithOptions(&c, env.Options{Prefix: Prefix, Environment: values, FuncMap: parsers})
	if err != nil {
		return Config{}, translate(err, names)
	}
	if err := c.readFiles(names); err != nil {
		return Config{}, err
	}
	return c, c.check(names)
}

// settings visits the fields of [Config].
func settings() func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		t := reflect.TypeFor[Config]()
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

func variable(f reflect.StructField) string { return Prefix + f.Tag.Get("env") }

func flagName(f reflect.StructField) string {
	return strings.ToLower(strings.ReplaceAll(f.Tag.Get("env"), "_", "-"))
}

// parsers read the types that are ours.
var parsers = map[reflect.Type]env.ParserFunc{
	reflect.TypeFor[Duration](): func(s string) (any, error) { return ParseDuration(s) },
	reflect.TypeFor[url.URL]():  func(s string) (any, error) { return parseBaseURL(s) },
}

var errDuration = errors.New("takes seconds or a unit: 60, 0.5, 20m")

// ParseDuration reads seconds (60, 0.5) or a number with a unit (20m, 1h30m). It must not be negative.
func ParseDuration(s string) (Duration, error) {
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		if !(f >= 0 && f <= 1e9) {
			return 0, errDuration
		}
		return Duration(math.Round(f * float64(time.Second))), nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, errDuration
	}
	return Duration(d), nil
}

func parseBaseURL(s string) (url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return url.URL{}, errors.New("takes http:// or https://, a host, and perhaps a path")
	}
	return *u, nil
}

// translate gives the library's error the user's words: it knows only the names of Go fields.
func translate(err error, names map[string]string) error {
	var agg env.AggregateError
	if !errors.As(err, &agg) {
		return err
	}
	var all []error
	for _, e := range agg.Errors {
		var bad env.ParseError
		if !errors.As(e, &bad) {
			all = append(all, e)
			continue
		}
		all = append(all, fmt.Errorf("%s %s", names[bad.Name], takes(bad)))
	}
	return errors.Join(all...)
}

func takes(bad env.ParseError) string {
	switch bad.Type.Kind() {
	case reflect.Int, reflect.Int64:
		if bad.Type != reflect.TypeFor[Duration]() {
			return "takes a whole number"
		}
	case reflect.Bool:
		return "takes true or false"
	}
	return bad.Err.Error()
}
