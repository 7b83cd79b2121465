// The home page's two workers: they take, keep and give back a lease on this very server.

const demo = document.getElementById("demo");
const topic = document.getElementById("topic");
const watch = document.getElementById("watch");
const wire = document.getElementById("wire");
const ttl = 20, slice = 25; // seconds; a wait is sent in slices, as proxies cut longer ones

function random(n) {
  return [...crypto.getRandomValues(new Uint8Array(n))].map((b) => b.toString(16).padStart(2, "0")).join("");
}

// What went over the wire, as a command anybody can repeat. A secret is shown only to the one it belongs to: here.
function told(method, path, headers, status, text) {
  const flags = Object.entries(headers).map(([k, v]) => ` -H '${k}: ${v}'`).join("");
  const verb = method === "GET" ? "" : ` -X ${method}`;
  wire.textContent = `curl${verb}${flags} '${demo.dataset.base}${path}'\n` + (status ? `\n${status}\n${text}` : "\n…");
}

async function call(method, path, headers, signal) {
  told(method, path, headers);
  const answer = await fetch("." + path, { method, signal, headers: { ...headers, Accept: "application/json" } });
  const text = (await answer.text()).trimEnd();
  told(method, path, headers, answer.status, text);
  try {
    return { status: answer.status, body: JSON.parse(text) };
  } catch {
    return { status: answer.status, body: { error: text } };
  }
}

class Worker {
  constructor(card) {
    this.name = card.dataset.name;
    this.words = card.querySelector(".said-by"); // read out, so without the seconds
    this.rest = card.querySelector(".rest");
    this.left = card.querySelector(".left");
    this.buttons = Object.fromEntries([...card.querySelectorAll("button")].map((b) => [b.dataset.do, b]));
    for (const [what, button] of Object.entries(this.buttons)) button.addEventListener("click", () => this[what]());
    this.card = card;
    this.idle("holds nothing");
  }

  say(text) {
    if (this.words.textContent !== text) this.words.textContent = text;
  }

  show(state) {
    this.state = state;
    this.card.dataset.state = state;
    this.buttons.acquire.disabled = state !== "idle";
    this.buttons.renew.disabled = state !== "holding";
    this.buttons.release.disabled = state === "idle";
    this.buttons.release.textContent = state === "waiting" ? "Give up" : "Release";
    topic.disabled = workers.some((w) => w.state !== "idle");
  }

  idle(text) {
    this.grant = undefined;
    this.left.setAttribute("width", 0);
    this.rest.textContent = "";
    this.show("idle");
    this.say(text);
  }

  async acquire() {
    this.topic = encodeURIComponent(topic.value).replaceAll("%3A", ":");
    this.key = random(16);
    this.wait = new AbortController();
    const key = this.key;
    this.show("waiting");
    this.say("asks for it");
    const late = setTimeout(() => this.state === "waiting" && this.say("waits in line"), 300);
    try {
      for (;;) {
        const path = `/${this.topic}?ttl=${ttl}&wait=${slice}&name=${this.name}`;
        const { status, body } = await call("POST", path, { "Idempotency-Key": key }, this.wait.signal);
        if (key !== this.key) return;
        if (status === 408) continue;
        if (status !== 200) return this.idle(body.hint || body.error);
        return this.hold(body);
      }
    } catch (e) {
      if (key === this.key) this.idle(`no answer: ${e.message}`);
    } finally {
      clearTimeout(late);
    }
  }

  hold(grant) {
    this.grant = grant;
    this.ends = performance.now() + grant.ttl * 1000;
    this.show("holding");
    this.say(`holds it, fence ${grant.fence}`);
    this.tick();
  }

  async renew() {
    const grant = this.grant;
    const { status, body } = await call("POST", `/${this.topic}/-/renew`, { "X-Lease": grant.lease });
    if (this.grant !== grant) return; // it was given back meanwhile
    if (status === 200) this.hold({ ...grant, ...body });
    else this.idle(status === 404 ? "lost it: stop the work" : body.hint || body.error);
  }

  async release() {
    const secret = this.grant ? { "X-Lease": this.grant.lease } : { "Idempotency-Key": this.key };
    const was = this.state;
    this.key = undefined;
    this.wait.abort();
    this.idle(was === "waiting" ? "left the line" : "gave it back");
    await call("DELETE", `/${this.topic}/-`, secret);
  }

  // Leaves nothing behind when the page goes.
  leave() {
    if (this.state === "idle") return;
    const secret = this.grant ? { "X-Lease": this.grant.lease } : { "Idempotency-Key": this.key };
    fetch(`./${this.topic}/-`, { method: "DELETE", headers: secret, keepalive: true });
  }

  tick() {
    if (this.state !== "holding") return;
    const left = this.ends - performance.now();
    if (left <= 0) return this.idle("its lease ended: nobody renewed it");
    this.left.setAttribute("width", Math.round((left / (this.grant.ttl * 1000)) * 1000));
    this.rest.textContent = `${Math.ceil(left / 1000)}\u00a0s left`;
  }
}

const workers = [];
function follow() {
  watch.href = "./" + encodeURIComponent(topic.value);
}

topic.value = "try-" + random(4);
topic.addEventListener("input", follow);
follow();
for (const card of demo.querySelectorAll(".worker")) workers.push(new Worker(card));
demo.hidden = false;
setInterval(() => workers.forEach((w) => w.tick()), 250);
addEventListener("pagehide", () => workers.forEach((w) => w.leave()));
