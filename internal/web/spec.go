package web

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
)

// The part of an OpenAPI document that the reference shows. Maps are kept in the document's order.

type document struct {
	Info struct {
		Title, Version, Description string
	}
	Tags       []tag
	Paths      ordered[map[string]json.RawMessage]
	Components struct {
		Parameters      ordered[parameter]
		Responses       ordered[response]
		Schemas         ordered[schema]
		Examples        ordered[example]
		SecuritySchemes ordered[scheme]
	}
}

type tag struct{ Name, Description string }

type scheme struct{ Description string }

type ref struct {
	Ref string `json:"$ref"`
}

// name is the last part of a reference, "" for none.
func (r ref) name() string { return r.Ref[strings.LastIndexByte(r.Ref, '/')+1:] }

type operation struct {
	Tags        []string
	OperationID string
	Summary     string
	Description string
	Parameters  []parameter
	Security    *[]map[string][]string
	Responses   ordered[response]
	Events      ordered[ref] `json:"x-sse-events"`
}

type parameter struct {
	ref
	Name, In, Description string
	Required              bool
	Schema                schema
	Example               json.RawMessage
}

type response struct {
	ref
	Description string
	Content     ordered[content]
}

type content struct {
	Schema   schema
	Example  json.RawMessage
	Examples ordered[example]
}

type example struct {
	ref
	Summary string
	Value   json.RawMessage
}

type schema struct {
	ref
	Type, Format, Description, Pattern string
	Nullable                           bool
	Minimum, Maximum                   json.Number
	MinLength, MaxLength               *int
	Default                            json.RawMessage
	Enum                               []string
	Required                           []string
	Properties                         ordered[schema]
	Items                              *schema
	OneOf                              []schema
	AllOf                              []schema
}

// ordered is a JSON object that keeps its order.
type ordered[T any] struct {
	keys   []string
	values map[string]T
}

// UnmarshalJSON reads an object.
func (o *ordered[T]) UnmarshalJSON(b []byte) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	if _, err := dec.Token(); err != nil { // the brace
		return err
	}
	o.values = make(map[string]T)
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var v T
		if err := dec.Decode(&v); err != nil {
			return err
		}
		name, _ := key.(string) // keys of an object always are
		o.keys = append(o.keys, name)
		o.values[name] = v
	}
	return nil
}

// all goes through it in order.
func (o ordered[T]) all() iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for _, k := range o.keys {
			if !yield(k, o.values[k]) {
				return
			}
		}
	}
}
