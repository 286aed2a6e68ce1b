import { counted, formatCount } from "../../base/units.ts";
import { objectIn } from "../../json/literal.ts";
import type { InboxRow } from "../../state/inbox/inbox.ts";
import type { Change } from "../../store/apply/change-log.ts";
import type { ChangeQuestion, FoundChanges, CompanyPageFacts } from "./page-facts.ts";
import { cut, html, type Html, type Piece } from "./html.ts";
import { when, type PageMoment } from "./moments.ts";
import { joined, note, pagePart, rowList, type ListRow, type Tone } from "./page-part.ts";

const mostFields = 3;
const mostCharacters = 60;
/** Fields by which people know a record, the best first. */
const labelFields = ["number", "name", "title", "subject"];
const causes: Readonly<Record<string, string>> = {
  sweep: "from a list",
  hydrate: "from its detail",
  webhook: "after an event",
  confirm: "confirmed",
  repair: "repaired",
  schema: "derived again",
};
const levels: Readonly<Record<string, Tone>> = { insert: "good", update: "busy", delete: "bad" };

export function changeList({ changes, moment }: CompanyPageFacts): Html {
  return pagePart("changes", "Changes", changeLines(changes, moment, "Nothing changed yet."));
}

function changeLines(changes: readonly Change[], moment: PageMoment, none: string): Html {
  const rows = changes.map((change): ListRow => {
    const { resource, recordId, op, at, cause, seq } = change;
    const { label, fields } = differences(change);
    const id = `${resource.replaceAll("_", " ")} ${recordId}`;
    const origin = joined([when(at, moment), causes[cause] ?? cause, `no. ${formatCount(seq)}`]);
    const badge = [levels[op] ?? "plain", op] as const;
    return { name: id, about: label, small: [origin, ...fields], badge };
  });
  return rowList(rows, none);
}

/** What the record calls itself (a number or a name; null: nothing), and the first of the fields that differ. */
function differences({ op, before, after }: Change): { label: string | null; fields: readonly Piece[] } {
  const [was, is] = [objectIn(before ?? ""), objectIn(after ?? "")];
  const all = { ...was, ...is };
  const names = op === "update" ? Object.keys(all) : [];
  const different = names.filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]));
  const more = different.length - mostFields;
  const fields = different
    .slice(0, mostFields)
    .map((name) => difference(name, shown(was[name]), shown(is[name])));
  const values = labelFields.map((name) => all[name]);
  const label = values.find((value): value is string => typeof value === "string" && value !== "");
  return {
    label: label === undefined ? null : cut(label, mostCharacters),
    fields: more > 0 ? [...fields, `and ${formatCount(more)} more`] : fields,
  };
}

function difference(name: string, before: string | null, after: string | null): Html {
  if (before === null && after === null) return html`<code>${name}</code> changed`;
  return html`<code>${name}</code> <del>${before ?? "–"}</del> <span aria-hidden="true">→</span>
    <ins>${after ?? "–"}</ins>`;
}

/** Null: it holds more than one value, or was not there. */
function shown(value: unknown): string | null {
  if (value === undefined || (typeof value === "object" && value !== null)) return null;
  if (value === null || value === "") return "empty";
  return cut(typeof value === "string" ? value : JSON.stringify(value), mostCharacters);
}

/** The form that searches changes: works without a script. */
export function changeForm(
  company: string,
  resources: readonly string[],
  { text, resource }: Pick<ChangeQuestion, "text" | "resource"> = { text: "", resource: null },
): Html {
  const options = resources.map((name) => {
    const chosen = name === resource && html` selected`;
    return html`<option value="${name}" ${chosen}>${name.replaceAll("_", " ")}</option>`;
  });
  return html`<form class="search" role="search" method="get" action="/companies/${company}/changes">
    <label
      >Search changes
      <input type="search" name="q" value="${text}" maxlength="100" placeholder="number, name, id" />
    </label>
    <label
      >in
      <select name="resource">
        <option value="">all resources</option>
        ${options}
      </select>
    </label>
    <button>Search</button>
  </form>`;
}

/** The body of a search in the change log. Pure. */
export function searchBody(
  company: string,
  question: ChangeQuestion,
  { changes, nextSeq, searched }: FoundChanges,
  resources: readonly string[],
  moment: PageMoment,
): Html {
  const { text, resource } = question;
  const asked = { ...(text !== "" && { q: text }), ...(resource !== null && { resource }) };
  const older = new URLSearchParams({ ...asked, before: String(nextSeq ?? 0) });
  const about = text === "" ? "" : ` with “${cut(text)}”`;
  const left = nextSeq === null ? "" : ", older ones were not";
  return html`<section class="card" aria-labelledby="title">
    <div class="head"><h1 id="title">Changes of ${company}</h1></div>
    ${changeForm(company, resources, question)}
    <p class="plan" role="status">
      ${counted(changes.length, "change")}${about}, ${formatCount(searched)} looked at${left}.
    </p>
    ${changeLines(changes, moment, "Nothing was found.")}
    ${nextSeq !== null && html`<nav class="pager" aria-label="Pages"><a rel="next" href="/companies/${company}/changes?${older.toString()}">Search older changes</a></nav>`}
  </section>`;
}

/** The latest events, and what came of each. */
export function eventList(facts: CompanyPageFacts): Html {
  const { events, status, view, moment } = facts;
  const { waiting } = view.events;
  const hasReceiver = status.events !== null && status.events.listeningSince !== null;
  const none = hasReceiver ? "None was received yet." : "No webhook secret is set, so none can be received.";
  const rows = events.map((event): ListRow => {
    const [badge, reason] = outcomeOf(event);
    return {
      name: cut(event.type ?? "without a type"),
      about: event.resource_id === null ? null : String(event.resource_id),
      small: [joined([when(event.received_at, moment), reason !== null && cut(reason)])],
      badge,
    };
  });
  const aside = waiting === 0 ? "none waits" : `${counted(waiting, "event")} waiting`;
  const body = [rowList(rows, none), hasReceiver && receiverState(facts)];
  return pagePart("events", "Events", body, rows.length === 0 ? null : aside);
}

/** A word for what came of an event, and why it is so; null: that needs no reason. */
function outcomeOf({ state, outcome, problem, work }: InboxRow): [readonly [Tone, string], string | null] {
  if (state === "done") {
    const level = outcome === "quarantined" ? "look" : outcome === "unchanged" ? "plain" : "good";
    return [[level, outcome ?? "read"], null];
  }
  if (work?.state === "dead") return [["bad", "set aside"], work.error];
  if (state === "waiting") return [["busy", "waiting"], work?.error ?? null];
  return [[state === "kept" || state === "excluded" ? "plain" : "look", state], problem];
}

function receiverState({ status, view, moment }: CompanyPageFacts): Html {
  const { refused, clock_skew_seconds: skew } = view.receiver;
  const counts = Object.entries(refused).map(([reason, count]) => `${count} ${reason}`);
  const gaps = status.events?.gaps.length ?? 0;
  const facts = joined([
    when(status.events?.listeningSince ?? null, moment),
    counts.length > 0 && `refused: ${counts.join(", ")}`,
    gaps > 0 && `${counted(gaps, "gap")} in 7 days`,
    skew !== null && Math.abs(skew) > 5 && `clock ${skew} s off`,
  ]);
  return note("Receiver", ["since ", facts]);
}
