import { silentLog, type Log } from "../../../src/base/logger.ts";
import { dayMs, isoTime } from "../../../src/base/clock.ts";
import type { Resource } from "../../../src/connector/resource.ts";
import { NotFoundError } from "../../../src/connector/service-errors.ts";
import type { ServiceAnswer, ServiceRequest } from "../../../src/connector/transport.ts";
import { expectedRecords } from "../../../src/state/sweeps.ts";
import { WorkQueue } from "../../../src/state/work-queue.ts";
import { smallest } from "../connector/smallest-connector.ts";
import { openHasty } from "../mirror/mirror.ts";
import { answerOf, runOnce } from "../mirror/whole-run.ts";
import { seededRandom } from "../seeded-random.ts";
import { startMs } from "../mirror/store.ts";

const [, shown] = smallest.resources;
if (shown?.list.kind !== "walked")
  throw new Error("broken promise: the smallest connector walks its parcels");
const parcels: Resource = { ...shown, list: { ...shown.list, pageSize: 3 } };

const parcel = (id: number, updatedMs: number) => {
  return { id, code: `P${id}`, weight: null, updated_at: isoTime(updatedMs) };
};

const nothing = () => undefined;

interface AskedRun {
  readonly acceptIdentity?: boolean;
  readonly allowMassDelete?: boolean;
  /** For whole lists. @default no limit */
  readonly mostRequests?: number | null;
  readonly log?: Log;
}

/** A service whose lists name no total, newest id first, and a mirror of it. */
export async function openParcels(ids: readonly number[], { pageSize = 3, hasPages = true } = {}) {
  const declaration = { ...smallest, resources: smallest.resources.with(1, parcels) };
  const mirror = await openHasty({ declaration });
  let nowMs = startMs;
  let held = ids.map((id) => parcel(id, nowMs - (30 - id) * dayMs));
  const asked: string[] = [];
  /** Called after each request, with its number from 1. */
  let between: (asked: number) => unknown = nothing;
  const answer = ({ path, query = {} }: ServiceRequest): unknown => {
    if (path === "/depot") return { name: "Acme" };
    const [, id] = /^\/parcels\/(\d+)$/.exec(path) ?? [];
    if (id !== undefined) return held.find((one) => one.id === Number(id));
    const since = String(query["updated_since"] ?? "");
    const listed = held.filter((one) => one.updated_at >= since).toSorted((a, b) => b.id - a.id);
    const from = hasPages ? (Number(query["page"]) - 1) * pageSize : 0;
    return listed.slice(from, from + pageSize);
  };
  const send = async (request: ServiceRequest): Promise<ServiceAnswer> => {
    request.onSent?.();
    const since = request.query?.["updated_since"] === undefined ? "" : " since";
    if (request.path !== "/depot")
      asked.push(`${request.path} ${request.query?.["page"] ?? ""}${since}`.trim());
    const found = answer(request);
    between(asked.length);
    if (found === undefined)
      throw new NotFoundError("no such parcel", { serviceMessage: "gone", status: 404 });
    return answerOf(found);
  };
  const clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: async (ms: number) => void (nowMs += ms),
  };
  const run = async ({ mostRequests = null, log = silentLog, ...more }: AskedRun = {}) => {
    asked.length = 0;
    const [queue, random] = [new WorkQueue(mirror.db), seededRandom(1)];
    const parts = { mirror, queue, transport: { send }, clock, random, log, token: "token" };
    const wholeLists = { everyMs: 7 * dayMs, mostRequests, pagesPerDay: 1 };
    const { resources } = declaration;
    const report = await runOnce(parts, { resources, concurrency: 1, wholeLists, ...more });
    between = nothing;
    return report;
  };
  return {
    run,
    asked,
    pass: (ms: number) => void (nowMs += ms),
    /** @param agoMs of its time stamp */
    change: (id: number, agoMs = 0) => {
      held = [...held.filter((one) => one.id !== id), parcel(id, nowMs - agoMs)];
    },
    remove: (id: number) => void (held = held.filter((one) => one.id !== id)),
    whenAsked: (act: (asked: number) => unknown) => void (between = act),
    expected: () => expectedRecords(mirror.meta, parcels),
    mirror,
    resource: parcels,
    nowMs: () => nowMs,
    live: () =>
      mirror.records.liveIds("parcels", Number.MAX_SAFE_INTEGER).toSorted((a, b) => Number(a) - Number(b)),
  };
}
