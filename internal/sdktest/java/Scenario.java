import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.AdminApi;
import org.openapitools.client.api.AdminApi.APIForceReleaseRequest;
import org.openapitools.client.api.LocksApi;
import org.openapitools.client.api.LocksApi.APIAcquireRequest;
import org.openapitools.client.api.LocksApi.APIGetTopicRequest;
import org.openapitools.client.api.LocksApi.APIReleaseRequest;
import org.openapitools.client.api.LocksApi.APIRenewRequest;
import org.openapitools.client.model.ApiError;
import org.openapitools.client.model.ErrorCode;

/** The scenario, with the client that openapi-generator makes of openapi.yaml for Java. */
public final class Scenario {
  static final String URL = System.getenv("MUTEX_URL");
  static final ApiClient client = new ApiClient();
  static final ObjectMapper json = client.getObjectMapper();
  static final LocksApi mutex = new LocksApi(client);

  interface Call {
    Object run() throws ApiException;
  }

  static void deploy(String topic, LongConsumer write) throws Exception {
    // [sdk.md
    var key = UUID.randomUUID().toString();
    var want = APIAcquireRequest.newBuilder().topic(topic).ttl(60.0).waitFor(25.0).idempotencyKey(key).build();
    var grant = mutex.acquire(want); // throws ApiException unless granted: nothing is held then, do not start

    try {
      mutex.renew(APIRenewRequest.newBuilder().topic(topic).lease("-").xLease(grant.getLease()).build()); // every 20 s
    } catch (ApiException e) {
      var code = json.readValue(e.getResponseBody(), ApiError.class).getCode();
      if (code == ErrorCode.NOT_FOUND) throw new IllegalStateException("the lease is gone: stop at once");
    }
    write.accept(grant.getFence()); // the resource refuses a lower fence than its highest
    mutex.release(APIReleaseRequest.newBuilder().topic(topic).lease("-").xLease(grant.getLease()).build());
    // sdk.md]
  }

  /** What a call was refused with. */
  static ApiError refusal(Call call) throws Exception {
    try {
      throw new IllegalStateException("not refused: " + call.run());
    } catch (ApiException e) {
      return json.readValue(e.getResponseBody(), ApiError.class);
    }
  }

  static APIAcquireRequest.Builder acquire(String topic) {
    return APIAcquireRequest.newBuilder().topic(topic);
  }

  static APIRenewRequest renew(String topic, String lease) {
    return APIRenewRequest.newBuilder().topic(topic).lease(lease).ttl(30.0).build();
  }

  static APIReleaseRequest release(String topic, String lease) {
    return APIReleaseRequest.newBuilder().topic(topic).lease(lease).build();
  }

  static void lock(String topic) throws Exception {
    var first = mutex.acquire(acquire(topic).ttl(60.0).name("worker-a").build());
    System.out.printf("acquired fence=%d slot=%d%n", first.getFence(), first.getSlot());
    var busy = refusal(() -> mutex.acquire(acquire(topic).name("worker-b").build()));
    System.out.printf("busy %s holders=%s%n", busy.getCode(), String.join(",", busy.getHolders()));

    var waiting =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return mutex.acquire(acquire(topic).waitFor(25.0).name("worker-b").build());
              } catch (ApiException e) {
                throw new IllegalStateException(e);
              }
            });
    var status = APIGetTopicRequest.newBuilder().topic(topic).build();
    while (mutex.getTopic(status).getWaiting() < 1)
      ;
    mutex.release(release(topic, first.getLease()));
    var second = waiting.get();
    System.out.printf("waited fence=%d%n", second.getFence());

    System.out.printf("renewed ttl=%.0f%n", mutex.renew(renew(topic, second.getLease())).getTtl());
    var admin = new ApiClient();
    admin.updateBaseUri(URL);
    admin.setRequestInterceptor(r -> r.header("Authorization", "Bearer " + System.getenv("MUTEX_ADMIN_TOKEN")));
    new AdminApi(admin)
        .forceRelease(APIForceReleaseRequest.newBuilder().topic(topic).fence(second.getFence()).build());
    System.out.printf("lost %s%n", refusal(() -> mutex.renew(renew(topic, second.getLease()))).getCode());
  }

  static void giveBack(String topic) throws Exception {
    var lease = mutex.acquire(acquire(topic).build()).getLease();
    System.out.printf("released %s%n", mutex.release(release(topic, lease)).getReleased());
    System.out.printf("gone %s%n", refusal(() -> mutex.release(release(topic, lease))).getCode());
  }

  static void semaphore(String topic) throws Exception {
    var slots = new ArrayList<String>();
    for (int i = 0; i < 2; i++) slots.add(mutex.acquire(acquire(topic).capacity(2).build()).getSlot().toString());
    System.out.printf("slots %s%n", String.join(" ", slots));
    System.out.printf("full %s%n", refusal(() -> mutex.acquire(acquire(topic).build())).getCode());
    var conflict = refusal(() -> mutex.acquire(acquire(topic).capacity(3).build()));
    System.out.printf("conflict %s capacity=%d%n", conflict.getCode(), conflict.getCapacity());
  }

  static void events(String topic) throws Exception {
    List<String> seen = new ArrayList<>();
    var watch = HttpRequest.newBuilder(URI.create(URL + "/" + topic + "/sse")).build();
    // The generated call waits for the end of the stream; this one reads along.
    try (var lines = client.getHttpClient().send(watch, BodyHandlers.ofLines()).body()) {
      for (var each = lines.iterator(); !seen.contains("release"); ) {
        var line = each.next();
        if (!line.startsWith("event: ")) continue;
        seen.add(line.substring("event: ".length()));
        if (seen.size() == 1) {
          mutex.release(release(topic, mutex.acquire(acquire(topic).build()).getLease()));
        }
      }
    }
    System.out.printf("events %s%n", String.join(" ", seen));
  }

  public static void main(String[] args) throws Exception {
    client.updateBaseUri(URL);
    var topic = System.getenv("MUTEX_TOPIC");
    lock(topic);
    deploy(topic, fence -> System.out.printf("deployed fence=%d%n", fence));
    giveBack(topic);
    semaphore(topic + ":slots");
    events(topic + ":events");
    System.exit(0); // the stream's connection is a thread of its own
  }
}
