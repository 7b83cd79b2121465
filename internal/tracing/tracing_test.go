package tracing

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

func TestSpansJoinTheCallersTraceAndTellNoSecret(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	tracer := with(sdk.WithSyncer(spans), "test")
	const lease = "5f0c8a1e6b7d4c3f9a2b1d0e8c7f6a54"
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{topic}/{lease}/renew", func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Errorf("the wrapper hides the connection: %v", err)
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	r := httptest.NewRequest("POST", "/deploy/"+lease+"/renew?name=x", nil)
	r.Header.Set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	tracer.Wrap(mux).ServeHTTP(httptest.NewRecorder(), r)

	got := spans.GetSpans()
	if len(got) != 1 || got[0].Name != "POST /{topic}/{lease}/renew" {
		t.Fatalf("%+v", got)
	}
	if got[0].SpanContext.TraceID().String() != "0af7651916cd43dd8448eb211c80319c" || got[0].Parent.SpanID().String() != "b7ad6b7169203331" {
		t.Errorf("another trace: %+v", got[0].SpanContext)
	}
	for _, a := range got[0].Attributes {
		if text := a.Value.String(); strings.Contains(text, lease) || strings.Contains(text, "deploy") {
			t.Errorf("%s tells %s", a.Key, text)
		}
	}
	if err := tracer.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}
