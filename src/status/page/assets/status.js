// Keeps a status page current: asks for it again with the tag (ETag) of what it shows, and changes only what differs, so
// that focus, scroll position, typed text and opened details stay.
const main = document.querySelector("main");
const connection = document.getElementById("connection");
const everyMs = 2_000;
/** While it cannot be had, it is asked for twice as long after each attempt, up to this. */
const longestMs = 60_000;
const deadlineMs = 30_000;
let { tag } = document.documentElement.dataset;
let waitMs = everyMs;
let timer = 0;

function say(text) {
  if (connection.textContent !== text) connection.textContent = text;
}

/** What the reader changes, and the server does not know of. */
const own = new Set(["open"]);

function changeAttributes(from, to) {
  for (const { name } of Array.from(from.attributes))
    if (!to.hasAttribute(name) && !own.has(name)) from.removeAttribute(name);
  for (const { name, value } of to.attributes)
    if (from.getAttribute(name) !== value && !own.has(name)) from.setAttribute(name, value);
}

function isAlike(from, to) {
  return from.nodeType === to.nodeType && from.nodeName === to.nodeName && (from.id ?? "") === (to.id ?? "");
}

function change(from, to) {
  if (from.isEqualNode(to)) return;
  if (from.nodeType !== Node.ELEMENT_NODE) {
    from.nodeValue = to.nodeValue;
    return;
  }
  changeAttributes(from, to);
  let next = from.firstChild;
  // A node that is inserted leaves the list that it was in.
  for (const wanted of Array.from(to.childNodes)) {
    if (next && isAlike(next, wanted)) {
      change(next, wanted);
      next = next.nextSibling;
    } else from.insertBefore(wanted, next);
  }
  while (next) {
    const after = next.nextSibling;
    next.remove();
    next = after;
  }
}

async function ask() {
  try {
    const signal = AbortSignal.timeout(deadlineMs);
    const answer = await fetch(location.href, { headers: { "If-None-Match": tag }, signal });
    if (!answer.ok && answer.status !== 304) throw new Error(`answered ${answer.status}`);
    if (answer.ok) {
      const shown = new DOMParser().parseFromString(await answer.text(), "text/html");
      change(main, document.importNode(shown.querySelector("main"), true));
      tag = answer.headers.get("ETag") ?? "";
    }
    waitMs = everyMs;
    say("Live: this page follows by itself.");
  } catch {
    waitMs = Math.min(longestMs, 2 * waitMs);
    say(`Not connected: this page is as it was. It is asked for again in ${waitMs / 1000} seconds.`);
  }
  follow(waitMs);
}

/** A page that nobody sees costs the daemon nothing. */
function follow(afterMs) {
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(ask, afterMs);
}

if (tag) {
  document.addEventListener("visibilitychange", () => follow(0));
  follow(0);
}
