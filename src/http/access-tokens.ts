import { createHash } from "node:crypto";
import { readJsonFile, writeFileAtomically } from "../base/files/atomic-file.ts";
import type { Clock } from "../base/clock.ts";
import { messageOf, MirrorError } from "../base/errors.ts";
import type { Lane } from "../base/lane.ts";
import { Redactor } from "../base/secret.ts";
import { Semaphore } from "../base/semaphore.ts";
import type { Log } from "../base/logger.ts";
import { ProtocolError, UnauthenticatedError, type ServiceError } from "../connector/service-errors.ts";
import { objectIn } from "../json/literal.ts";

/** Asks the service for a token with this `Authorization`; gives the body of its answer. */
type AskForToken = (authorization: string) => Promise<Buffer>;

interface AccessToken {
  readonly token: string;
  /** By the wall clock, epoch ms: another token is asked for from then on. */
  readonly renewAtMs: number;
}

/** A token is renewed so long before it ends, or after three quarters of a shorter time. */
const marginMs = 2 * 60_000;
/** Of a token that does not say when it ends. */
const usualValidMs = 10 * 60_000;

/**
 * The access tokens of one pair of client id and secret.
 *
 * Guarantee: one token at a time is used by all processes that share the file, so that none makes another's invalid. The
 * token is in that file (mode 0600) and in no log.
 * Source of truth: the service.
 * Worst outcome of a crash: a token is asked for that another process has already.
 *
 * @param credentials `id|secret`
 * @param file shared by the processes that use these credentials; null: kept in memory only
 */
export function createAccessTokens(
  credentials: string,
  file: string | null,
  clock: Pick<Clock, "nowMs">,
  log: Log,
) {
  let known: AccessToken | null = null;
  let refused: string | null = null;
  /** An event may wait for the next month's calls to ask for one: a run does not wait with it. */
  const turns = { event: new Semaphore(1), other: new Semaphore(1) };
  const redactor = new Redactor();
  /** Another one for other credentials. */
  const print = createHash("sha256").update(credentials).digest("hex");

  const stored = (): AccessToken | null => {
    const { token, renewAtMs, of } = (file !== null && readJsonFile<Record<string, unknown>>(file)) || {};
    return of === print && typeof token === "string" ? { token, renewAtMs: Number(renewAtMs) } : null;
  };
  const store = (token: AccessToken) => {
    try {
      if (file !== null) writeFileAtomically(file, JSON.stringify({ ...token, of: print }));
    } catch (error) {
      log.warn("the access token could not be stored for other processes", { error: messageOf(error) });
    }
  };
  const usable = (): AccessToken | null => {
    const nowMs = clock.nowMs();
    const isUsable = (one: AccessToken | null) => one && one.token !== refused && nowMs < one.renewAtMs;
    known = [known, stored()].find(isUsable) ?? null;
    return known;
  };
  const renew = async (ask: AskForToken): Promise<AccessToken> => {
    const basic = Buffer.from(credentials.replace("|", ":")).toString("base64");
    const askedMs = clock.nowMs();
    const token = tokenIn(await ask(`Basic ${basic}`).catch(explain), askedMs);
    known = token;
    store(token);
    return token;
  };
  const kept = ({ token }: AccessToken): string => {
    redactor.add([token]);
    return token;
  };

  return {
    /**
     * The token to use now. Calls that need another one ask for it in turn, each by itself: one that is stopped stops no other.
     * Throws what `ask` throws, and UnauthenticatedError where the service refuses the credentials.
     */
    async current(ask: AskForToken, { lane, signal }: { lane: Lane; signal: AbortSignal }): Promise<string> {
      const now = usable();
      if (now) return kept(now);
      const turn = lane === "webhook" ? turns.event : turns.other;
      using place = await turn.acquire(signal);
      if (!place) throw new MirrorError("stopped", "stopped while waiting for an access token");
      return kept(usable() ?? (await renew(ask)));
    },
    redact: (text: string) => redactor.replace(text),
    /** True: there is another one to try, which another process has stored. */
    refuse(token: string): boolean {
      refused = token;
      return usable() !== null;
    },
  };
}

export type AccessTokens = ReturnType<typeof createAccessTokens>;

function tokenIn(body: Buffer, askedMs: number): AccessToken {
  const { access_token: token, expires_in: seconds } = objectIn(body.toString());
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token))
    throw new ProtocolError("the service's answer holds no access token", { retryable: true });
  const validMs = Number(seconds) > 0 ? Number(seconds) * 1000 : usualValidMs;
  return { token, renewAtMs: askedMs + validMs - Math.min(marginMs, validMs / 4) };
}

/** 400 is what the standard answers to a wrong pair, 401 what services do. */
function explain(error: unknown): never {
  const { status } = error as Partial<ServiceError>;
  if (status !== 400 && status !== 401) throw error;
  const { requestId = null, serviceMessage = null } = error as Partial<ServiceError>;
  throw new UnauthenticatedError(`the service refused the client id or secret: ${messageOf(error)}`, {
    status,
    requestId,
    serviceMessage,
    hint: "put the id and secret that the service shows for API access into `credentials` of the company",
  });
}
