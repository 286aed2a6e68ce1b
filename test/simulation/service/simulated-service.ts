import { startLimiter, type Limiter } from "../../support/rate-limit/simulated-budget.ts";
import { seededChoice, type SeededChoice } from "../../support/company/scenario.ts";
import type { Oddity } from "../scenarios/scenario.ts";
import { makeOdd } from "./changes/odd-changes.ts";
import type { ChangeContext, HotTable } from "./changes/change-context.ts";
import { emptyState } from "./record-models.ts";
import {
  childPage,
  invalid,
  recordPage,
  wholeList,
  type ListAnswer,
  type ListRules,
} from "./list-answers.ts";
import { addWhereNoneIs, fillCompany, makeChange, makeHotChange } from "./people.ts";
import { SimulatedCompany } from "./simulated-company.ts";
import {
  usualService,
  type Exchange,
  type ServiceEvent,
  type ServiceOptions,
  type ServiceReply,
  type TableName,
} from "./service-types.ts";

const windowMs = 60_000;
const both = ["clients", "invoices", "business_cases", "price_list_items"] as const;
const lists: readonly TableName[] = ["units", ...both];
const details: readonly TableName[] = [...both, "document_payments", "contact_activity_logs"];
const parents = { clientId: "clients", businessCaseId: "business_cases" } as const;

const missing = { status: 404, message: "No query results for model." };

/**
 * The Fintoro service in memory and in simulated time, with a history of every record. It shares no code with the
 * engine. Requests are answered by `begin` and `answer`; people change records by `act`.
 */
export class SimulatedService {
  readonly options: Required<ServiceOptions>;
  readonly limiter: Limiter;
  readonly exchanges: Exchange[] = [];
  readonly company: SimulatedCompany;
  /** Bearer tokens that are accepted; null: all are. */
  private tokens: ReadonlySet<string> | null = null;
  private readonly choice: SeededChoice;
  private readonly bin: ChangeContext["bin"] = new Map();
  private isResting = false;
  private othersUntilMs: number;
  private count = 0;

  constructor(options: ServiceOptions) {
    this.options = { ...usualService, ...options };
    const { random, clock, limiter, limit, size } = this.options;
    this.choice = seededChoice(random);
    this.limiter = startLimiter(limiter, limit, windowMs);
    this.othersUntilMs = clock.monotonicMs();
    this.company = new SimulatedCompany(this.options, emptyState(this.options));
    this.company.touch("company");
    fillCompany(this.changeContext(true), size);
    this.company.begin();
  }

  /** Called with each event at the moment of its change. */
  onEvent(listener: (event: ServiceEvent) => void): void {
    this.company.onEvent(listener);
  }

  /** People change something, or something `on` this table, mostly its oldest record; returns what, for the trace, or null where there was nothing to change. */
  act(on: HotTable | null = null): string | null {
    if (this.isResting) throw new Error("broken promise: nobody changes a service at rest");
    const context = this.changeContext(this.choice.probability(this.options.silentShare), on !== null);
    return on === null ? makeChange(context) : makeHotChange(context, on);
  }

  /** Shows or sends what nobody expects; returns what, for the trace. */
  beOdd(what: Oddity): string {
    return makeOdd(this.changeContext(false), what);
  }

  /**
   * From now on nobody changes anything, no read lags behind, and lists answer as they should. Each resource has a record:
   * where none is left, no read can prove that a 404 is of the record and not of its route (I5).
   */
  rest(): void {
    const { malformed } = this.company;
    this.company.stopLag();
    for (const id of malformed.ids("clients")) this.company.writeMalformed("clients", id, null);
    addWhereNoneIs(this.changeContext(false));
    this.isResting = true;
  }

  /** Tokens that are accepted from now on. */
  acceptTokens(...tokens: readonly string[]): void {
    this.tokens = new Set(tokens);
  }

  /** Counts a request; the function that it returns gives the answer as of its own moment. */
  begin(route: string, query: URLSearchParams, token: string): () => ServiceReply {
    const { clock, limit, limiter } = this.options;
    const hitAtMs = clock.monotonicMs();
    const request = { route, query, hitAtMs };
    if (this.tokens && !this.tokens.has(token))
      return () => this.reply(request, failure(401, "Unauthenticated."), {});
    this.countOthers(hitAtMs);
    const isAllowed = this.limiter.hit(hitAtMs, "own");
    const remainingAtHit = this.limiter.remaining(hitAtMs);
    const retryAfterS = this.limiter.retryAfterS(hitAtMs);
    const resetS = Math.floor(clock.nowMs() / 1000) + retryAfterS;
    return () => {
      const isAtHit = limiter.reports === "at_hit";
      const remaining = isAtHit ? remainingAtHit : this.limiter.remaining(clock.monotonicMs());
      const rate = { "X-RateLimit-Limit": String(limit) };
      if (isAllowed)
        return this.reply(request, null, { ...rate, "X-RateLimit-Remaining": String(remaining) });
      return this.reply(request, failure(429, "Too Many Attempts."), {
        ...rate,
        "X-RateLimit-Remaining": "0",
        "Retry-After": String(retryAfterS),
        "X-RateLimit-Reset": String(resetS),
      });
    };
  }

  private reply(
    { route, query, hitAtMs }: { route: string; query: URLSearchParams; hitAtMs: number },
    failed: Failure | null,
    headers: Readonly<Record<string, string>>,
  ): ServiceReply {
    const requestId = `req-${this.options.key}-${++this.count}`;
    const asOfMs = this.asOfMs();
    const { status, body } = failed ?? this.read(route, query, asOfMs);
    this.exchanges.push({ requestId, route, hitAtMs, asOfMs, status });
    const own = { "Content-Type": "application/json", "X-Request-Id": requestId };
    return { status, headers: { ...own, ...headers }, body };
  }

  /** The state that an answer shows is that of this moment. */
  private asOfMs(): number {
    const nowMs = this.options.clock.monotonicMs();
    if (this.isResting || this.options.lag !== "replica" || this.choice.probability(0.5)) return nowMs;
    return nowMs - this.choice.below(this.options.lagMs);
  }

  private read(route: string, query: URLSearchParams, asOfMs: number): Failure {
    const { log } = this.company;
    if (route === "/whoami") {
      const shown = log.at("company", 1, asOfMs) ?? log.history("company", 1)[0]?.shown;
      return { status: 200, body: shown?.detail ?? "{}" };
    }
    if (route === "/contact-activity-logs") return this.asReply(this.children(query, asOfMs));
    const [, name, id] = /^\/([a-z-]+)(?:\/(\d+))?$/.exec(route) ?? [];
    const isNamed = (table: TableName) => table === name?.replaceAll("-", "_");
    const listed = lists.find(isNamed);
    if (listed && id === undefined) {
      const rows = log.live(listed, asOfMs);
      const isWhole = listed === "units" || listed === "clients";
      const odd = this.company.malformed.live(listed, asOfMs);
      return this.asReply(
        isWhole ? wholeList([...rows, ...odd]) : recordPage(listed, rows, query, this.rules(query)),
      );
    }
    const table = details.find(isNamed);
    if (!table || id === undefined) return failure(404, `The route ${route.slice(1)} could not be found.`);
    const shown = log.at(table, Number(id), asOfMs) ?? this.company.malformed.at(table, Number(id), asOfMs);
    return shown ? { status: 200, body: shown.detail } : this.asReply(missing);
  }

  private children(query: URLSearchParams, asOfMs: number): ListAnswer {
    const { log } = this.company;
    const [[param, table] = ["", null], ...others] = Object.entries(parents).filter(([name]) =>
      query.has(name),
    );
    if (!table || others.length > 0) return invalid("businessCaseId", "Exactly one parent must be present.");
    const id = Number(query.get(param));
    if (!log.at(table, id, asOfMs))
      return this.options.refusal === 404 ? missing : invalid(param, `The selected ${param} is invalid.`);
    const rows = log
      .live("contact_activity_logs", asOfMs)
      .filter(([, { keys }]) => keys["parent"] === `${table} ${id}`);
    return childPage(rows, query, this.rules(query));
  }

  private rules(query: URLSearchParams): ListRules {
    const { mostPerPage, refusesSort, shufflesTies, stuckPages, random } = this.options;
    const isStuck =
      !this.isResting && Number(query.get("page") ?? 1) > 1 && this.choice.probability(stuckPages);
    return { mostPerPage, refusesSort, shufflesTies: shufflesTies && !this.isResting, isStuck, random };
  }

  private asReply(answer: ListAnswer): Failure {
    if (typeof answer === "string") return { status: 200, body: answer };
    const { status, ...body } = answer;
    return { status, body: JSON.stringify(body) };
  }

  /** Requests of others since the last own request, at random times between; those of windows long past count nowhere. */
  private countOthers(nowMs: number): void {
    const { othersPerSecond, random } = this.options;
    if (othersPerSecond > 0) {
      const wait = () => (-Math.log(1 - random.next()) * 1000) / othersPerSecond;
      const fromMs = Math.max(this.othersUntilMs, nowMs - 2 * windowMs);
      for (let atMs = fromMs + wait(); atMs < nowMs; atMs += wait()) this.limiter.hit(atMs, "others");
    }
    this.othersUntilMs = nowMs;
  }

  private changeContext(silent: boolean, isHot = false): ChangeContext {
    const { company, choice, bin } = this;
    const { clock, deletion } = this.options;
    return { company, choice, bin, deletion, silent, isHot, nowMs: () => clock.nowMs() };
  }
}

interface Failure {
  readonly status: number;
  readonly body: string;
}

function failure(status: number, message: string): Failure {
  return { status, body: JSON.stringify({ message }) };
}
