import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Clock } from "../../../../src/base/clock.ts";
import type { Random } from "../../../../src/base/random.ts";
import type { Company } from "../domain/company-state.ts";
import type { ActiveFaults, FaultPlan } from "../faults/service-fault.ts";
import { error, value, type Answer } from "../http/service-answer.ts";
import { parseFiles, parseJsonBody, type Incoming } from "../http/request.ts";
import type { Language } from "../lookups/languages.ts";
import type { Call, RouteMatch, Router } from "../routes/router.ts";
import { errorMap, message } from "../rules/messages.ts";
import { Invalid, Missing } from "../rules/problems.ts";
import { emptyToNull } from "../rules/request-shape.ts";
import { limitHeaders, type Limiter } from "./limiter.ts";

/** What answers requests. */
export interface ServiceParts {
  readonly router: Router;
  /** Whose they are; a token that is removed stops working at once. */
  readonly tokens: Map<string, Bearer>;
  /** One for each company. */
  readonly limiters: readonly Limiter[];
  readonly faults: FaultPlan;
  readonly clock: Clock;
  readonly random: Random;
  /** Of answers to requests that name none. */
  readonly language: Language;
  /** From and to. */
  readonly latencyMs: readonly [number, number];
  /** Collects bugs of the sandbox itself. */
  readonly failures: unknown[];
}

/** Who sends a request, and what the token allows. */
export interface Bearer {
  readonly company: Company;
  readonly scope: "read" | "write";
}

/** One request on its way through the service. */
export interface Visit {
  readonly incoming: Incoming;
  readonly request: IncomingMessage;
  readonly language: Language;
  readonly requestId: string;
  readonly faults: ActiveFaults;
  readonly bearer: Bearer | null;
  readonly match: RouteMatch;
}

/** Decides what a request is answered: a fault's status, a refusal, or what its route gives. */
export class Responder {
  readonly #parts: ServiceParts;
  /** First answers by company and idempotency key, with what they answer. */
  readonly #kept = new Map<string, { readonly fingerprint: string; readonly answer: Answer }>();
  #shuffles = 0;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  /** The answer to a request that the limiter lets pass. */
  async answer(visit: Visit): Promise<Answer> {
    const fault = visit.faults.get("status");
    if (fault) return this.#faultAnswer(visit, fault.status, fault.retryAfterS);
    const { request, incoming, bearer, match, language } = visit;
    if (!("route" in match)) return routeRefusal(incoming, match.allowed);
    if (!bearer) return error(401, "Unauthenticated.");
    const { route, id } = match;
    if (route.scope === "write" && bearer.scope === "read") return error(403, "This action is unauthorized.");
    const files = await parseFiles(incoming.body, request.headers["content-type"] ?? "");
    const input = files ? {} : emptyToNull(parseJsonBody(incoming.body));
    const shuffle = visit.faults.has("shuffled_ties") ? ++this.#shuffles : null;
    const { company } = bearer;
    const call = { company, language, id, query: incoming.query, input, files: files ?? [], shuffle };
    const handle = () => this.#guarded(call, route.handle);
    const key = request.headers["idempotency-key"];
    if (!route.idempotent || typeof key !== "string" || key === "") return handle();
    return this.#once(key, `${route.method} ${incoming.fullPath}`, call, handle);
  }

  /** A status that a fault demands. */
  #faultAnswer({ bearer }: Visit, status: number, retryAfterS: number | null | undefined): Answer {
    const answer = error(status, statusTexts[status] ?? "Server Error");
    if (status !== 429) return answer;
    const { limiters, clock } = this.#parts;
    const limit = limiters[bearer?.company.index ?? 0]?.limit ?? 0;
    const headers = limitHeaders(limit, clock.nowMs(), retryAfterS === undefined ? 1 : retryAfterS);
    return { ...answer, headers };
  }

  /** The same request under the same key gets the first answer again, another one a refusal. */
  #once(key: string, target: string, { company, input }: Call, handle: () => Answer): Answer {
    const name = `${company.index}/${key}`;
    const fingerprint = createHash("sha256")
      .update(`${target} ${JSON.stringify(input)}`)
      .digest("hex");
    const known = this.#kept.get(name);
    if (known && known.fingerprint !== fingerprint)
      return value({ error: "Idempotency-Key reused with different request payload" }, 422);
    const answer = known?.answer ?? handle();
    if (!known && answer.status < 300) this.#kept.set(name, { fingerprint, answer });
    const status = known ? "Repeated" : "Original";
    return {
      ...answer,
      headers: { ...answer.headers, "Idempotency-Key": key, "Idempotency-Status": status },
    };
  }

  /** Turns what a route throws into the service's answer. */
  #guarded(call: Call, handle: (call: Call) => Answer): Answer {
    try {
      return handle(call);
    } catch (cause) {
      if (cause instanceof Missing) return error(404, cause.message);
      if (cause instanceof Invalid) {
        const { code } = call.language;
        return value({ message: message("given", code), errors: errorMap(cause.problems, code) }, 422);
      }
      this.#parts.failures.push(cause);
      return error(500, "Server Error");
    }
  }
}

/** 405 where the path has other methods, else 404. */
function routeRefusal({ fullPath, method }: Incoming, allowed: readonly string[]): Answer {
  const shown = fullPath.slice(1);
  if (allowed.length === 0) return error(404, `The route ${shown} could not be found.`);
  const methods = allowed.join(", ");
  const text = `The ${method} method is not supported for route ${shown}. Supported methods: ${methods}.`;
  return { ...error(405, text), headers: { Allow: methods } };
}

const statusTexts: Readonly<Record<number, string>> = {
  401: "Unauthenticated.",
  403: "This action is unauthorized.",
  404: "No query results for model.",
  422: "The given data was invalid.",
  429: "Too Many Attempts.",
  500: "Server Error",
  503: "Service Unavailable",
};
