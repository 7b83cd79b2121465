// The scenario, with a client of openapi-fetch over the types that openapi-typescript makes of openapi.yaml.
import { randomUUID } from "node:crypto";
import createClient from "openapi-fetch";
import type { components, paths } from "./mutex.js";

const baseUrl = process.env.MUTEX_URL!;
const mutex = createClient<paths>({ baseUrl });
const admin = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${process.env.MUTEX_ADMIN_TOKEN}` } });

type ApiError = components["schemas"]["ApiError"];

const acquire = (topic: string, query: paths["/{topic}"]["post"]["parameters"]["query"]) =>
  mutex.POST("/{topic}", { params: { path: { topic }, query } });
const byPath = (topic: string, lease: string) => ({ params: { path: { topic, lease } } });

/** must gives what was answered, or ends the program with the hint. */
function must<T>({ data, error }: { data?: T; error?: ApiError }): T {
  if (data === undefined) throw new Error(`${error?.code}: ${error?.hint}`);
  return data;
}

async function deploy(topic: string, write: (fence: number) => void) {
  // [sdk.md
  const { data: grant, error } = await mutex.POST("/{topic}", {
    params: { path: { topic }, query: { ttl: 60, wait: 25 }, header: { "Idempotency-Key": randomUUID() } },
  });
  if (!grant) throw new Error(`${error.code}: ${error.hint}`); // nothing is held: do not start

  const held = { params: { path: { topic, lease: "-" }, header: { "X-Lease": grant.lease } } };
  const renewal = await mutex.POST("/{topic}/{lease}/renew", held); // every 20 s while it works
  if (renewal.error?.code === "NOT_FOUND") throw new Error("the lease is gone: stop at once");

  write(grant.fence); // the resource refuses a lower fence than its highest
  await mutex.DELETE("/{topic}/{lease}", held);
  // sdk.md]
}

async function lock(topic: string) {
  const first = must(await acquire(topic, { ttl: 60, name: "worker-a" }));
  console.log(`acquired fence=${first.fence} slot=${first.slot}`);
  const busy = await acquire(topic, { name: "worker-b" });
  console.log(`busy ${busy.error?.code} holders=${busy.error?.holders}`);

  const waiting = acquire(topic, { wait: 25, name: "worker-b" });
  while (must(await mutex.GET("/{topic}", { params: { path: { topic } } })).waiting < 1);
  must(await mutex.DELETE("/{topic}/{lease}", byPath(topic, first.lease)));
  const second = must(await waiting);
  console.log(`waited fence=${second.fence}`);

  const renew = { params: { path: { topic, lease: second.lease }, query: { ttl: 30 } } };
  console.log(`renewed ttl=${must(await mutex.POST("/{topic}/{lease}/renew", renew)).ttl}`);
  const forced = { params: { path: { topic }, query: { fence: second.fence } } };
  must(await admin.POST("/{topic}/force-release", forced));
  console.log(`lost ${(await mutex.POST("/{topic}/{lease}/renew", renew)).error?.code}`);
}

async function giveBack(topic: string) {
  const lease = byPath(topic, must(await acquire(topic, {})).lease);
  console.log(`released ${must(await mutex.DELETE("/{topic}/{lease}", lease)).released}`);
  console.log(`gone ${(await mutex.DELETE("/{topic}/{lease}", lease)).error?.code}`);
}

async function semaphore(topic: string) {
  const slots = [];
  for (let i = 0; i < 2; i++) slots.push(must(await acquire(topic, { capacity: 2 })).slot);
  console.log(`slots ${slots.join(" ")}`);
  console.log(`full ${(await acquire(topic, {})).error?.code}`);
  const conflict = await acquire(topic, { capacity: 3 });
  console.log(`conflict ${conflict.error?.code} capacity=${conflict.error?.capacity}`);
}

async function events(topic: string) {
  const stop = new AbortController();
  const { response } = await mutex.GET("/{topic}/sse", { params: { path: { topic } }, parseAs: "stream", signal: stop.signal });
  const { lease } = must(await acquire(topic, {}));
  must(await mutex.DELETE("/{topic}/{lease}", byPath(topic, lease)));
  let text = "";
  const seen = () => [...text.matchAll(/^event: (.+)$/gm)].map((m) => m[1]);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  while (!seen().includes("release")) text += (await reader.read()).value ?? "";
  console.log(`events ${seen().join(" ")}`);
  stop.abort();
}

const topic = process.env.MUTEX_TOPIC!;
await lock(topic);
await deploy(topic, (fence) => console.log(`deployed fence=${fence}`));
await giveBack(topic);
await semaphore(`${topic}:slots`);
await events(`${topic}:events`);
