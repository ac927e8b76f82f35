// What a script adds: results while typing, copy buttons, keys, a theme that is chosen by hand.
// Every page does its whole work without it.
"use strict";

(() => {
  const $ = (id) => document.getElementById(id);
  const PAUSE_MS = 180;
  const SHORTEST = 2;

  // ----- the theme -----

  const theme = $("theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");

  function remembered() {
    try { return localStorage.getItem("theme"); } catch { return null; }
  }

  function showTheme(chosen) {
    if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
    const dark = (document.documentElement.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
    theme.setAttribute("aria-pressed", String(dark));
    return dark;
  }

  if (theme) {
    showTheme(remembered());
    theme.hidden = false;
    system.addEventListener("change", () => showTheme(null));
    theme.addEventListener("click", () => {
      const next = showTheme(null) ? "light" : "dark";
      try { localStorage.setItem("theme", next); } catch { /* then it holds for this page */ }
      showTheme(next);
    });
  }

  // ----- copying -----

  const labels = new WeakMap();

  function fallbackCopy(text) {
    const area = document.createElement("textarea");
    area.value = text;
    area.setAttribute("aria-hidden", "true");
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) throw new Error("not copied");
  }

  async function copy(button) {
    const from = button.dataset.copyFrom;
    const text = from ? $(from).textContent : button.dataset.copy;
    if (!labels.has(button)) labels.set(button, [...button.childNodes]);
    try {
      if (navigator.clipboard) await navigator.clipboard.writeText(text);
      else fallbackCopy(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not copied";
    }
    say(button.textContent);
    button.focus();
    setTimeout(() => button.replaceChildren(...labels.get(button)), 1600);
  }

  function showCopyButtons() {
    for (const button of document.querySelectorAll("button.copy[hidden]")) button.hidden = false;
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.copy");
    if (button) copy(button);
  });

  // ----- results while typing -----

  const form = $("search");
  const box = $("q");
  let asked = null;
  let timer = 0;
  let shown = form && location.search ? address(false) : null;

  function say(text) {
    const line = $("said");
    if (line) line.textContent = text;
  }

  function address(live) {
    const pairs = new URLSearchParams(new FormData(form));
    if (live) pairs.append("live", "true");
    return `${form.action.replace(/[?#].*/, "").replace(location.origin, "")}?${pairs}`;
  }

  async function refresh() {
    const here = address(false);
    if (here === shown) return;
    if (asked) asked.abort();
    const mine = asked = new AbortController();
    const results = $("results");
    results.classList.add("waiting");
    results.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(address(true), {
        headers: { Accept: "text/html" }, signal: mine.signal, credentials: "same-origin",
      });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (mine !== asked) return;
      const found = page.getElementById("results");
      if (!answer.ok || !found) {
        const heading = page.querySelector("h1");
        say(heading ? heading.textContent : "The search did not work.");
        return;
      }
      results.replaceChildren(...[...found.childNodes].map((node) => document.importNode(node, true)));
      shown = here;
      history.replaceState(null, "", here);
      document.title = page.title;
      showCopyButtons();
      say(["verdict", "count"].map((id) => $(id)?.textContent).filter(Boolean).join(". "));
    } catch (error) {
      if (error.name !== "AbortError") say("The service does not answer.");
    } finally {
      if (mine === asked) {
        results.classList.remove("waiting");
        results.removeAttribute("aria-busy");
      }
    }
  }

  // Browsers that do not fit a field to its text by themselves.
  function grow() {
    if (CSS.supports("field-sizing", "content")) return;
    box.style.height = "auto";
    box.style.height = `${box.scrollHeight + 2}px`;
  }

  function soon() {
    clearTimeout(timer);
    const length = box.value.trim().length;
    if (length >= SHORTEST) timer = setTimeout(refresh, PAUSE_MS);
    else if (asked) asked.abort();
  }

  if (form && box) {
    box.addEventListener("input", soon);
    form.addEventListener("change", (event) => { if (event.target !== box) soon(); });
    form.addEventListener("submit", (event) => {
      clearTimeout(timer);
      if (asked) asked.abort();
      const there = address(false);
      if (there === location.pathname + location.search) {
        // Typing has brought it here already: a browser would only go down to the heading.
        event.preventDefault();
        history.replaceState(null, "", `${there}#verdict`);
        location.reload();
      }
    });
    if (location.hash === "#verdict" && $("verdict")) $("verdict").focus();
    grow();
    box.addEventListener("input", grow);
    for (const keys of document.querySelectorAll(".keys")) keys.hidden = false;
  }

  // ----- keys -----

  function cards() {
    return [...document.querySelectorAll(".cards a.open")].filter((link) => link.checkVisibility());
  }

  function typing(target) {
    return target.closest("input, textarea, select, [contenteditable]") !== null;
  }

  function move(step) {
    const all = cards();
    if (!all.length) return false;
    const card = document.activeElement.closest(".card");
    const at = card ? all.indexOf(card.querySelector("a.open")) : -1;
    const next = at + step;
    if (next < 0) { if (box) box.focus(); return true; }
    all[Math.min(next, all.length - 1)].focus();
    return true;
  }

  function pressed(event) {
    const inBox = event.target === box;
    const inCard = event.target.closest(".card") !== null;
    switch (event.key) {
      case "/":
        if (!box || typing(event.target)) return false;
        box.focus();
        box.select();
        return true;
      case "ArrowDown": // from the end of what is typed; before it the key moves in the text
        return (inCard || (inBox && box.selectionEnd === box.value.length)) && move(1);
      case "ArrowUp":
        return inCard && move(-1);
      case "j":
        return !typing(event.target) && move(1);
      case "k":
        return !typing(event.target) && move(-1);
      case "Escape":
        if (inCard && box) { box.focus(); return true; }
        if ($("back")) { $("back").click(); return true; }
        return false;
      default:
        return false;
    }
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches("form textarea") && !event.isComposing) {
      // The search field sends with Enter, as one of a single line does; a longer text has lines.
      const plain = event.target === box && !event.shiftKey && !event.altKey;
      if (plain || event.ctrlKey || event.metaKey) {
        event.preventDefault();
        event.target.form.requestSubmit();
      }
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (pressed(event)) event.preventDefault();
  });

  showCopyButtons();
})();
