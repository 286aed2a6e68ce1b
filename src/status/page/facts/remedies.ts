import type { Condition } from "../../conditions.ts";

/** By kind and subject of a condition. */
const steps: Readonly<Record<string, string>> = {
  "failed secrets":
    "Set the variable or write the file that the config names. A file is used as soon as it is there; a variable needs a restart.",
  "failed writing": "Free some space on the disk, or close the program that holds the file. Nothing is lost.",
  "failed reading":
    "`fintoro-mirror check` says what is wrong with token, network and file. `serve` tries again by itself.",
  "failed after_run":
    "`fintoro-mirror publish` and `fintoro-mirror export` make them at once and name the reason.",
  "stale after_run": "`fintoro-mirror publish` makes the report at once; the log says why it was not made.",
  "stale lists": "The next run reads them. `fintoro-mirror sync` starts one at once.",
  "stale events": "They are read as soon as the service answers. The queue below shows what waits.",
  "refused deliveries": "`fintoro-mirror check` compares the webhook secret, the clock and the address.",
  "partial records": "The next run asks for them again. The list below has each reason.",
  "held deletions": "If so much was really deleted, run `fintoro-mirror sync --allow-mass-delete`.",
  "subscription deliveries":
    "`fintoro-mirror webhooks list` shows what is subscribed; `webhooks update` and `webhooks create` mend it. The next run looks again.",
  schema:
    "Nothing is lost: new fields are kept, in columns of their own. A newer version may know them; it is told for a week.",
  "gap events": "`serve` makes a run that reads everything, by itself.",
};

/** What to do about it. Pure. */
export function remedyFor({ kind, subject }: Pick<Condition, "kind" | "subject">): string {
  return steps[`${kind} ${subject}`] ?? steps[kind] ?? "`fintoro-mirror status` says more.";
}
