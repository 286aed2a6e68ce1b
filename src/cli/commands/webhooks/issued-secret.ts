import { mkdirSync } from "node:fs";
import { isoTime } from "../../../base/clock.ts";
import type { CompanyConfig, Config } from "../../../config/config.ts";
import { mirrorFiles } from "../../../config/mirror-files.ts";
import {
  openPendingKey,
  readKey,
  readPendingKey,
  retireKeys,
  storePendingKey,
  type PendingKey,
} from "../../../webhook/keys/key-files.ts";
import type { IssuedSecret } from "../../../webhook/subscriptions/subscription-client.ts";
import type { CommandContext } from "../../program/command.ts";
import type { Ending } from "../../program/exit-code.ts";
import { nextStep, oldSecretText, placeFor } from "./secret-text.ts";
import { subscriptionLines, viewOf } from "./subscription-text.ts";

/** What is known before the service is asked for a secret. */
export interface SecretPlan {
  readonly context: CommandContext;
  readonly config: Config;
  readonly configPath: string;
  readonly company: CompanyConfig;
  /** It is for this config's receiver. Otherwise it is shown and nothing else. */
  readonly here: boolean;
  /** Do the config's own secrets go out of use, too, or only what the new one takes the place of? */
  readonly replaces: "all" | "stored";
  /** How long the old ones stay accepted; null: without an end. */
  readonly keepOldMs: number | null;
}

/**
 * Asks for a secret and keeps it. What it replaces is remembered before, so that no delivery is refused in
 * between; the answer is written to the disk before anything else, and shown whatever became of that.
 */
export async function receiveSecret(plan: SecretPlan, ask: () => Promise<IssuedSecret>): Promise<Ending> {
  const place = plan.here ? placeFor(plan.company) : null;
  const file = place?.kind === "file" ? place.path : null;
  if (file !== null) finishInterrupted(plan, file);
  const oldUntil = plan.here ? retireOld(plan, file) : undefined;
  const pending = file === null ? null : openPendingKey(file);
  const issued = await asking(ask, pending);
  const failure = pending?.store(issued.secret) ?? null;
  plan.context.keepSecret([issued.secret]);
  await show(plan, issued, { stored: failure === null ? file : null, failure, oldUntil });
  if (failure === null) return "complete";
  const hint = `The secret stands on stdout, this once. Put it into ${file} yourself, mode 0600.`;
  plan.context.log.error(`the secret could not be stored: ${failure}`, { hint });
  return "failed";
}

async function asking(ask: () => Promise<IssuedSecret>, pending: PendingKey | null): Promise<IssuedSecret> {
  try {
    return await ask();
  } catch (error) {
    pending?.discard();
    throw error;
  }
}

/** The last answer did not get to its file: a crash came between, or it could not be moved there. */
function finishInterrupted(plan: SecretPlan, file: string): void {
  const left = readPendingKey(file);
  if (left === null) return;
  remember(plan, [readKey(file), left], defaultKeepOldMs);
  try {
    storePendingKey(file);
    plan.context.log.warn(`a secret that was received before and not put in its place is now in ${file}`);
  } catch (error) {
    plan.context.log.warn(`a secret that was received before cannot be put into ${file}`, { error });
  }
}

export const defaultKeepOldMs = 86_400_000;

/** Until when the old ones are accepted; undefined: there were none. */
function retireOld(plan: SecretPlan, file: string | null): string | null | undefined {
  const { secrets } = plan.company.webhook;
  const own = plan.replaces === "all" ? secrets.filter((secret) => secret.known) : [];
  return remember(
    plan,
    [file === null ? null : readKey(file), ...own.map((secret) => secret.reveal())],
    plan.keepOldMs,
  );
}

function remember(
  { context, config, company }: SecretPlan,
  texts: readonly (string | null)[],
  keepMs: number | null,
): string | null | undefined {
  const old = [...new Set(texts.filter((text) => text !== null))];
  if (old.length === 0) return undefined;
  context.keepSecret(old);
  const nowMs = context.clock.nowMs();
  const untilMs = keepMs === null ? null : nowMs + keepMs;
  mkdirSync(config.dataDir, { recursive: true });
  retireKeys(mirrorFiles(config, company.name).secrets, old, { nowMs, untilMs });
  return untilMs === null ? null : isoTime(untilMs);
}

interface Kept {
  readonly stored: string | null;
  readonly failure: string | null;
  readonly oldUntil: string | null | undefined;
}

async function show(plan: SecretPlan, issued: IssuedSecret, kept: Kept): Promise<void> {
  const { context, company, configPath, here } = plan;
  const { output, globals, connectors } = context;
  const view = viewOf(issued.subscription, company, connectors[0].manifest.events);
  const facts = { company: company.name, configPath, here, place: placeFor(company), failure: kept.failure };
  const old = kept.oldUntil === undefined ? [] : [oldSecretText(kept.oldUntil)];
  const next = [nextStep(facts), ...old];
  if (globals.json) {
    const { secret } = issued;
    const until = kept.oldUntil === undefined ? {} : { old_accepted_until: kept.oldUntil };
    await output.json({
      company: company.name,
      subscription: view,
      secret,
      stored: kept.stored,
      ...until,
      next,
    });
    return;
  }
  for (const line of subscriptionLines(company.name, view)) await output.line(line);
  await output.line(`secret: ${issued.secret}`);
  for (const line of next) await output.line(line);
}
