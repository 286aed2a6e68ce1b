import type { SimulatedService } from "../service/simulated-service.ts";

/** The tokens that processes ask with, and the services of the companies that these belong to. */
export class CompanyTokens {
  /** Of the company that is mirrored. */
  own: string;
  private readonly company: SimulatedService;
  private readonly services = new Map<string, SimulatedService>();

  constructor(company: SimulatedService) {
    this.company = company;
    this.own = this.add(company);
  }

  replace(): void {
    this.own = this.add(this.company);
  }

  add(service: SimulatedService): string {
    const token = `${17 + this.services.size}|Qv${this.services.size}kXz2pLm9TwRb4Hn6Jd8Fs3Gy5`;
    this.services.set(token, service);
    return token;
  }

  serviceOf(token: string): SimulatedService {
    const service = this.services.get(token);
    if (!service) throw new Error("a request without a token of the simulation");
    return service;
  }

  /** What must stand nowhere: of each token the beginning of its secret part, so that half a token is found, too. */
  get secrets(): string[] {
    return [...this.services.keys()].map((token) => token.slice(token.indexOf("|") + 1).slice(0, 8));
  }
}
