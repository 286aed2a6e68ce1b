import type { SeenRead } from "../checks/observation.ts";
import type { ServiceReply } from "../service/service-types.ts";

/** Lists that show whole records, and the routes of these records. */
const wholeRecords = /^\/(clients|business-cases|contact-activity-logs)(?:\/(\d+))?$/;

/** A read of whole records as a process received it; null: of others, or one that shows nothing. */
export function seenRead(
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
