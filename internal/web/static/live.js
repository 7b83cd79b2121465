// Keeps a page current. What it says is always the server's word: this script fetches the page again, when the topic's
// stream tells of an event, when the page asked for another look, or every few seconds, and swaps the parts that
// changed. Between two fetches it moves the clocks, by the server's time.

const live = document.getElementById("live");
const title = document.title;
let skew = 0; // the server's clock minus ours, in ms

// The same words as span in words.go, in whole seconds.
function span(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  const two = (large, name, small, smallName) => {
    const rest = Math.floor((s % large) / small);
    return `${Math.floor(s / large)}\u00a0${name}` + (rest ? `\u00a0${rest}\u00a0${smallName}` : "");
  };
  if (s < 60) return `${s}\u00a0s`;
  if (s < 3600) return two(60, "min", 1, "s");
  if (s < 86400) return two(3600, "h", 60, "min");
  return two(86400, "d", 3600, "h");
}

function tick() {
  const now = Date.now() + skew;
  for (const t of live.querySelectorAll(".tick")) {
    const d = Date.parse(t.dateTime) - now;
    const text = span(t.dataset.tick === "since" ? -d : d);
    if (t.textContent !== text) t.textContent = text;
  }
  for (const life of live.querySelectorAll(".life")) {
    const from = Date.parse(life.dataset.from), to = Date.parse(life.dataset.to);
    const left = Math.min(Math.max((to - now) / Math.max(to - from, 1), 0), 1);
    life.querySelector(".left").setAttribute("width", Math.round(left * 1000));
  }
}

// What a part says, apart from its clocks.
function gist(part) {
  const copy = part.cloneNode(true);
  for (const t of copy.querySelectorAll(".tick, #link")) t.textContent = "";
  for (const r of copy.querySelectorAll(".left")) r.removeAttribute("width");
  for (const d of copy.querySelectorAll("details")) d.removeAttribute("open");
  return copy.innerHTML;
}

function swap(old, part) {
  const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
  const open = [...old.querySelectorAll("details[open][id]")].map((d) => d.id);
  old.replaceChildren(...part.childNodes);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

function show(page) {
  const next = page.getElementById("live");
  if (!next) throw new Error("no such page");
  skew = Date.parse(next.dataset.now) - Date.now();
  for (const part of next.querySelectorAll("[data-part]")) {
    const old = live.querySelector(`[data-part="${part.dataset.part}"]`);
    if (old && gist(old) !== gist(part)) swap(old, part);
  }
  for (const name of ["summary", "recheck", "icon"]) {
    if (next.dataset[name] === undefined) delete live.dataset[name];
    else live.dataset[name] = next.dataset[name];
  }
  document.title = page.title || title;
  settle();
  document.dispatchEvent(new Event("shown"));
}

// What follows from a page, the first one or a later.
let recheck;
function settle() {
  const said = document.getElementById("said");
  if (said && live.dataset.summary && said.textContent !== live.dataset.summary) said.textContent = live.dataset.summary;
  const icon = document.querySelector("link[rel=icon]");
  if (live.dataset.icon && icon.getAttribute("href") !== live.dataset.icon) icon.setAttribute("href", live.dataset.icon);
  clearTimeout(recheck);
  if (live.dataset.recheck) {
    recheck = setTimeout(refresh, Math.max(Date.parse(live.dataset.recheck) - Date.now() - skew, 0) + 50);
  }
  tick();
  word();
}

let standing = "live";
function say(state) {
  standing = state;
  word();
}

function word() {
  const link = document.getElementById("link");
  if (!link) return;
  const words = { live: "live", lost: "connection lost, trying again", paused: "paused", ended: "signed out: reload to sign in" };
  if (link.textContent !== words[standing]) link.textContent = words[standing];
  link.className = "link " + standing;
}

// At most one fetch at a time, and at most five a second.
const pause = 200;
let fetching = false, again = false;
async function refresh() {
  if (document.hidden) return;
  if (fetching) {
    again = true;
    return;
  }
  fetching = true;
  again = false;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
    if (answer.status === 401 || answer.status === 403) return say("ended");
    if (!answer.ok) throw new Error(answer.statusText);
    show(new DOMParser().parseFromString(await answer.text(), "text/html"));
    if ((standing === "lost" || standing === "ended") && (!stream || stream.readyState === EventSource.OPEN)) say("live");
  } catch {
    say("lost");
  } finally {
    setTimeout(() => {
      fetching = false;
      if (again) refresh();
    }, pause);
  }
}

// The stream of a topic; a browser has few connections, so a hidden page gives its own back.
const events = ["status", "grant", "renew", "release", "expire", "force-release", "wait", "leave"];
let stream, retry, every;
function start() {
  if (document.hidden || stream || every) return;
  if (live.dataset.every) {
    every = setInterval(refresh, Number(live.dataset.every) * 1000);
    return;
  }
  clearTimeout(retry);
  stream = new EventSource(live.dataset.stream);
  for (const kind of events) stream.addEventListener(kind, refresh);
  stream.addEventListener("open", () => say("live"));
  stream.addEventListener("error", () => {
    say("lost");
    if (stream?.readyState !== EventSource.CLOSED) return; // it tries again by itself
    stop();
    retry = setTimeout(start, 3000);
  });
}

function stop() {
  stream?.close();
  clearInterval(every);
  clearTimeout(retry);
  stream = every = undefined;
}

skew = Date.parse(live.dataset.now) - Date.now();
settle();
setInterval(tick, 250);
start();
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    stop();
    say("paused");
    return;
  }
  say("live");
  refresh();
  start();
});
addEventListener("pagehide", stop);
addEventListener("pageshow", (e) => e.persisted && start());
