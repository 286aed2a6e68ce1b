import { makeFolders } from "../../../base/files/atomic-file.ts";
import { dayMs, isoOrNull } from "../../../base/clock.ts";
import type { SecretPlace } from "../../../config/secrets.ts";
import {
  openPendingKey,
  readKey,
  readPendingKey,
  retireKeys,
  storePendingKey,
} from "../../../webhook/keys/key-files.ts";
import type { IssuedSecret } from "../../../webhook/subscriptions/subscription-client.ts";
import type { CompanyScope } from "../../mirror/company-scope.ts";
import { subscriptionLines, viewOfSubscription } from "./subscriptions.ts";

interface SecretPlan {
  readonly scope: CompanyScope;
  readonly configPath: string;
  /** The subscription delivers to this config's receiver. Otherwise the secret is only printed. */
  readonly here: boolean;
  /** Which secrets end: all of the config, or only the one in the file that is replaced. */
  readonly replaces: "all" | "stored";
  /** How long the old secrets stay accepted; null: without an end. */
  readonly keepOldMs: number | null;
}

/**
 * Asks the service for a secret with `ask`, stores it and prints it. The secrets it replaces are remembered
 * first, so that no delivery is refused in between. The new one is written to the disk before anything else,
 * and printed even when that failed.
 */
export async function receiveSecret(plan: SecretPlan, ask: () => Promise<IssuedSecret>) {
  const { context, company } = plan.scope;
  const { places } = company.webhook;
  // Where a new one belongs: the first file in the config, else its first other place.
  const place = plan.here ? (places.find(({ kind }) => kind === "file") ?? places[0] ?? null) : null;
  const file = place?.kind === "file" ? place.path : null;
  if (file !== null) finishInterrupted(plan, file);
  const oldUntil = plan.here ? retireOld(plan, file) : undefined;
  const pending = file === null ? null : openPendingKey(file);
  const issued = await ask().catch((error: unknown) => {
    pending?.discard();
    throw error;
  });
  const { secret } = issued;
  const failure = pending?.store(secret) ?? null;
  context.onSecrets([secret]);
  const subscription = viewOfSubscription(issued.subscription, plan.scope);
  const next = [nextStepText(plan, place, failure)];
  if (oldUntil === null)
    next.push("another subscription delivers here as well: the secret that was stored before stays accepted");
  else if (oldUntil !== undefined)
    next.push(`deliveries signed with the old secret are accepted until ${oldUntil}`);
  const kept = { secret, stored: failure === null ? file : null, old_accepted_until: oldUntil };
  const lines = [...subscriptionLines(company.name, subscription), `secret: ${secret}`, ...next];
  await context.print({ company: company.name, subscription, ...kept, next }, lines);
  if (failure === null) return "complete";
  const hint = `The secret stands on stdout, this once. Put it into ${file} yourself, mode 0600.`;
  context.log.error(`the secret could not be stored: ${failure}`, { hint });
  return "failed";
}

/** Stores a secret that an earlier call received and could not put into its file, after a crash for example. */
function finishInterrupted(plan: SecretPlan, file: string): void {
  const { log } = plan.scope.context;
  const left = readPendingKey(file);
  if (left === null) return;
  remember(plan, [readKey(file), left], defaultKeepOldMs);
  try {
    storePendingKey(file);
    log.warn(`a secret that was received before and not put in its place is now in ${file}`);
  } catch (error) {
    log.warn(`a secret that was received before cannot be put into ${file}`, { error });
  }
}

export const defaultKeepOldMs = dayMs;

/** Remembers the old secrets. Returns until when they are accepted, null without an end; undefined when there are none. */
function retireOld(plan: SecretPlan, file: string | null): string | null | undefined {
  const { secrets } = plan.scope.company.webhook;
  const own = plan.replaces === "all" ? secrets.filter(({ known }) => known) : [];
  const texts = [file === null ? null : readKey(file), ...own.map((secret) => secret.reveal())];
  return remember(plan, texts, plan.keepOldMs);
}

function remember(
  { scope: { context, config, files } }: SecretPlan,
  texts: readonly (string | null)[],
  keepMs: number | null,
): string | null | undefined {
  const old = [...new Set(texts.filter((text) => text !== null))];
  if (old.length === 0) return undefined;
  context.onSecrets(old);
  const nowMs = context.clock.nowMs();
  const untilMs = keepMs === null ? null : nowMs + keepMs;
  makeFolders(config.dataDir);
  retireKeys(files.secrets, old, { nowMs, untilMs });
  return isoOrNull(untilMs);
}

/** What was done with the secret, or what the reader has to do. Pure. */
function nextStepText(
  { scope: { company }, configPath, here }: SecretPlan,
  place: SecretPlace | null,
  failure: string | null,
): string {
  if (!here)
    return "it does not deliver to this config's receiver: give the secret to the one that it delivers to";
  if (place?.kind === "file") {
    if (failure === null) return `stored in ${place.path}; a running \`serve\` takes it up by itself`;
    return `put the secret into ${place.path} yourself, for nobody else to read (mode 0600)`;
  }
  if (place?.kind === "environment")
    return `set ${place.name} to the secret where \`serve\` is started, then restart it`;
  const where = `companies.${company.name}.webhook.secrets in ${configPath}`;
  if (place) return `put the secret in its place in ${where}, then reload \`serve\` (SIGHUP)`;
  const entry = "${env:FINTORO_WEBHOOK_SECRET}";
  return `add "${entry}" to ${where}, set FINTORO_WEBHOOK_SECRET to the secret where \`serve\` is started, then start it`;
}
