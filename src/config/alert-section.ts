/** The section `alerts` of the config: what is sent, and where to. */
import path from "node:path";
import { z } from "zod";
import { readPublicUrl } from "./address.ts";
import { oneOfWords, secretText, section } from "./config-values.ts";
import { pathText } from "./config-problems.ts";
import type { ResolvedSecrets } from "./secrets.ts";

export const alertKinds = [
  "failed",
  "stale",
  "partial",
  "refused",
  "held",
  "disk_low",
  "gap",
  "subscription",
  "schema",
] as const;
export type AlertKind = (typeof alertKinds)[number];

/** What a shell would read as more than words. */
const shellText = /["'`$|&;<>()*?\\]/;
const listInstead = 'be a list where a word has blanks or other signs: ["sh", "-c", "mail ops < /dev/stdin"]';

function words(folder: string) {
  const error = "must be a command, or a list of its words";
  return z.union([z.string(), z.array(z.string())], { error }).transform((given, context) => {
    const isLine = typeof given === "string";
    const [program = "", ...rest] = isLine ? given.split(/\s+/).filter((word) => word !== "") : given;
    const message = isLine && shellText.test(given) ? `must ${listInstead}` : error;
    if (program === "" || message !== error) context.addIssue({ code: "custom", message });
    return [program.includes("/") ? path.resolve(folder, program) : program, ...rest];
  });
}

/** One entry for each target; entries with neither a command nor a url, or with both, are refused. */
export function alerts({ folder, secrets }: { readonly folder: string; readonly secrets: ResolvedSecrets }) {
  const entry = section({
    when: z
      .array(oneOfWords(alertKinds), { error: `must be a list of ${alertKinds.join(", ")}` })
      .min(1, { error: "must name at least one thing" })
      .describe("What is sent."),
    command: words(folder)
      .optional()
      .describe("A program and its arguments, run without a shell. It gets the alert as JSON on stdin."),
    url: secretText
      .optional()
      .describe("Where the alert is sent by POST; may be ${env:NAME} or ${file:/path}."),
    secret: secretText
      .optional()
      .describe("Signs what goes to url: ${env:NAME}, ${file:/path}, or (with a warning) the secret itself."),
  })
    .refine(({ command, url }) => (command === null) !== (url === null), {
      error: "must have a command or a url, one of the two",
    })
    .refine(({ command, secret }) => command === null || secret === null, {
      error: "must have no secret beside a command: nothing is signed there",
    });
  return z
    .array(entry, { error: "must be a list" })
    .transform((all, context) =>
      all.map(({ when, command }, index) => {
        // Null: no text stands there.
        const textAt = (key: string) => {
          const found = secrets.get(pathText(["alerts", index, key]));
          return found ? { secret: found.secret, place: found.place } : null;
        };
        const [url, secret] = [textAt("url"), textAt("secret")];
        if (url?.secret.known) {
          const read = readPublicUrl(url.secret.reveal());
          // The text may be a secret: the problem names only what it must be.
          if (!("value" in read))
            context.addIssue({ code: "custom", path: [index, "url"], message: `must ${read.must}` });
        }
        return { when, command, url, secret };
      }),
    )
    .default([]);
}
