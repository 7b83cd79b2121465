package api_test

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"legible.sh/mutex"
)

// load gives the document, or fails the test.
func load(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(mutex.SpecYAML)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// operations walks every operation of doc, with its method and path as a label.
func operations(doc *openapi3.T) iter.Seq2[string, *openapi3.Operation] {
	return func(yield func(string, *openapi3.Operation) bool) {
		for path, item := range doc.Paths.Map() {
			for method, op := range item.Operations() {
				if !yield(method+" "+path, op) {
					return
				}
			}
		}
	}
}

func TestDocumentIsValidWithItsExamples(t *testing.T) {
	if err := load(t).Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Fatal(err)
	}
}

func TestJSONIsTheSameDocument(t *testing.T) {
	fromJSON, err := openapi3.NewLoader().LoadFromData(mutex.SpecJSON)
	if err != nil {
		t.Fatal(err)
	}
	a, errA := load(t).MarshalJSON()
	b, errB := fromJSON.MarshalJSON()
	if errA != nil || errB != nil || string(a) != string(b) {
		t.Fatal("openapi.json is not openapi.yaml: run go generate ./api", errA, errB)
	}
}

func TestEveryOperationIsNamedAndTagged(t *testing.T) {
	seen := map[string]string{}
	for at, op := range operations(load(t)) {
		if op.OperationID == "" || op.Summary == "" || op.Description == "" || len(op.Tags) != 1 {
			t.Errorf("%s lacks an operationId, summary, description or its one tag", at)
		}
		if other, ok := seen[op.OperationID]; ok {
			t.Errorf("%s and %s are both %s", at, other, op.OperationID)
		}
		seen[op.OperationID] = at
	}
}

func TestEveryAnswerHasANamedSchemaAndAnExample(t *testing.T) {
	for at, op := range operations(load(t)) {
		for status, response := range op.Responses.Map() {
			if len(response.Value.Content) == 0 {
				t.Errorf("%s %s has no content", at, status)
			}
			for mime, content := range response.Value.Content {
				if content.Schema == nil || content.Schema.Ref == "" {
					t.Errorf("%s %s %s: the schema stands inline", at, status, mime)
				}
				if content.Example == nil && len(content.Examples) == 0 {
					t.Errorf("%s %s %s has no example", at, status, mime)
				}
			}
		}
	}
}

func TestEveryRefusalIsAnApiError(t *testing.T) {
	for at, op := range operations(load(t)) {
		if op.Responses.Value("4XX") == nil {
			t.Errorf("%s says nothing of 4XX", at)
		}
		for status, response := range op.Responses.Map() {
			if status == "200" {
				continue
			}
			content := response.Value.Content["application/json"]
			if content == nil || content.Schema.Ref != "#/components/schemas/ApiError" {
				t.Errorf("%s %s is not an ApiError", at, status)
			}
		}
	}
}

// TestErrorTable holds together what stands in three places: the enum, the
// table that people read, and the examples.
func TestErrorTable(t *testing.T) {
	doc := load(t)
	row := regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| ([0-9]{3}) \\| [^|]+ \\| [^|]+ \\|$")
	table := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(doc.Info.Description, -1) {
		table[m[1]] = m[2]
	}
	examples := map[string]bool{}
	for name, example := range doc.Components.Examples {
		value, ok := example.Value.Value.(map[string]any)
		code, isError := value["code"].(string)
		if !ok || !isError || value["error"] == nil {
			continue
		}
		examples[code] = true
		if status, _, _ := strings.Cut(example.Value.Summary, ","); status != table[code] {
			t.Errorf("example %s has status %s, the table %q", name, status, table[code])
		}
	}
	for _, code := range doc.Components.Schemas["ErrorCode"].Value.Enum {
		if table[code.(string)] == "" {
			t.Errorf("%s has no row in the table", code)
		}
		if !examples[code.(string)] {
			t.Errorf("%s has no example", code)
		}
		delete(table, code.(string))
	}
	for code := range table {
		t.Errorf("%s has a row in the table and is not in the enum", code)
	}
}

func TestLinksLeadToOperations(t *testing.T) {
	doc := load(t)
	byID := map[string]*openapi3.Operation{}
	inPath := map[string][]string{}
	for at, op := range operations(doc) {
		byID[op.OperationID] = op
		for _, m := range regexp.MustCompile(`{(\w+)}`).FindAllStringSubmatch(at, -1) {
			inPath[op.OperationID] = append(inPath[op.OperationID], m[1])
		}
	}
	grant := doc.Components.Schemas["Grant"].Value.Properties
	for name, link := range doc.Components.Links {
		if byID[link.Value.OperationID] == nil {
			t.Errorf("link %s leads to %q, which is no operation", name, link.Value.OperationID)
		}
		for _, parameter := range inPath[link.Value.OperationID] {
			source, _ := link.Value.Parameters[parameter].(string)
			field, ok := strings.CutPrefix(source, "$response.body#/")
			if !ok || grant[field] == nil {
				t.Errorf("link %s takes %s from %q, which is no field of Grant", name, parameter, source)
			}
		}
	}
	if len(byID["acquire"].Responses.Value("200").Value.Links) == 0 {
		t.Error("the grant has no links")
	}
}

func TestEveryStreamedEventHasItsSchemaAndItsRow(t *testing.T) {
	doc := load(t)
	watch := doc.Paths.Value("/{topic}/sse").Get
	events, ok := watch.Extensions["x-sse-events"].(map[string]any)
	if !ok || len(events) == 0 {
		t.Fatal("no x-sse-events")
	}
	for event, ref := range events {
		name, _ := strings.CutPrefix(ref.(map[string]any)["$ref"].(string), "#/components/schemas/")
		if doc.Components.Schemas[name] == nil {
			t.Errorf("event %s has the schema %q, which does not exist", event, name)
		}
		row := regexp.MustCompile(fmt.Sprintf("\\| `%s` \\| [^|]+ \\| `%s`", regexp.QuoteMeta(event), name))
		if !row.MatchString(watch.Description) {
			t.Errorf("event %s with %s has no row in the table", event, name)
		}
	}
}

// TestParametersStateTheirRange: who reads only the prose sends nothing that
// the schema refuses.
func TestParametersStateTheirRange(t *testing.T) {
	for name, parameter := range load(t).Components.Parameters {
		p, schema := parameter.Value, parameter.Value.Schema.Value
		if p.Description == "" {
			t.Errorf("%s has no description", name)
		}
		if p.In == "header" || p.Name == "before" || p.Name == "fence" {
			continue // as their query twin, or any value that was handed out
		}
		for _, bound := range []*float64{schema.Min, schema.Max, number(schema.Default)} {
			if bound != nil && !slices.Contains(numbers(p.Description), *bound) {
				t.Errorf("the description of %s does not state %v", name, *bound)
			}
		}
	}
}

func number(v any) *float64 {
	if f, ok := v.(float64); ok {
		return &f
	}
	return nil
}

func numbers(text string) []float64 {
	var all []float64
	for _, word := range regexp.MustCompile(`[0-9]+(\.[0-9]+)?`).FindAllString(text, -1) {
		f, _ := strconv.ParseFloat(word, 64)
		all = append(all, f)
	}
	return all
}
