import type { Company } from "../domain/company-state.ts";

export type Scope = "read" | "write";

export interface Bearer {
  readonly company: Company;
  readonly scope: Scope;
}

/** Who may do what; a revoked token stops working at once. */
export class Tokens {
  readonly #byToken = new Map<string, Bearer>();

  grant(token: string, company: Company, scope: Scope): void {
    this.#byToken.set(token, { company, scope });
  }

  revoke(token: string): void {
    this.#byToken.delete(token);
  }

  bearer(authorization: string | undefined): Bearer | null {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
    return token === undefined ? null : (this.#byToken.get(token) ?? null);
  }
}
