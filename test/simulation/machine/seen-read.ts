import type { ServiceReply } from "../service/service-types.ts";
import type { SimulatedMachine } from "./simulated-machine.ts";

/** Lists that show whole records, and the routes of these records. */
const wholeRecords = /^\/(clients|business-cases|contact-activity-logs)(?:\/(\d+))?$/;

/** A request is sent: gives what its answer is noted in, where it is about one record. */
export function noteAsked(
  { asked, time }: SimulatedMachine,
  route: string,
): { requestId: string | null } | null {
  const [, table = "", id = ""] = /^\/([a-z-]+)\/(\d+)$/.exec(route) ?? [];
  if (id === "") return null;
  const key = `${table.replaceAll("-", "_")} ${id}`;
  const one = { sentAtMs: time.passedMs, requestId: null };
  asked.set(key, [...(asked.get(key) ?? []), one]);
  return one;
}

/** An answer came, and can be applied at once: notes it, where it is about whole records. */
export function noteRead(
  { reads, time }: SimulatedMachine,
  sender: object,
  sent: { readonly route: string; readonly sentAtMs: number },
  { status, headers, body }: ServiceReply,
): void {
  const [, name, id] = wholeRecords.exec(sent.route) ?? [];
  const requestId = headers["X-Request-Id"];
  if (name === undefined || requestId === undefined) return;
  const table = name.replaceAll("-", "_");
  const records = status === 200 ? recordsIn(body) : [];
  const ids = id !== undefined ? [id] : records.map((one) => one.id);
  const shown = new Map(ids.map((one, i) => [`${table} ${one}`, records[i] ?? null]));
  const times = { sentAtMs: sent.sentAtMs, receivedAtMs: time.passedMs };
  reads.push({ process: sender, ...times, isMissing: status === 404, requestId, shown });
}

/** A list has them in `data`. */
function recordsIn(body: string): readonly { readonly id: number }[] {
  const content = JSON.parse(body) as { readonly id: number; readonly data?: { readonly id: number }[] };
  return content.data ?? [content];
}
