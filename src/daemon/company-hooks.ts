import type { Mirror } from "../state/mirror.ts";
import type { Span } from "../state/uptime-log.ts";
import type { RequestGuard } from "../runs/service-connection.ts";

/** What a company adds that several processes share. In `serve` there is none of it. */
export interface CompanyHooks {
  /** Besides the writer lock's file: may this process still write the company? False stays false. */
  readonly isHeld: () => boolean;
  readonly requests: RequestGuard;
  /** When deliveries were received, by whatever process. The mirror has them already when it is open. */
  readonly receivedSpans: () => readonly Span[];
  /** The mirror is open, and nothing has been done with it yet. What it throws closes the mirror. */
  readonly onOpen: (mirror: Mirror) => void;
}
