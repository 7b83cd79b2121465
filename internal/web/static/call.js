// The reference's forms: each sends its call to this very server and shows what was sent and what came back.

const token = document.getElementById("token");

function request(form) {
  const query = new URLSearchParams(), headers = { Accept: "application/json" };
  let path = form.dataset.path;
  for (const input of form.querySelectorAll("input")) {
    const value = input.value.trim();
    if (input.dataset.in === "path") path = path.replace(`{${input.name}}`, encodeURIComponent(value).replaceAll("%3A", ":"));
    else if (value && input.dataset.in === "query") query.set(input.name, value);
    else if (value) headers[input.name] = value;
  }
  if ("token" in form.dataset && token.value) headers.Authorization = `Bearer ${token.value}`;
  const tail = query.size ? `?${query}` : "";
  return { method: form.dataset.method, path: path + tail, headers };
}

// The call as a command; the token is not repeated.
function command({ method, path, headers }) {
  const flags = Object.entries(headers).filter(([name]) => name !== "Accept").map(([name, value]) => {
    return name === "Authorization" ? ' -H "Authorization: Bearer $MUTEX_TOKEN"' : ` -H '${name}: ${value}'`;
  });
  return `curl${method === "GET" ? "" : ` -X ${method}`}${flags.join("")} '${new URL(".." + path, location.href)}'`;
}

document.addEventListener("submit", async (e) => {
  const form = e.target;
  if (!form.dataset.method) return;
  e.preventDefault();
  const out = form.parentElement.querySelector("pre[aria-live]"), button = form.querySelector("button");
  const call = request(form);
  out.hidden = false;
  out.firstChild.textContent = command(call) + "\n\n…";
  button.disabled = true;
  try {
    const answer = await fetch(".." + call.path, { method: call.method, headers: call.headers });
    out.firstChild.textContent = `${command(call)}\n\n${answer.status} ${answer.statusText}\n${await answer.text()}`;
  } catch (err) {
    out.firstChild.textContent = `${command(call)}\n\nno answer: ${err.message}`;
  } finally {
    button.disabled = false;
  }
});

for (const hidden of document.querySelectorAll("details.try, #bearer")) hidden.hidden = false;
