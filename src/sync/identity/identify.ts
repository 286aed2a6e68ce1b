import type { Lane } from "../../base/lane.ts";
import { resourceNamed } from "../../connector/connector-manifest.ts";
import type { ServiceAnswer } from "../../connector/transport.ts";
import { readCompanyName } from "../../extract/answers.ts";
import type { WorkKind } from "../../state/work-item.ts";
import { Meta, pinnedIdentity, type Identity } from "../../state/meta.ts";
import type { WorkerParts } from "../context/run-context.ts";
import { judgeToken, type JudgedMirror } from "./judge-token.ts";
import { fingerprintOf } from "./pinned-identity.ts";

/** A token to judge for a mirror, which is only read. */
export interface IdentifyParts extends Pick<WorkerParts, "transport" | "tally" | "token" | "random" | "log"> {
  readonly mirror: JudgedMirror;
}

/** How the company is asked for. */
export interface IdentifyOptions {
  readonly acceptIdentity: boolean;
  readonly lane: Lane;
  readonly signal: AbortSignal;
}

/** The company of the token, and what is to be stored of it. */
export interface Identified {
  readonly answer: ServiceAnswer;
  readonly identity: Identity;
  readonly changed: boolean;
}

/**
 * Finds out which company the token belongs to, before anything is written (I10). Writes nothing itself. Each
 * request is sent once: the caller tries again.
 *
 * @throws MirrorError `identity` when the mirror is of another company, `protocol` when the answer names none, and
 *   what the transport throws
 */
export async function identify(parts: IdentifyParts, options: IdentifyOptions): Promise<Identified> {
  const { mirror, token, random, log } = parts;
  const { identity: facts } = mirror.manifest;
  const resource = resourceNamed(mirror.manifest, facts.resource);
  const ask = (path: string, kind: WorkKind) => send(parts, options, path, kind);
  const path = resource.list.kind === "single" ? resource.list.path : "";
  const answer = await ask(path, "list");
  const name = readCompanyName(answer.body, { path, field: facts.nameField });
  const seen = { name, token };
  const verdict = await judgeToken(mirror, seen, async (own) => (await ask(own, "detail")).body);
  if (verdict.kind === "refused" && !options.acceptIdentity) throw verdict.error;
  const pinned = pinnedIdentity(new Meta(mirror.db));
  if (pinned && verdict.kind === "same") return { answer, identity: pinned, changed: false };
  if ("why" in verdict) log.warn(verdict.why);
  if (verdict.kind === "refused")
    log.warn(`the mirror of "${pinned?.name}" is used for "${name}" from now on (--accept-identity)`);
  const salt = pinned?.salt ?? random.uuid();
  const businessId = verdict.kind === "refused" ? null : (pinned?.businessId ?? null);
  const identity = { name, salt, fingerprint: fingerprintOf(token, salt), businessId };
  return { answer, identity, changed: true };
}

function send(
  { transport, tally }: IdentifyParts,
  { lane, signal }: IdentifyOptions,
  path: string,
  kind: WorkKind,
): Promise<ServiceAnswer> {
  const onSent = () => tally.sent(kind);
  return transport.send({ method: "GET", path, expect: "json", lane, once: true, signal, onSent });
}
