package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"html/template"
	"net/http"
	"strings"

	mutex "legible.sh/mutex"
)

// The API reference is made here, from the contract that everything else is generated from, instead of by one of the
// known viewers: it is a twentieth of their size, reads without script, and looks like the other pages.

// rendered is a page that never changes.
type rendered struct {
	plain, packed []byte
	tag           string
}

// Reference answers with the API reference.
func (p *Pages) Reference(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	Headers(h)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", p.reference.tag)
	h.Add("Vary", "Accept-Encoding")
	if r.Header.Get("If-None-Match") == p.reference.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := p.reference.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = p.reference.packed
	}
	_, _ = w.Write(body) // a reader who hangs up needs no answer
}

// renderReference makes the page of the embedded contract. It panics in a program that was built wrong.
func renderReference(t *template.Template) rendered {
	var doc document
	if err := json.Unmarshal(mutex.SpecJSON, &doc); err != nil {
		panic(err)
	}
	var plain, packed bytes.Buffer
	if err := t.Execute(&plain, newReference(&doc)); err != nil {
		panic(err)
	}
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is a known one
	_, _ = z.Write(plain.Bytes())                              // into memory
	_ = z.Close()
	sum := sha256.Sum256(plain.Bytes())
	return rendered{plain.Bytes(), packed.Bytes(), `"` + hex.EncodeToString(sum[:8]) + `"`}
}

// referenceView is the contract, ready to be shown.
type referenceView struct {
	Root, Title, Version string
	Intro                template.HTML
	Chapters             []entry // of the introduction
	Groups               []group
	Refusals             []answer
	Schemas              []schemaView
	Tokens               []entry
}

// entry is something with a name that can be linked to, and what there is to say about it.
type entry struct {
	ID, Name string
	About    template.HTML
}

// group is the operations of one tag.
type group struct {
	entry
	Operations []operationView
}

type operationView struct {
	entry
	Method, Path, Summary string
	Needs                 string // which token
	Stream                bool
	Parameters            []parameterView
	Answers               []answer
	Events                []entry
	Curl                  string
}

type parameterView struct {
	entry
	In, Type, Range, Example string
	Required                 bool
}

type answer struct {
	entry
	Status   string
	Type     string // of its content
	Schema   string // where that is described
	Examples []sample
	Shared   bool // described elsewhere
}

type sample struct{ Summary, Text string }

type schemaView struct {
	entry
	Fields []field
	Values []string
	OneOf  []string
}

type field struct {
	entry
	Type, Schema, Range string
	Required            bool
}
