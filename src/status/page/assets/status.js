// Keeps a status page current: takes the parts that changed from a stream of server-sent events, and changes only what
// differs, so that focus, scroll position, typed text and opened details stay.
const source = document.documentElement.dataset.live;
const connection = document.getElementById("connection");
/** A service that answered 503 or a session that ended is asked again after this time. */
const reopenMs = 15_000;
let events = null;
let reopening = 0;

function say(text) {
  if (connection && connection.textContent !== text) connection.textContent = text;
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
  const all = Array.from(to.childNodes);
  for (const wanted of all) {
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

function take({ data }) {
  for (const { id, html } of JSON.parse(data)) {
    const from = document.getElementById(id);
    const [to] = new DOMParser().parseFromString(html, "text/html").body.children;
    if (from && to) change(from, document.importNode(to, true));
  }
}

function open() {
  clearTimeout(reopening);
  if (events || document.hidden) return;
  events = new EventSource(source);
  events.addEventListener("parts", take);
  events.addEventListener("open", () => say("Live: this page follows by itself."));
  events.addEventListener("error", () => {
    say("Not connected: this page is as it was. It connects again by itself.");
    if (events?.readyState !== EventSource.CLOSED) return;
    close();
    reopening = setTimeout(open, reopenMs);
  });
}

function close() {
  events?.close();
  events = null;
}

if (source) {
  // A page that nobody sees costs the daemon nothing.
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  open();
}
