import { pinnedIdentity, type Meta } from "../../state/meta.ts";
import { whileOwned, type Lease } from "../ownership/ownership.ts";
import { accountOf, type CompaniesTable } from "../postgres/tables/companies-table.ts";

export interface NotedAccountParts {
  readonly lease: Lease;
  readonly companies: Pick<CompaniesTable, "setAccount">;
  /** As Postgres knew it when the company was claimed; null: it did not. */
  readonly account: string | null;
  /** Of the opened mirror; null: none is open. */
  readonly meta: () => Meta | null;
  readonly baseUrl: () => string;
  /** Another company of the account is owned now. */
  readonly onRival: (company: string) => void;
}

/**
 * Notes in Postgres which company of the service a company of the fleet is, once the service has said it.
 *
 * Guarantee: where it is noted, no other company of the same account is owned.
 * Source of truth: table `companies`.
 * Worst outcome of a crash: the next owner notes it.
 */
export class NotedAccount {
  /** Another company of the account was owned when this one was to be noted. */
  hasRival = false;
  private readonly parts: NotedAccountParts;
  private account: string | null;
  private noting: Promise<boolean> | null = null;

  constructor(parts: NotedAccountParts) {
    this.parts = parts;
    this.account = parts.account;
  }

  /**
   * Is it noted, as far as the service has said it? One statement at a time, for all who ask. False also while Postgres
   * is away.
   */
  isNoted(): Promise<boolean> {
    return (this.noting ??= this.note().finally(() => (this.noting = null)));
  }

  private async note(): Promise<boolean> {
    const { lease, companies, meta, baseUrl, onRival } = this.parts;
    const opened = meta();
    const pinned = opened && pinnedIdentity(opened);
    if (!pinned) return true;
    const account = accountOf(baseUrl(), pinned.name);
    if (account === this.account) return true;
    const rival = await whileOwned(lease, () => companies.setAccount(lease, account));
    if (rival === undefined) return false;
    if (rival === null) this.account = account;
    else {
      this.hasRival = true;
      onRival(rival);
    }
    return rival === null;
  }
}
