import type { SeenRead } from "../checks/observation.ts";
import type { ServiceReply } from "../service/service-types.ts";
import type { SimulatedMachine } from "./simulated-machine.ts";

/** Lists that show whole records, and the routes of these records. */
const wholeRecords = /^\/(clients|business-cases|contact-activity-logs)(?:\/(\d+))?$/;

/** A read of whole records as a process received it; null: of others, or one that shows nothing. */
function seenRead(
  route: string,
  { status, headers, body }: ServiceReply,
  times: Omit<SeenRead, "requestId" | "shown">,
): SeenRead | null {
  const [, name, id] = wholeRecords.exec(route) ?? [];
  const requestId = headers["X-Request-Id"];
  if (name === undefined || requestId === undefined) return null;
  const table = name.replaceAll("-", "_");
  const ids = id !== undefined ? [id] : idsIn(status, body);
  return { ...times, requestId, shown: new Set(ids.map((one) => `${table} ${one}`)) };
}

function idsIn(status: number, body: string): readonly string[] {
  if (status !== 200) return [];
  const { data } = JSON.parse(body) as { readonly data: readonly { readonly id: number }[] };
  return data.map(({ id }) => String(id));
}

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

/** An answer came, and can be applied at once. */
export function noteRead(
  { reads, time }: SimulatedMachine,
  answer: {
    readonly route: string;
    readonly reply: ServiceReply;
    readonly sentAtMs: number;
    readonly sender: object;
  },
): void {
  const { route, reply, sentAtMs, sender } = answer;
  const times = { process: sender, sentAtMs, receivedAtMs: time.passedMs };
  const read = seenRead(route, reply, { ...times, isMissing: reply.status === 404 });
  if (read) reads.push(read);
}
