import type { Clock } from "../base/clock.ts";
import { settingsOf, type CompanySettings } from "../store/mirror-files.ts";
import { LoopTurns } from "../store/transient-errors.ts";
import type { Config } from "../config/config.ts";
import type { ConnectorDeclaration } from "../connector/connector-declaration.ts";
import type { CompanyStatusView } from "../status/company-view.ts";
import type { PageCompany } from "../status/page/page-facts.ts";
import type { Refusal } from "../webhook/delivery-gap/refusal-watch.ts";
import type { RefusalReason } from "../webhook/ingest/delivery.ts";
import type { Ingest } from "../webhook/ingest/ingest.ts";
import type { Companies } from "../webhook/receiver.ts";
import { companyLog, type HostContext, type HostProcess } from "./host-context.ts";
import { CompanySupervisor } from "./company-supervisor.ts";
import { watchIncidents, type AlertContext } from "./incident-watch.ts";
import { AfterRunQueue } from "./after-run-queue.ts";
import { createRunPlaces } from "../runs/run-queue.ts";
import { createKeptPages } from "../server/kept-pages.ts";

interface DaemonOptions extends HostProcess, AlertContext {
  readonly declaration: ConnectorDeclaration;
}

/** Time of reading between two turns of the event loop. */
const sliceMs = 20;
/** Views are shown again for so many times as long as reading them took. */
const shownFor = { factor: 20, shortestMs: 0, longestMs: 5_000 };

/**
 * The status of all companies for pages and alerts. Reading it blocks the only thread there is: it is read in slices,
 * once for all who ask meanwhile, and shown again for a while. No view is older than 5 s when it is given, but for the
 * time of reading.
 */
export function createRecentViews(clock: Clock, sources: () => Iterable<{ view(): CompanyStatusView }>) {
  const kept = createKeptPages<readonly CompanyStatusView[]>(clock, shownFor);
  const readAll = async () => {
    const views: CompanyStatusView[] = [];
    let sliceEndMs = clock.monotonicMs() + sliceMs;
    for (const source of Array.from(sources())) {
      views.push(source.view());
      if (clock.monotonicMs() < sliceEndMs) continue;
      await new Promise((resolve) => setImmediate(resolve));
      sliceEndMs = clock.monotonicMs() + sliceMs;
    }
    return views;
  };
  return () => kept("views", readAll);
}

/** All companies of a config in one process. No company waits for another, except for its place among the runs. */
export class Daemon implements Companies {
  config: Config;
  pageHosts: readonly string[] = [];
  /** Answers to requests that are for no company, by result. */
  readonly otherAnswers: Record<string, number> = {};
  readonly strayRefusals: Partial<Record<RefusalReason, number>> = {};
  private readonly context: HostContext;
  private readonly options: DaemonOptions;
  private readonly afterRuns = new AfterRunQueue(async (name, scope) =>
    this.supervisors.get(name)?.makeAfterRun(scope),
  );
  private readonly supervisors = new Map<string, CompanySupervisor>();
  /** What `stop` waits for: ends of companies that are no longer in the config, and of what began with `start`. */
  private readonly stopping = new Set<Promise<void>>();
  private readonly closing = new AbortController();
  recentViews: ReturnType<typeof createRecentViews>;
  private started = false;

  /** Nothing begins before `start`: until then every company is unavailable. */
  constructor(options: DaemonOptions, config: Config) {
    const { clock } = options;
    this.options = options;
    this.context = {
      ...options,
      strayRefusals: this.strayRefusals,
      afterRuns: this.afterRuns,
      runPlaces: createRunPlaces(),
      turns: new LoopTurns(() => clock.monotonicMs()),
    };
    this.config = config;
    this.recentViews = createRecentViews(clock, () => this.supervisors.values());
    this.apply(config);
  }

  start(): void {
    this.started = true;
    for (const supervisor of this.supervisors.values()) supervisor.start();
    const views = () => this.recentViews();
    this.stopping.add(watchIncidents(this.options, () => this.config, views, this.closing.signal));
  }

  find(company: string): Ingest | "unavailable" | null {
    return this.supervisors.get(company)?.ingest ?? null;
  }

  countAnswer(company: string, result: string, refusal?: Refusal): void {
    if (company !== "") return this.supervisors.get(company)?.countDelivery(result, refusal);
    const { strayRefusals } = this;
    this.otherAnswers[result] = (this.otherAnswers[result] ?? 0) + 1;
    if (refusal) strayRefusals[refusal.reason] = (strayRefusals[refusal.reason] ?? 0) + 1;
  }

  pageOf(name: string): PageCompany | null {
    return this.supervisors.get(name) ?? null;
  }

  /** Changes to this config: companies come and go, and those that stay restart where they must. */
  apply(config: Config): void {
    this.config = config;
    this.afterRuns.limit = config.serve.afterRun;
    const urls = config.companies.flatMap(({ webhook }) => webhook.publicUrl ?? []);
    this.pageHosts = [...config.serve.hosts, ...urls.map((url) => new URL(url).hostname)];
    // What was read before shows no company that came or left since.
    this.recentViews = createRecentViews(this.options.clock, () => this.supervisors.values());
    const names = new Set(config.companies.map(({ name }) => name));
    for (const [name, supervisor] of this.supervisors) if (!names.has(name)) this.remove(supervisor);
    for (const company of config.companies) {
      const settings = settingsOf(config, company, this.options.declaration);
      const supervisor = this.supervisors.get(company.name);
      if (supervisor) supervisor.change(settings);
      else this.add(settings);
    }
  }

  /** Ends every run where it can be resumed, closes every mirror and releases every lock. */
  async stop(): Promise<void> {
    this.closing.abort();
    this.stopping.add(this.afterRuns.stop());
    for (const supervisor of this.supervisors.values()) this.stopping.add(supervisor.stop());
    await Promise.all(this.stopping);
  }

  private add(settings: CompanySettings): void {
    const { name } = settings.company;
    const context = { ...this.context, log: companyLog(this.context.log, name) };
    const supervisor = new CompanySupervisor(context, settings);
    this.supervisors.set(name, supervisor);
    if (this.started) supervisor.start();
  }

  private remove(supervisor: CompanySupervisor): void {
    const log = companyLog(this.context.log, supervisor.name);
    log.info("the company is no longer in the config: what is under way ends where it can be resumed");
    this.supervisors.delete(supervisor.name);
    this.afterRuns.drop(supervisor.name);
    const ended = supervisor.stop();
    this.stopping.add(ended);
    void ended.finally(() => {
      this.stopping.delete(ended);
      log.info("the company is no longer served: its mirror is closed, its files stay");
    });
  }
}
