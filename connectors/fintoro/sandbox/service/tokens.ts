import type { Company } from "../domain/company-state.ts";

/** Who sends a request, and what the token allows. */
export interface Bearer {
  readonly company: Company;
  readonly scope: "read" | "write";
}

/** The valid tokens; a revoked one stops working at once. */
export class Tokens {
  readonly #bearers = new Map<string, Bearer>();

  grant(token: string, bearer: Bearer): void {
    this.#bearers.set(token, bearer);
  }

  revoke(token: string): void {
    this.#bearers.delete(token);
  }

  /** Whose token an `Authorization` header carries; null for none or an unknown one. */
  find(authorization: string | undefined): Bearer | null {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
    return token === undefined ? null : (this.#bearers.get(token) ?? null);
  }
}
