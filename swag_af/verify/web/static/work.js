// Makes the item's form quicker: keys, drafts, time, and what is still missing. Without it the form works all the same.
"use strict";
document.documentElement.classList.add("js");

const form = document.getElementById("work");
if (form) {
  const endings = [...form.querySelectorAll(".ending")];
  const status = document.getElementById("status");
  const keysOn = document.getElementById("keys");
  const seconds = document.getElementById("seconds");
  const copy = `draft ${form.dataset.task} ${form.elements.revision.value}`; // the name of this browser's own copy
  let current = -1, sending = false, unsaved = false;

  // ---- time in which the page is in view
  let counted = 1000 * (Number(seconds.dataset.before) || 0);
  let since = document.hidden ? null : performance.now();
  const active = () => counted + (since === null ? 0 : performance.now() - since);
  document.addEventListener("visibilitychange", () => {
    counted = active();
    since = document.hidden ? null : performance.now();
    if (document.hidden) saveNow();
  });

  // ---- what is missing
  const checked = (name) => form.querySelector(`input[name="${name}"]:checked`);
  const unrated = () => endings.filter((ending) => !checked(`rating-${ending.dataset.place}`));
  const list = (words) => words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
  function missing() {
    const parts = [], left = unrated();
    if (left.length === endings.length) parts.push("rate the endings");
    else if (left.length) parts.push(`rate ${list(left.map((ending) => Number(ending.dataset.place) + 1))}`);
    const ranks = ["best", "second"].filter((name) => !checked(name)).map((name) => name === "best" ? "the best" : "the second best");
    if (ranks.length) parts.push(`mark ${list(ranks)}`);
    return parts;
  }
  const radios = [...form.querySelectorAll("input[type=radio]")];
  const isChanged = () => !form.dataset.draft && radios.some((one) => one.checked !== one.defaultChecked);
  function tell() {
    const parts = missing(), changed = isChanged();
    if (unsaved) return; // what is not saved matters more
    const left = parts.length ? `Still to do: ${list(parts)}.` : changed ? "" : "Complete.";
    status.textContent = [changed ? "Changed, not kept yet." : "", left].filter(Boolean).join(" ");
    status.classList.toggle("ready", !parts.length && !changed);
    status.classList.toggle("changed", changed);
    for (const ending of endings) if (checked(`rating-${ending.dataset.place}`)) ending.classList.remove("missing");
  }

  // ---- drafts: the server keeps them, and until it has, this browser does
  let timer = 0, tries = 0, newest = 0, goingOn = false; // whether Next was pressed, and nothing was changed since
  const fields = () => { seconds.value = Math.round(active() / 1000); return new URLSearchParams(new FormData(form)); };
  const post = (address) => fetch(address, { method: "POST", body: fields(), signal: AbortSignal.timeout(20000) });
  function keepHere() {
    const chosen = radios.filter((one) => one.checked).map((one) => [one.name, one.value]);
    try { localStorage.setItem(copy, JSON.stringify(chosen)); } catch { /* no storage: the page holds it */ }
  }
  function dropHere() { try { localStorage.removeItem(copy); } catch { /* no storage */ } }
  function restore() {
    let kept = null;
    try { kept = JSON.parse(localStorage.getItem(copy)); } catch { /* no storage, or broken */ }
    if (!Array.isArray(kept)) return false;
    for (const one of radios) one.checked = kept.some(([name, value]) => name === one.name && value === one.value);
    return true;
  }
  function setUnsaved(why) {
    unsaved = Boolean(why);
    status.classList.toggle("unsaved", unsaved);
    if (why) { status.classList.remove("ready", "changed"); status.textContent = why; } else tell();
  }
  const wait = () => Math.min(30, 2 ** ++tries) * 1000;
  function save() { // a changed answer counts once it is kept, and has no draft: this browser alone has the change
    if (!form.dataset.draft && !isChanged()) return dropHere();
    keepHere();
    if (!form.dataset.draft) return;
    clearTimeout(timer); timer = setTimeout(saveNow, 400);
  }
  async function saveNow() {
    clearTimeout(timer);
    if (!form.dataset.draft || sending) return;
    const mine = ++newest;
    try {
      const answer = await post(form.dataset.draft);
      if (mine !== newest || sending) return; // a newer one is under way
      if (answer.ok) { tries = 0; dropHere(); if (unsaved) setUnsaved(""); return; }
      const why = answer.status === 409 ? "this item was answered, perhaps in another tab" : `the server says no (${answer.status})`;
      setUnsaved(`Not saved: ${why}. Your choices stay in this browser; load the page again.`);
      if (answer.status < 500 && answer.status !== 429) return;
    } catch {
      if (mine !== newest || sending) return;
      setUnsaved("Not saved: the server does not answer. Your choices stay in this browser and are sent again.");
    }
    timer = setTimeout(saveNow, wait());
  }
  async function send() { // stays on the page until the server has the answer
    clearTimeout(timer);
    keepHere();
    sending = goingOn = true;
    const body = fields();
    try {
      const answer = await fetch(form.action, { method: "POST", body, signal: AbortSignal.timeout(20000) });
      if (answer.status >= 500 || answer.status === 429) throw new Error("later");
      if (answer.ok && new URL(answer.url).searchParams.has("kept")) dropHere(); // of a changed answer this copy is the only one
      if (answer.redirected) location.assign(answer.url); else form.submit(); // a page that says what is wrong
    } catch {
      sending = false;
      setUnsaved("Not sent: the server does not answer. Your choices stay in this browser and are sent again.");
      timer = setTimeout(retry, wait());
    }
  }
  const retry = () => goingOn ? send() : saveNow();
  form.addEventListener("change", (event) => {
    const { name, value, type } = event.target;
    if (type !== "radio") return;
    const other = { best: "second", second: "best" }[name];
    if (other && checked(other)?.value === value) checked(other).checked = false; // one ending cannot be both
    goingOn = false;
    tell();
    save();
  });

  // ---- going on
  form.noValidate = true;
  form.addEventListener("submit", (event) => {
    if (missing().length || sending) {
      event.preventDefault();
      if (sending) return;
      tell();
      const first = unrated();
      for (const ending of first) ending.classList.add("missing");
      choose(first.length ? Number(first[0].dataset.place) : Math.max(0, current));
      return;
    }
    event.preventDefault();
    tries = 0;
    send();
  });
  window.addEventListener("online", () => { if (unsaved) { tries = 0; retry(); } });
  window.addEventListener("pageshow", () => { sending = false; });

  // ---- keys
  function choose(place) {
    const ending = endings[place];
    if (!ending) return;
    current = place;
    const name = `rating-${place}`;
    (checked(name) || ending.querySelector("input")).focus({ preventScroll: true });
    ending.scrollIntoView({ block: "nearest" });
  }
  form.addEventListener("focusin", (event) => {
    const ending = event.target.closest(".ending");
    current = ending ? endings.indexOf(ending) : current;
    for (const one of endings) one.classList.toggle("current", one === ending);
  });
  function mark(name, value) {
    if (current < 0) choose(0);
    const input = form.querySelector(`input[name="${name}"][value="${value}"]`);
    input.checked = true;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }
  const rating = (value) => () => { if (current < 0) choose(0); mark(`rating-${current}`, value); choose(current); };
  const rank = (name) => () => { if (current < 0) choose(0); mark(name, current); };
  const actions = {
    l: rating("likely"), u: rating("unlikely"), g: rating("gibberish"), b: rank("best"), s: rank("second"),
    z: () => { if (form.dataset.back) { saveNow(); location.assign(form.dataset.back); } },
    enter: () => form.requestSubmit(),
  };
  try { keysOn.checked = localStorage.getItem("keys") !== "off"; } catch { /* no storage: they stay on */ }
  keysOn.addEventListener("change", () => {
    try { localStorage.setItem("keys", keysOn.checked ? "on" : "off"); } catch { /* for this page only */ }
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const key = event.key.toLowerCase();
    if (!keysOn.checked) return;
    if (key === "enter" && event.target.closest("a, button, summary")) return; // theirs
    const act = /^[1-9]$/.test(key) ? () => choose(Number(key) - 1) : actions[key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  const problems = document.getElementById("problems");
  const note = status.textContent;
  if (restore()) save();
  tell();
  if (new URLSearchParams(location.search).has("kept")) history.replaceState(null, "", location.pathname); // said once
  if (note) status.textContent = `${note} ${status.textContent}`;
  const scene = document.getElementById("scene"); // of a small screen it may scroll: then Tab stops there
  new ResizeObserver(() => { scene.tabIndex = scene.scrollHeight > scene.clientHeight + 1 ? 0 : -1; }).observe(scene);
  (problems || scene).focus({ preventScroll: true });
}
