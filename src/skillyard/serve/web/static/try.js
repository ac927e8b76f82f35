// The forms on the page of the API: what they hold is sent to this service, and its answer shown.
"use strict";

(() => {
  const MOST = 200000;

  for (const part of document.querySelectorAll(".try[hidden]")) part.hidden = false;

  function values(form, place) {
    return [...form.elements]
      .filter((each) => each.dataset.in === place && each.value !== "")
      .flatMap((each) => {
        const given = "list" in each.dataset ? each.value.split("\n").filter(Boolean) : [each.value];
        return given.map((value) => [each.name, value]);
      });
  }

  function address(form) {
    let path = form.dataset.path;
    for (const [name, value] of values(form, "path")) {
      path = path.replace(`{${name}}`, value.split("/").map(encodeURIComponent).join("/"));
    }
    const query = new URLSearchParams(values(form, "query")).toString();
    return query ? `${path}?${query}` : path;
  }

  function request(form) {
    const { method, media } = form.dataset;
    const headers = { Accept: "application/json, text/plain;q=0.9, */*;q=0.8" };
    const token = document.getElementById("token");
    if (token && token.value) headers.Authorization = `Bearer ${token.value.trim()}`;
    if (!media) return { method, headers };
    headers["Content-Type"] = media;
    const body = form.elements.body
      ? form.elements.body.value
      : new URLSearchParams(values(form, "form")).toString();
    return { method, headers, body };
  }

  function shown(type, bytes) {
    if (!/json|text|javascript|xml/.test(type)) return "";
    let text = new TextDecoder().decode(bytes);
    if (/json/.test(type)) {
      try { text = JSON.stringify(JSON.parse(text), null, 2); } catch { /* as it came, then */ }
    }
    return text.length > MOST ? `${text.slice(0, MOST)}\n… (cut here)` : text;
  }

  async function send(form) {
    const part = form.closest(".try");
    const said = part.querySelector(".sent");
    const pane = part.querySelector("pre");
    const at = address(form);
    const started = performance.now();
    said.textContent = "Sent …";
    try {
      const answer = await fetch(at, { ...request(form), cache: "no-store" });
      const bytes = await answer.arrayBuffer();
      const type = answer.headers.get("content-type") || "";
      const ms = Math.round(performance.now() - started);
      const words = [`${answer.status} ${answer.statusText}`.trim(), `${ms} ms`,
        `${bytes.byteLength.toLocaleString("en")} bytes`, type].filter(Boolean);
      said.textContent = `${form.dataset.method} ${at}: ${words.join(", ")}`;
      pane.textContent = shown(type, bytes);
      pane.hidden = pane.textContent === "";
    } catch {
      said.textContent = "The service does not answer.";
      pane.hidden = true;
    }
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.closest(".try")) return;
    event.preventDefault();
    if (form.dataset.method) send(form);
  });
})();
