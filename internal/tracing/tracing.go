// Package tracing sends a span for every request to an OpenTelemetry collector, when the standard OTEL_* variables name
// one.
//
// A [Tracer] owns the exporter and its goroutines, which [Tracer.Stop] ends. A span says method, route and status, and
// nothing of the URL: a lease may stand in its path, and a topic's name is a capability.
package tracing

import (
	"context"
	"fmt"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Tracer makes spans of requests.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	carrier  propagation.TraceContext
}

// Start begins to export. Where to, how often and for which share of the requests is what the OTEL_* variables say,
// which the SDK reads by itself. It does not wait for the collector.
func Start(ctx context.Context, version string) (*Tracer, error) {
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	return with(sdk.WithBatcher(exporter), version), nil
}

func with(export sdk.TracerProviderOption, version string) *Tracer {
	named := resource.NewSchemaless(attribute.String("service.name", "mutex"), attribute.String("service.version", version))
	// What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say goes before.
	if merged, err := resource.Merge(named, resource.Environment()); err == nil {
		named = merged
	}
	provider := sdk.NewTracerProvider(export, sdk.WithResource(named))
	return &Tracer{provider: provider, tracer: provider.Tracer("legible.sh/mutex")}
}

// Stop sends what is left and ends the export, or gives up when the context ends.
func (t *Tracer) Stop(ctx context.Context) error {
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("tracing: %w", err)
	}
	return nil
}

// Wrap makes a span of each request that next answers, under the caller's span where its headers name one.
func (t *Tracer) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := t.carrier.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := t.tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
		defer span.End()
		seen := &status{ResponseWriter: w, code: http.StatusOK}
		r = r.WithContext(ctx)
		next.ServeHTTP(seen, r)
		if r.Pattern != "" {
			span.SetName(r.Pattern)
		}
		span.SetAttributes(
			attribute.String("http.request.method", r.Method),
			attribute.String("http.route", r.Pattern),
			attribute.Int("http.response.status_code", seen.code),
		)
		if seen.code >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, http.StatusText(seen.code))
		}
	})
}

// status remembers the status of an answer. http.ResponseController sees through it.
type status struct {
	http.ResponseWriter
	code  int
	wrote bool
}

func (s *status) WriteHeader(code int) {
	if !s.wrote {
		s.code, s.wrote = code, true
	}
	s.ResponseWriter.WriteHeader(code)
}

// Unwrap lets http.ResponseController reach deadlines and flushing.
func (s *status) Unwrap() http.ResponseWriter { return s.ResponseWriter }
