import { hash } from "node:crypto";
import path from "node:path";
import { readPublicUrl } from "../../config/address.ts";
import { isoTime, type Clock } from "../../base/clock.ts";
import type { AlertKind } from "../../config/alert-section.ts";
import type { Config } from "../../config/config.ts";
import { rereadSecret } from "../../config/secrets.ts";
import { openPool } from "../../http/pool.ts";
import type { Secret } from "../../base/secret.ts";
import { signatureOf } from "../../webhook/ingest/delivery.ts";
import { runAlertCommand } from "./command-target.ts";
import type { Alert } from "./incidents.ts";

/** For one attempt. */
const timeLimitMs = 30_000;
const postLimitMs = 10_000;

/** Where alerts go to. */
export interface AlertTarget {
  /**
   * The program or the host, and a few digits: the same after a restart, as long as the config names the same. An
   * address itself may be a secret.
   */
  readonly key: string;
  readonly when: readonly AlertKind[];
  /** One attempt. @throws Error that says why the target has not taken it */
  readonly send: (alert: Alert, signal: AbortSignal) => Promise<void>;
}

/** What sending needs of the process. */
interface SenderContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of this program. */
  readonly version: string;
  readonly clock: Pick<Clock, "nowMs">;
  /** Gets what a file of a secret holds now, before it is used. */
  readonly onSecrets: (secrets: readonly string[]) => void;
}

type AlertConfig = Config["alerts"][number];

/** The targets of a config; entries for the same target are several. */
export function alertTargets({ alerts }: Pick<Config, "alerts">, context: SenderContext): AlertTarget[] {
  return alerts.map((entry) => {
    const { when, command } = entry;
    if (command === null) return urlTarget(entry, context);
    const { env } = context;
    const key = keyOf(path.basename(command[0] ?? ""), command, when);
    const send = (alert: Alert, signal: AbortSignal) =>
      runAlertCommand(bodyOf(alert, context), alert, { words: command, env, timeLimitMs, signal });
    return { key, when, send };
  });
}

/** Two entries for one place with different kinds are two targets. */
function keyOf(name: string, place: unknown, when: readonly AlertKind[]): string {
  return `${name} ${hash("sha256", JSON.stringify([place, when.toSorted()]), "hex").slice(0, 8)}`;
}

function urlTarget({ when, url, secret }: AlertConfig, context: SenderContext): AlertTarget {
  const text = (one: AlertConfig["url"]) => (one === null ? null : currentText(one, context));
  const place = url?.place.kind === "config" && url.secret.known ? url.secret.reveal() : url?.place;
  const known = url?.secret.known ? readPublicUrl(url.secret.reveal()) : null;
  const name = known && "value" in known ? new URL(known.value).host : "unknown address";
  const send = async (alert: Alert, signal: AbortSignal) => {
    const read = readPublicUrl(text(url) ?? "");
    if (!("value" in read)) throw new Error(`its url must ${read.must}`);
    await post(read.value, bodyOf(alert, context), { alert, secret: text(secret), signal, context });
  };
  return { when, key: keyOf(name, place, when), send };
}

/** A file is read again for each attempt. Throws why the text is not known. */
function currentText(
  { secret, place }: { readonly secret: Secret; readonly place: Parameters<typeof rereadSecret>[0] },
  { onSecrets }: SenderContext,
): string {
  const text = (rereadSecret(place, secret) ?? secret).reveal();
  if (place.kind === "file") onSecrets([text]);
  return text;
}

/** What a target gets. `text` is what chats show. */
function bodyOf(alert: Alert, { version, clock }: SenderContext): string {
  const { company, kind, event, message } = alert;
  const state = { begin: kind, end: `${kind} is over`, test: "test" }[event];
  const text = `fintoro-mirror${company === null ? "" : `, ${company}`}: ${state}: ${message}`;
  const sent_at = isoTime(clock.nowMs());
  return JSON.stringify({ ...alert, text, sent_at, program: "fintoro-mirror", version });
}

interface Post {
  readonly alert: Alert;
  /** Null: it is not signed. */
  readonly secret: string | null;
  readonly signal: AbortSignal;
  readonly context: SenderContext;
}

/**
 * One POST, signed as the service signs its deliveries, by the proxy that requests to the service take. No redirect is
 * followed; the answer's body is not read.
 */
async function post(url: string, body: string, { alert, secret, signal, context }: Post): Promise<void> {
  const limit = AbortSignal.timeout(postLimitMs);
  const headers = {
    "content-type": "application/json",
    "user-agent": `fintoro-mirror/${context.version}`,
    "webhook-id": alert.id,
    "webhook-timestamp": String(Math.floor(context.clock.nowMs() / 1000)),
    ...(secret === null ? {} : { "webhook-signature": signatureOf(body, secret).toString("hex") }),
  };
  const { origin, pathname, search } = new URL(url);
  const pool = openPool(origin, postLimitMs, 1);
  const request = { origin, path: pathname + search, method: "POST", body, headers } as const;
  try {
    const { statusCode } = await pool.request({ ...request, signal: AbortSignal.any([signal, limit]) });
    assertTaken(statusCode);
  } catch (error) {
    if (error instanceof NotTaken) throw error;
    const why = limit.aborted ? `no answer within ${postLimitMs / 1000} s` : causeOf(error);
    throw new Error(why, { cause: error });
  } finally {
    await pool.destroy();
  }
}

class NotTaken extends Error {}

function assertTaken(status: number): void {
  if (status >= 200 && status < 300) return;
  const redirected = status >= 300 && status < 400 ? ", and no redirect is followed" : "";
  throw new NotTaken(`it answered ${status}${redirected}`);
}

/** By its code: a message may hold the address. That of a refused tunnel has the proxy's status alone. */
function causeOf(error: unknown): string {
  const { code, message } = error as { code?: string; message: string };
  const cause = message.startsWith("Proxy response") ? message : (code ?? "no connection");
  return `it cannot be reached: ${cause}`;
}
