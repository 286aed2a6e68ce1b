import { startLimiter, type Limiter } from "../../support/rate-limit/simulated-budget.ts";
import { seededChoice, type SeededChoice } from "../../support/seeded-random.ts";
import { english } from "../../../connectors/fintoro/sandbox/lookups/lookup-lists.ts";
import type { AnsweredRecord } from "../../../connectors/fintoro/sandbox/base/values.ts";
import type { SentEvent } from "../../../connectors/fintoro/sandbox/model/company.ts";
import { allRoutes } from "../../../connectors/fintoro/sandbox/resources/all-routes.ts";
import {
  answerTo,
  error,
  list,
  replyWith,
  routerOf,
  type Reply,
} from "../../../connectors/fintoro/sandbox/service/messages.ts";
import { Missing, refuse } from "../../../connectors/fintoro/sandbox/rules/rules.ts";
import type { Oddity } from "../scenarios/scenario.ts";
import { addWhereNoneIs, fillCompany, makeChange, makeHotChange, makeOdd } from "./people.ts";
import type { ChangeContext, HotTable } from "./record-changes.ts";
import { textOf, unitOf, type CompanyVersion } from "./record-texts.ts";
import { SimulatedCompany } from "./simulated-company.ts";
import { usualService } from "./service-types.ts";
import type { Exchange, ServiceOptions, ServiceReply, TableName } from "./service-types.ts";

const windowMs = 60_000;
const router = routerOf(allRoutes);

/**
 * The Fintoro service in memory and in simulated time, with a history of every record. It shares no code with the
 * engine. Requests are answered by `begin` and `answer`; people change records by `act`.
 */
export class SimulatedService {
  readonly options: Required<ServiceOptions>;
  readonly limiter: Limiter;
  readonly exchanges: Exchange[] = [];
  private readonly byRequest = new Map<string, Exchange>();
  readonly company: SimulatedCompany;
  private readonly choice: SeededChoice;
  private readonly bin: ChangeContext["bin"] = new Map();
  private isResting = false;
  private othersUntilMs: number;
  private count = 0;
  private shuffles = 0;

  constructor(options: ServiceOptions) {
    this.options = { ...usualService, ...options };
    const { random, clock, limiter, limit, size } = this.options;
    this.choice = seededChoice(random);
    this.limiter = startLimiter(limiter, limit, windowMs);
    this.othersUntilMs = clock.monotonicMs();
    this.company = new SimulatedCompany(this.options);
    fillCompany(this.changeContext(true), size);
    this.company.begin();
  }

  /** Called with each event at the moment of its change. */
  onEvent(listener: (event: SentEvent) => void): void {
    this.company.company.events.subscribe(listener);
  }

  /** People change something, or something `on` this table, mostly its oldest record; returns what, for the trace, or null where there was nothing to change. */
  act(on: HotTable | null = null): string | null {
    if (this.isResting) throw new Error("broken promise: nobody changes a service at rest");
    const context = this.changeContext(this.choice.probability(this.options.silentShare), on !== null);
    return on === null ? makeChange(context) : makeHotChange(context, on);
  }

  /** The request that had this id as its answer's; undefined where nobody answered it, and for null. */
  exchangeOf(requestId: string | null): Exchange | undefined {
    return this.byRequest.get(requestId ?? "");
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

  /** Counts a request; the function that it returns gives the answer as of its own moment. */
  begin(route: string, query: URLSearchParams): () => ServiceReply {
    const { clock, limit, limiter } = this.options;
    const hitAtMs = clock.monotonicMs();
    const request = { route, query, hitAtMs };
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
    const exchange = { requestId, route, search: String(query), hitAtMs, asOfMs, status };
    this.exchanges.push(exchange);
    this.byRequest.set(requestId, exchange);
    const own = { "Content-Type": "application/json", "X-Request-Id": requestId };
    return { status, headers: { ...own, ...headers }, body };
  }

  private asOfMs(): number {
    const nowMs = this.options.clock.monotonicMs();
    if (this.isResting || this.options.lag !== "replica" || this.choice.probability(0.5)) return nowMs;
    return nowMs - this.choice.below(this.options.lagMs);
  }

  /** What the stand-in answers of a moment, refused and written in this service's ways. */
  private read(route: string, query: URLSearchParams, asOfMs: number): Failure {
    const version = this.company.at(asOfMs);
    const [, path = "", id] = route.split("/");
    const table = path.replaceAll("-", "_") as TableName;
    const malformed = this.company.malformed.at(table, Number(id), asOfMs);
    if (malformed) return { status: 200, body: malformed.detail };
    const answer = (asked: Readonly<Record<string, string>>) => this.answerOf(route, version, asked);
    const asked = Object.fromEntries(query);
    const reply = answer(asked);
    if (reply.status === 422 && path === "contact-activity-logs" && this.options.refusal === 404)
      return failure(404, new Missing().message);
    const { data, paginator, ...record } = contentOf(reply);
    if (reply.status !== 200) return { status: reply.status, body: JSON.stringify(record) };
    if (!data) return { status: 200, body: textOf(version, table, record, "detail") };
    const shown = this.isStuck(query) ? contentOf(answer({ ...asked, page: "1" })).data : data;
    const texts = shown?.map((one) => textOf(version, table, one, "list")) ?? [];
    const odd = this.company.malformed.live(table, asOfMs).map(([, { detail }]) => detail);
    const pages = paginator ? `,"paginator":${JSON.stringify(paginator)}` : "";
    return { status: 200, body: `{"data":[${[...texts, ...odd].join(",")}]${pages}}` };
  }

  private answerOf(route: string, version: CompanyVersion, query: Readonly<Record<string, string>>): Reply {
    const { refusesSort, mostPerPage, shufflesTies } = this.options;
    const found = router("GET", route);
    if (!found) return error(404, `The route ${route.slice(1)} could not be found.`);
    if (route === "/units") return list([...version.units.keys()].map((id) => unitOf(version, id)));
    if (route !== "/contact-activity-logs" && Number(query["perPage"] ?? 1) > mostPerPage)
      return tooLarge(mostPerPage);
    const shuffle = shufflesTies && !this.isResting ? ++this.shuffles : null;
    const call = { company: version.company, language: english, id: found.id, query, shuffle };
    return answerTo(english, () => {
      if (refusesSort && query["sortBy"] !== undefined) refuse("sortBy");
      return found.handle({ ...call, input: {}, files: [] });
    });
  }

  /** Does this answer show the first page, although a later one was asked for? */
  private isStuck(query: URLSearchParams): boolean {
    const isLater = Number(query.get("page") ?? 1) > 1;
    return isLater && !this.isResting && this.choice.probability(this.options.stuckPages);
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

  private changeContext(isSilent: boolean, isHot = false): ChangeContext {
    const { company: simulated, choice, bin } = this;
    const { company } = simulated;
    const silent = { ...company.events, append: () => undefined };
    const written = isSilent ? { ...company, events: silent } : company;
    return { simulated, company: written, choice, bin, deletion: this.options.deletion, isSilent, isHot };
  }
}

interface Failure {
  readonly status: number;
  readonly body: string;
}

function failure(status: number, message: string): Failure {
  return { status, body: JSON.stringify({ message }) };
}

function tooLarge(most: number): Reply {
  const errors = { perPage: [`The per page field must not be greater than ${most}.`] };
  return replyWith({ message: "The given data was invalid.", errors }, 422);
}

/** A record, or a list with its records in `data`. */
type Content = AnsweredRecord & { readonly data?: readonly AnsweredRecord[]; readonly paginator?: object };

const contentOf = ({ body }: Reply) => JSON.parse(body.toString()) as Content;
