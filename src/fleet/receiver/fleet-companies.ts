import { MirrorError } from "../../base/errors.ts";
import { valueAt } from "../../config/yaml.ts";
import { resolveSecrets, type ResolvedSecret, type SecretSource } from "../../config/secrets.ts";
import type { DeliveryForm } from "../../connector/service-protocol.ts";
import type { ProcessContext } from "../../runs/process-context.ts";
import type { Refusal } from "../../webhook/delivery-gap/refusal-watch.ts";
import type { RefusalReason } from "../../webhook/ingest/delivery.ts";
import type { Ingest } from "../../webhook/ingest/ingest.ts";
import { createKeyring, type Keyring } from "../../webhook/keys/keyring.ts";
import type { Companies } from "../../webhook/receiver.ts";
import type { Postgres } from "../postgres/connection.ts";
import { createNodeLoops } from "../postgres/node-loops.ts";
import type { CompanyRow } from "../postgres/tables/companies-table.ts";
import { fleetTables, type FleetTables } from "../postgres/tables/fleet-tables.ts";
import { createCircuitBreaker, type CircuitBreaker } from "./circuit-breaker.ts";
import { FleetIngest, type DeliverySettings, type FleetIngestParts } from "./fleet-ingest.ts";
import { retries } from "../../retry/retry-limits.ts";

interface FleetCompaniesParts
  extends Pick<FleetIngestParts, "sendJob">, Pick<ProcessContext, "clock" | "log"> {
  readonly postgres: Postgres;
  /** How a connector's service delivers; null: the connector that a document without a name means. */
  readonly formOf: (connector: string | null) => Promise<DeliveryForm>;
  readonly secrets: SecretSource;
  readonly retiredKeys: (company: string) => string;
  readonly onSecrets: (secrets: readonly string[]) => void;
  /** Ends what goes on by itself. */
  readonly closed: AbortSignal;
}

const refreshEveryMs = 10_000;
/** Companies looked at in one turn of the event loop. */
const lookedAtOnce = 100;

/**
 * The companies of the fleet, whose deliveries every node answers.
 *
 * Guarantee: a company that joins, changes or leaves does so here within 15 s. One whose secret or connector is missing
 * on this node concerns nobody else. Until the companies were read once, deliveries are refused as "send again".
 * Source of truth: tables `companies` and `inbox`; the environment and the files of this node for secrets.
 */
export class FleetCompanies implements Companies {
  private readonly parts: FleetCompaniesParts;
  private readonly tables: FleetTables;
  private readonly breaker: CircuitBreaker;
  private readonly ofIngests: FleetIngestParts;
  private readonly known = new Map<string, FleetIngest>();
  private readonly missing = new Map<string, string>();
  /**
   * What this node received since its start: answers to deliveries, refusals by reason, and requests for no company and no
   * page by status. No company is named, because there may be a hundred thousand.
   */
  readonly counts = {
    answers: {} as Record<string, number>,
    refusals: {} as Partial<Record<RefusalReason, number>>,
    strays: {} as Record<string, number>,
  };
  private readonly forms = new Map<string | null, DeliveryForm>();
  /** Null: the companies were never read. */
  private asOfMs: number | null = null;

  constructor(parts: FleetCompaniesParts) {
    const { postgres, sendJob, clock, log, closed } = parts;
    this.parts = parts;
    this.tables = fleetTables(postgres);
    this.breaker = createCircuitBreaker(() => postgres.query("SELECT 1"), clock, log, closed);
    const openKeyring = (ingest: FleetIngest) => this.openKeyring(ingest);
    this.ofIngests = { inbox: this.tables.inbox, breaker: this.breaker, sendJob, openKeyring };
  }

  /** Of the fleet, as this node knows them; null: they were never read. */
  get count(): number | null {
    return this.asOfMs === null ? null : this.known.size;
  }

  /** Why no delivery can be answered with 204 now; null: they can. */
  get problem(): string | null {
    return this.asOfMs === null ? "the companies were not read from Postgres yet" : this.breaker.problem();
  }

  /** Companies whose deliveries this node cannot verify, by name, and why. */
  missingSecrets() {
    const all = [...this.missing].map(([company, problem]) => ({ company, problem }));
    return all.toSorted((a, b) => (a.company < b.company ? -1 : 1));
  }

  find(name: string): Ingest | "unavailable" | null {
    const isMember = this.asOfMs === null || this.missing.has(name);
    return this.known.get(name) ?? (isMember ? "unavailable" : null);
  }

  countAnswer(name: string, result: string, refusal?: Refusal): void {
    const { answers, refusals, strays } = this.counts;
    const counts = name === "" ? strays : answers;
    counts[result] = (counts[result] ?? 0) + 1;
    if (refusal) refusals[refusal.reason] = (refusals[refusal.reason] ?? 0) + 1;
  }

  /** Reads what changed, and notes that this node receives, until `closed`. Never rejects. */
  follow(): Promise<void> {
    const { clock, log, closed } = this.parts;
    const loops = createNodeLoops(clock, log, "the companies are read from Postgres again");
    const everyMs = () => (loops.problem() === null ? refreshEveryMs : retries.node.companiesMs);
    const step = async () => {
      await this.refresh();
      await this.breaker.run(() => this.tables.receiving.beat());
    };
    return loops.repeat("reading the companies from Postgres", everyMs, step, closed);
  }

  async refresh(): Promise<void> {
    const { companies, asOfMs } = await this.tables.companies.list(this.asOfMs);
    await inSlices(companies, (row) => this.take(row));
    this.asOfMs = asOfMs;
    await inSlices([...this.missing.keys()], (name) => this.lookForSecrets(name));
    await inSlices([...this.known.values()], (ingest) => ingest.openedKeyring?.refresh());
  }

  private async take(row: CompanyRow): Promise<void> {
    const { name, removed } = row;
    const known = this.known.get(name);
    if (removed) {
      this.known.delete(name);
      this.missing.delete(name);
      return;
    }
    const settings = await this.settingsOf(row).catch(whyUnknown);
    if (typeof settings === "string") {
      this.known.delete(name);
      return this.noteMissing(name, settings);
    }
    if (known?.settings.secrets === settings.secrets && known.form === settings.form) return;
    // The same object stays: deliveries that wait for its commit keep their order.
    if (known) known.change(settings);
    else this.known.set(name, new FleetIngest(name, settings, this.ofIngests));
    this.lookForSecrets(name);
  }

  private async settingsOf({ name, config }: CompanyRow): Promise<DeliverySettings> {
    const named = valueAt(config, ["connector"]);
    const connector = typeof named === "string" ? named : null;
    const form = this.forms.get(connector) ?? (await this.parts.formOf(connector));
    this.forms.set(connector, form);
    const secrets = valueAt(config, ["companies", name, "webhook", "secrets"]) ?? [];
    return { secrets: JSON.stringify(secrets), form };
  }

  private lookForSecrets(name: string): void {
    const ingest = this.known.get(name);
    // What is missing is its connector: the version of this node is older.
    if (!ingest) return;
    const problems = this.secretsOf(ingest).flatMap(({ secret }) => secret.problem ?? []);
    if (problems.length === 0) this.missing.delete(name);
    else this.noteMissing(name, problems.join("; "));
  }

  private noteMissing(name: string, problem: string): void {
    const what = "deliveries of a company cannot be verified on this node";
    if (this.missing.get(name) !== problem) this.parts.log.warn(what, { company: name, problem });
    this.missing.set(name, problem);
  }

  private secretsOf({ company, settings }: FleetIngest): ResolvedSecret[] {
    const secrets: unknown = JSON.parse(settings.secrets);
    const document = { companies: { [company]: { webhook: { secrets } } } };
    return [...resolveSecrets(document, this.parts.secrets).values()];
  }

  private openKeyring(ingest: FleetIngest): Keyring {
    const { clock, onSecrets, retiredKeys } = this.parts;
    const resolved = this.secretsOf(ingest);
    return createKeyring({
      secrets: resolved.map(({ secret }) => secret),
      places: resolved.map(({ place }) => place),
      file: retiredKeys(ingest.company),
      clock,
      onSecrets,
    });
  }
}

/** Deliveries have their turn in between. */
async function inSlices<T>(items: readonly T[], step: (item: T) => unknown): Promise<void> {
  for (const [i, item] of items.entries()) {
    if (i > 0 && i % lookedAtOnce === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    await step(item);
  }
}

/** Why this version cannot take it. Throws what may pass: all are read again then. */
function whyUnknown(error: unknown): string {
  if (error instanceof MirrorError && error.kind === "config") return error.message;
  throw error;
}
