/** The sections `alerts` and `notify` of the config: what is sent, and where to. */
import { hash } from "node:crypto";
import path from "node:path";
import { z } from "zod";
import { assert } from "../base/errors.ts";
import { readInternetUrl, readPublicUrl, type TextValue } from "./address.ts";
import { onOrOff, oneOfWords, secretText, section } from "./config-values.ts";
import { currentText, readSigningKey, type PlacedText, type ResolvedSecrets } from "./secrets.ts";
import { pathText } from "./yaml.ts";

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
        const url = textAt(secrets, ["alerts", index, "url"], readPublicUrl, context);
        const secret = textAt(secrets, ["alerts", index, "secret"], (value) => ({ value }), context);
        return { when, command, url, secret };
      }),
    )
    .default([]);
}

/** One entry for each receiver of changes. */
export function notify({ secrets }: { readonly secrets: ResolvedSecrets }, tables: z.ZodType<string[]>) {
  const entry = section({
    url: secretText.describe("Where each change is sent by POST; may be ${env:NAME} or ${file:/path}."),
    secret: secretText.describe(
      "Signs it: ${env:NAME} or ${file:/path}; whsec_ and 24 to 64 bytes in base64.",
    ),
    tables: tables.optional().describe("Only changes of these; all by default."),
    allow_private: onOrOff()
      .prefault("off")
      .describe("Whether url may lead to this machine or a private network, or through a proxy."),
  });
  return z
    .array(entry, { error: "must be a list" })
    .transform((all, context) =>
      all.map(({ tables: only, allowPrivate }, index) => {
        const readUrl = allowPrivate ? readPublicUrl : readInternetUrl;
        const url = textAt(secrets, ["notify", index, "url"], readUrl, context);
        const secret = textAt(secrets, ["notify", index, "secret"], readSigningKey, context);
        assert(url && secret, "what is required was given");
        return { key: addressKey(url), url, secret, tables: only, allowPrivate };
      }),
    )
    .refine((all) => new Set(all.map(({ key }) => key)).size === all.length, {
      error: "must not have one url in two entries",
    })
    .default([]);
}

/** Null: no text stands there. What it must be is checked where it is known; the problem does not repeat it. */
function textAt(
  secrets: ResolvedSecrets,
  where: readonly [section: string, index: number, key: string],
  read: (text: string) => TextValue<unknown>,
  context: z.core.$RefinementCtx,
): PlacedText | null {
  const found = secrets.get(pathText(where));
  if (!found) return null;
  const { secret, place } = found;
  const known = secret.known ? read(secret.reveal()) : null;
  if (known && "must" in known)
    context.addIssue({ code: "custom", path: where.slice(1), input: "", message: `must ${known.must}` });
  return { secret, place };
}

/** An address as it is at this moment. Throws why nothing can be sent there. */
export function currentUrl(url: PlacedText, onSecrets: (secrets: readonly string[]) => void): string {
  const read = readPublicUrl(currentText(url, onSecrets));
  if ("value" in read) return read.value;
  throw new Error(`its url must ${read.must}`);
}

/** The key that signs for a receiver, as it is at this moment. Throws why nothing can be signed. */
export function currentKey(secret: PlacedText, onSecrets: (secrets: readonly string[]) => void): Buffer {
  const read = readSigningKey(currentText(secret, onSecrets));
  if ("value" in read) return read.value;
  throw new Error(`its secret must ${read.must}`);
}

/** The host, and a few digits: the same after a restart, as long as the config says the same. It shows no secret. */
export function addressKey({ secret, place }: PlacedText, ...more: readonly unknown[]): string {
  const text = secret.known ? secret.reveal() : "";
  const name = "value" in readPublicUrl(text) ? new URL(text).host : "unknown address";
  return targetKey(name, place.kind === "config" ? text : place, ...more);
}

/** A name, and a few digits of what the config says. */
export function targetKey(name: string, ...said: readonly unknown[]): string {
  return `${name} ${hash("sha256", JSON.stringify(said), "hex").slice(0, 8)}`;
}
