import { recordId, type RecordId } from "../../base/ids.ts";
import { MirrorError } from "../../base/errors.ts";
import { someOf, unknownName } from "../../base/names.ts";
import type { EventRule } from "../../connector/connector-manifest.ts";
import type { Subscription } from "./subscription-client.ts";

/**
 * Parses `--events`: `all`, or names with commas between them.
 *
 * @returns event types in the manifest's order
 * @throws MirrorError `usage` for an unknown event
 */
export function eventsNamed(text: string, rules: readonly EventRule[]): string[] {
  const known = rules.map(({ type }) => type);
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  if (words.length === 0) throw new MirrorError("usage", "--events must name an event, or be all");
  if (words.includes("all")) return known;
  const unknown = words.find((word) => !known.includes(word));
  if (unknown === undefined) return known.filter((type) => words.includes(type));
  throw new MirrorError("usage", unknownName("event", unknown, known), {
    hint: `there are ${someOf(known, 9)}; in a config's folder \`webhooks list\` shows what is subscribed`,
  });
}

/** Parses the id given to a command. Throws MirrorError `usage`. */
export function subscriptionId([text = ""]: readonly string[]): RecordId {
  const id = recordId(text);
  if (id !== null) return id;
  throw new MirrorError("usage", `"${text}" is not the id of a subscription: that is a number`, {
    hint: "`webhooks list` shows them",
  });
}

/** The subscription with this id. Throws MirrorError `not_found`. */
export function subscriptionWith(id: RecordId, all: readonly Subscription[]): Subscription {
  const found = all.find((one) => one.id === id);
  if (found) return found;
  const hint = all.length === 0 ? "there are none" : `there are ${all.map((one) => one.id).join(", ")}`;
  throw new MirrorError("not_found", `there is no subscription ${id}`, { hint });
}
