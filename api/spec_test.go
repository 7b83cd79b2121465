package api_test

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"legible.sh/mutex"
)

func TestDocumentIsValid(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(mutex.SpecYAML)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Fatal(err)
	}
}
