import type { InboxRow } from "../../../state/inbox/inbox-view.ts";
import { cut, html, type Html } from "../markup/html.ts";
import { when } from "../markup/moments.ts";
import type { CompanyPageFacts } from "../facts/company-facts.ts";
import { badge, counted, emptyText, pagePart, type Part } from "../markup/page-part.ts";

/** The latest events, and what came of each. */
export function eventList(facts: CompanyPageFacts): Part {
  const { events, status, view, moment } = facts;
  const waiting = view.events.waiting;
  const aside = waiting === 0 ? "none waits" : `${counted(waiting, "event")} waiting`;
  if (events.length === 0) {
    const receiver = status.events?.listeningSince ?? null;
    const why =
      receiver === null ? "No webhook secret is set, so none can be received." : "None was received yet.";
    return pagePart("events", "Events", [emptyText(why), receiverState(facts)]);
  }
  const items = events.map((row) => {
    const { level, text, reason } = outcomeOf(row);
    return html`<li>
      <div>
        <strong>${cut(row.type ?? "without a type")}</strong>
        <span>${row.resourceId === null ? "" : String(row.resourceId)}</span>
        <small>${when(row.receivedAt, moment)}${reason !== null && html` · ${cut(reason)}`}</small>
      </div>
      ${badge(level, text)}
    </li>`;
  });
  const list = html`<ol class="rows">
    ${items}
  </ol>`;
  return pagePart("events", "Events", [list, receiverState(facts)], aside);
}

function outcomeOf({ state, outcome, problem, work }: InboxRow): {
  readonly level: Parameters<typeof badge>[0];
  readonly text: string;
  readonly reason: string | null;
} {
  if (state === "done") {
    const level = outcome === "quarantined" ? "look" : outcome === "unchanged" ? "plain" : "good";
    return { level, text: outcome ?? "read", reason: null };
  }
  if (work?.state === "dead") return { level: "bad", text: "set aside", reason: work.error };
  if (state === "waiting") return { level: "busy", text: "waiting", reason: work?.error ?? null };
  return { level: state === "kept" || state === "excluded" ? "plain" : "look", text: state, reason: problem };
}

/** Deliveries that were refused, and since when deliveries are received. Nothing where no receiver ever ran. */
function receiverState({ status, view, moment }: CompanyPageFacts): Html | null {
  const { events } = status;
  if (!events || events.listeningSince === null) return null;
  const { refused, clock_skew_seconds: skew } = view.receiver;
  const counts = Object.entries(refused).map(([reason, count]) => `${count} ${reason}`);
  const gaps = events.gaps.length;
  return html`<p class="plan">
    <strong>Receiver</strong> since
    ${when(events.listeningSince, moment)}${counts.length > 0 && html` · refused: ${counts.join(", ")}`}${gaps > 0 && html` · ${counted(gaps, "gap")} in 7 days`}${skew !== null && Math.abs(skew) > 5 && html` · clock ${String(skew)} s off`}
  </p>`;
}
