import type { InboxRow } from "../../../state/inbox/inbox-view.ts";
import type { CompanyPageFacts } from "../facts/facts-reader.ts";
import { cut, type Html } from "../markup/html.ts";
import { when } from "../markup/moments.ts";
import { counted, joined, note, pagePart, rowList, type Tone, type Row } from "../markup/page-part.ts";

/** The latest events, and what came of each. */
export function eventList(facts: CompanyPageFacts): Html {
  const { events, status, view, moment } = facts;
  const { waiting } = view.events;
  const hasReceiver = status.events !== null && status.events.listeningSince !== null;
  const none = hasReceiver ? "None was received yet." : "No webhook secret is set, so none can be received.";
  const rows = events.map((event): Row => {
    const [badge, reason] = outcomeOf(event);
    return {
      name: cut(event.type ?? "without a type"),
      about: event.resourceId === null ? null : String(event.resourceId),
      small: [joined([when(event.receivedAt, moment), reason !== null && cut(reason)])],
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

/** Deliveries that were refused, and since when deliveries are received. */
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
