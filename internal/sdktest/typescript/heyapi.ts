// The scenario, with the client that @hey-api/openapi-ts makes of openapi.yaml.
import { randomUUID } from "node:crypto";
import { client } from "./mutex/client.gen.js";
import { acquire, forceRelease, getTopic, release, renew, watchTopic, type ApiError } from "./mutex/index.js";

client.setConfig({ baseUrl: process.env.MUTEX_URL! });

/** must gives what was answered, or ends the program with the hint. */
function must<T>({ data, error }: { data?: T; error?: ApiError }): T {
  if (data === undefined) throw new Error(`${error?.code}: ${error?.hint}`);
  return data;
}

async function deploy(topic: string, write: (fence: number) => void) {
  // [sdk.md
  const { data: grant, error } = await acquire({
    path: { topic }, query: { ttl: 60, wait: 25 }, headers: { "Idempotency-Key": randomUUID() },
  });
  if (!grant) throw new Error(`${error.code}: ${error.hint}`); // nothing is held: do not start

  const held = { path: { topic, lease: "-" }, headers: { "X-Lease": grant.lease } };
  const renewal = await renew(held); // every 20 s while it works
  if (renewal.error?.code === "NOT_FOUND") throw new Error("the lease is gone: stop at once");

  write(grant.fence); // the resource refuses a lower fence than its highest
  await release(held);
  // sdk.md]
}

async function lock(topic: string) {
  const path = { topic };
  const first = must(await acquire({ path, query: { ttl: 60, name: "worker-a" } }));
  console.log(`acquired fence=${first.fence} slot=${first.slot}`);
  const busy = await acquire({ path, query: { name: "worker-b" } });
  console.log(`busy ${busy.error?.code} holders=${busy.error?.holders}`);

  const waiting = acquire({ path, query: { wait: 25, name: "worker-b" } });
  while (must(await getTopic({ path })).waiting < 1);
  must(await release({ path: { topic, lease: first.lease } }));
  const second = must(await waiting);
  console.log(`waited fence=${second.fence}`);

  const held = { path: { topic, lease: second.lease }, query: { ttl: 30 } };
  console.log(`renewed ttl=${must(await renew(held)).ttl}`);
  must(await forceRelease({ path, query: { fence: second.fence }, auth: process.env.MUTEX_ADMIN_TOKEN! }));
  console.log(`lost ${(await renew(held)).error?.code}`);
}

async function giveBack(topic: string) {
  const path = { topic, lease: must(await acquire({ path: { topic } })).lease };
  console.log(`released ${must(await release({ path })).released}`);
  console.log(`gone ${(await release({ path })).error?.code}`);
}

async function semaphore(topic: string) {
  const path = { topic };
  const slots = [];
  for (let i = 0; i < 2; i++) slots.push(must(await acquire({ path, query: { capacity: 2 } })).slot);
  console.log(`slots ${slots.join(" ")}`);
  console.log(`full ${(await acquire({ path })).error?.code}`);
  const conflict = await acquire({ path, query: { capacity: 3 } });
  console.log(`conflict ${conflict.error?.code} capacity=${conflict.error?.capacity}`);
}

async function events(topic: string) {
  const stop = new AbortController();
  const seen: string[] = [];
  const { stream } = await watchTopic({
    path: { topic }, signal: stop.signal,
    onSseEvent: ({ event }) => { if (event) seen.push(event); }, // it is called for comments too
  });
  for await (const data of stream) {
    if ("state" in data) {
      const { lease } = must(await acquire({ path: { topic } }));
      must(await release({ path: { topic, lease } }));
    }
    if (seen.includes("release")) break;
  }
  console.log(`events ${seen.join(" ")}`);
  stop.abort();
}

const topic = process.env.MUTEX_TOPIC!;
await lock(topic);
await deploy(topic, (fence) => console.log(`deployed fence=${fence}`));
await giveBack(topic);
await semaphore(`${topic}:slots`);
await events(`${topic}:events`);
