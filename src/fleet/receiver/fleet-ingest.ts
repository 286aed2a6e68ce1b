import type { DeliveryForm } from "../../connector/service-protocol.ts";
import type { Delivery } from "../../state/inbox/inbox.ts";
import type { Ingest, ReceivedResult } from "../../webhook/ingest/ingest.ts";
import type { Keyring } from "../../webhook/keys/keyring.ts";
import type { Sql } from "../postgres/connection.ts";
import type { InboxTable } from "../postgres/tables/inbox-table.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";

export interface FleetIngestParts {
  readonly inbox: Pick<InboxTable, "add" | "has">;
  readonly breaker: Pick<CircuitBreaker, "run">;
  /** Has somebody look at the company; in the transaction of the deliveries. */
  readonly sendJob: (sql: Sql, company: string) => Promise<void>;
  /** Called with the first delivery, and again after a change of the settings. */
  readonly openKeyring: (ingest: FleetIngest) => Keyring;
}

export interface DeliverySettings {
  /** JSON of `webhook.secrets`: references, which each node resolves by itself. */
  readonly secrets: string;
  readonly form: DeliveryForm;
}

/**
 * Stores deliveries of one company in the fleet's inbox.
 *
 * Guarantee: when `store` resolves, the deliveries and the job that announces them are committed in one transaction (I6).
 * A duplicate changes nothing (I7). Every signed delivery is kept (I12).
 * Source of truth: table `inbox` in Postgres.
 * Worst outcome of a crash: deliveries not yet answered are sent again by the service.
 */
export class FleetIngest implements Ingest {
  readonly company: string;
  settings: DeliverySettings;
  /** Null: no delivery has come yet. */
  openedKeyring: Keyring | null = null;
  private readonly parts: FleetIngestParts;

  constructor(company: string, settings: DeliverySettings, parts: FleetIngestParts) {
    this.company = company;
    this.settings = settings;
    this.parts = parts;
  }

  get form(): DeliveryForm {
    return this.settings.form;
  }

  get keyring(): Keyring {
    return (this.openedKeyring ??= this.parts.openKeyring(this));
  }

  change(settings: DeliverySettings): void {
    if (settings.secrets !== this.settings.secrets) this.openedKeyring = null;
    this.settings = settings;
  }

  has(eventId: string): Promise<boolean> {
    const { breaker, inbox } = this.parts;
    return breaker.run(() => inbox.has(this.company, eventId));
  }

  async store(deliveries: readonly Delivery[]): Promise<readonly ReceivedResult[]> {
    const { breaker, inbox, sendJob } = this.parts;
    // Text was decoded from valid UTF-8: these are the bytes that were signed.
    const rows = deliveries.map(({ eventId, body }) => ({ eventId, body: Buffer.from(body) }));
    const job = (sql: Sql) => sendJob(sql, this.company);
    const added = new Set(await breaker.run(() => inbox.add(this.company, rows, job)));
    // The first of several copies is the one that was stored.
    return deliveries.map(({ eventId, type }) => {
      return { eventId, type, outcome: added.delete(eventId) ? "stored" : "duplicate" };
    });
  }
}
