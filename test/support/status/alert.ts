import type { Alert } from "../../../src/status/alerts/incidents.ts";

export const begunAlert: Alert = {
  id: "i1-begin",
  event: "begin",
  kind: "failed",
  subject: "reading",
  company: "acme",
  message: "the service is away",
  began_at: "2026-11-22T03:00:00.000Z",
  ended_at: null,
};
