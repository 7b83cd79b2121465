"""The scenario, with the client that openapi-python-client makes of openapi.yaml."""

import os
import threading
from uuid import uuid4

from mutex_client import AuthenticatedClient, Client
from mutex_client.api.admin import force_release
from mutex_client.api.locks import acquire, get_topic, release, renew, watch_topic
from mutex_client.models import ApiError, ErrorCode, Grant

url = os.environ["MUTEX_URL"]
client = Client(base_url=url, timeout=30)
admin = AuthenticatedClient(base_url=url, token=os.environ["MUTEX_ADMIN_TOKEN"])


def must(answer):
    """Give what was answered, or end the program with the hint."""
    if isinstance(answer, ApiError):
        raise SystemExit(f"{answer.code}: {answer.hint}")
    return answer


def deploy(topic, write):
    # [sdk.md
    grant = acquire.sync(topic, client=client, ttl=60, wait=25, idempotency_key=str(uuid4()))
    if not isinstance(grant, Grant):
        raise SystemExit(f"{grant.code}: {grant.hint}")  # nothing is held: do not start

    renewal = renew.sync(topic, "-", client=client, x_lease=grant.lease)  # every 20 s while it works
    if isinstance(renewal, ApiError) and renewal.code == ErrorCode.NOT_FOUND:
        raise SystemExit("the lease is gone: stop at once")

    write(grant.fence)  # the resource refuses a lower fence than its highest
    release.sync(topic, "-", client=client, x_lease=grant.lease)
    # sdk.md]


def lock(topic):
    first = must(acquire.sync(topic, client=client, ttl=60, name="worker-a"))
    print(f"acquired fence={first.fence} slot={first.slot}")
    busy = acquire.sync(topic, client=client, name="worker-b")
    print(f"busy {busy.code} holders={','.join(busy.holders)}")

    granted = []
    waiter = threading.Thread(
        target=lambda: granted.append(must(acquire.sync(topic, client=client, wait=25, name="worker-b")))
    )
    waiter.start()
    while must(get_topic.sync(topic, client=client)).waiting < 1:
        pass
    must(release.sync(topic, first.lease, client=client))
    waiter.join()
    second = granted[0]
    print(f"waited fence={second.fence}")

    print(f"renewed ttl={must(renew.sync(topic, second.lease, client=client, ttl=30)).ttl:g}")
    must(force_release.sync(topic, client=admin, fence=second.fence))
    print(f"lost {renew.sync(topic, second.lease, client=client).code}")


def give_back(topic):
    grant = must(acquire.sync(topic, client=client))
    print(f"released {str(must(release.sync(topic, grant.lease, client=client)).released).lower()}")
    print(f"gone {release.sync(topic, grant.lease, client=client).code}")


def semaphore(topic):
    slots = [must(acquire.sync(topic, client=client, capacity=2)).slot for _ in range(2)]
    print("slots", *slots)
    print(f"full {acquire.sync(topic, client=client).code}")
    conflict = acquire.sync(topic, client=client, capacity=3)
    print(f"conflict {conflict.code} capacity={conflict.capacity}")


def events(topic):
    request = watch_topic._get_kwargs(topic)  # the generated call waits for the end of the stream; this one reads along
    seen = []
    with client.get_httpx_client().stream(**request) as stream:
        for line in stream.iter_lines():
            if not line.startswith("event: "):
                continue
            seen.append(line.removeprefix("event: "))
            if seen == ["status"]:
                grant = must(acquire.sync(topic, client=client))
                must(release.sync(topic, grant.lease, client=client))
            if seen[-1] == "release":
                break
    print("events", *seen)


topic = os.environ["MUTEX_TOPIC"]
lock(topic)
deploy(topic, lambda fence: print(f"deployed fence={fence}"))
give_back(topic)
semaphore(f"{topic}:slots")
events(f"{topic}:events")
