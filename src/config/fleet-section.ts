/** The section `fleet`: what processes on many machines share, and what is this process's own among them. */
import { valueOr } from "../base/errors.ts";
import { z } from "zod";
import { dayMs, hourMs } from "../base/clock.ts";
import type { Secret } from "../base/secret.ts";
import {
  durationText,
  folderOrBucket,
  integerBetween,
  readableText,
  secretText,
  section,
} from "./config-values.ts";
import type { ResolvedSecrets } from "./secrets.ts";

/** Where companies are shared through Postgres. The address of Postgres is a secret: it may hold a password. */
export function fleet({ folder, secrets }: { readonly folder: string; readonly secrets: ResolvedSecrets }) {
  return section({
    postgres: secretText.describe(
      "The Postgres that all share: ${env:NAME}, ${file:/path}, or (with a warning) postgres://USER:PASSWORD@HOST/DATABASE itself.",
    ),
    snapshots: folderOrBucket(folder).describe(
      "Where mirrors are while no process has them: s3://bucket/prefix, or a folder that all share.",
    ),
    reports: folderOrBucket(folder)
      .optional()
      .describe("Where reports and Parquet files are published: s3://bucket/prefix, or a folder."),
    reports_keep: durationText(hourMs, 366 * dayMs)
      .prefault("1d")
      .describe(
        "How long files stay there that newer ones have replaced: so far back all companies can be asked.",
      ),
    node: readableText("a name of letters, digits, dots, - and _, at most 100", (text) =>
      /^[\w.-]{1,100}$/.test(text) ? { value: text } : null,
    )
      .optional()
      .describe("The name of this process; by default that of the host with a random ending."),
    capacity: integerBetween(1, 10_000)
      .default(50)
      .describe("How many companies this process holds at once."),
    snapshot_every: durationText(1_000, dayMs)
      .prefault("3m")
      .describe("How often a mirror that events change is published besides the ends of runs."),
  }).transform((each, context) => {
    const found = secrets.get("fleet.postgres");
    if (!found) return z.NEVER;
    const { secret, place } = found;
    const { snapshotEvery: snapshotEveryMs, reportsKeep: reportsKeptMs, ...same } = each;
    // The text may hold a password: the problem names only what it must be.
    const message = `must be an address such as postgres://user:password@host/database; ${escapes}`;
    if (secret.known && !isPostgresUrl(secret.reveal()))
      context.addIssue({ code: "custom", path: ["postgres"], message, input: "" });
    return { ...same, postgres: { secret, place }, snapshotEveryMs, reportsKeptMs };
  });
}

const escapes = "in a password write / as %2F, # as %23, ? as %3F, @ as %40 and % as %25";

function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text) && URL.canParse(text);
}

/**
 * The passwords of an address of Postgres as they may be written in a text, and the whole address with one; empty: it
 * has none, and is no secret. A password that is also another part of the address can be guessed, and cutting it out
 * of texts would make them unreadable.
 */
export function postgresSecrets(address: Secret): readonly string[] {
  if (!address.known || !isPostgresUrl(address.reveal())) return [];
  const text = address.reveal();
  const url = new URL(text);
  const passwords = [url.password, url.searchParams.get("password") ?? ""].filter((one) => one !== "");
  const others = text.replace(/:[^:@/]*@/, "@").split(/[^\w-]/);
  const written = passwords.flatMap((one) => [one, valueOr(() => decodeURIComponent(one), one)]);
  const distinct = written.filter((one) => one.length >= shortestPassword && !others.includes(one));
  return passwords.length === 0 ? [] : [text, ...new Set(distinct)];
}

/** A shorter one would be cut out of other words. */
const shortestPassword = 6;
