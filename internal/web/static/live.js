// Keeps a topic's page current: every event of its stream fetches the page's own markup again.
const topic = document.body.dataset.topic;
const live = document.getElementById("live");
async function refresh() {
  const answer = await fetch("/" + topic, { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  live.replaceChildren(...page.getElementById("live").childNodes);
}
const stream = new EventSource("/" + topic + "/sse");
for (const kind of ["status", "grant", "renew", "release", "expire", "force-release", "wait", "leave"]) {
  stream.addEventListener(kind, refresh);
}
addEventListener("pagehide", () => stream.close());
