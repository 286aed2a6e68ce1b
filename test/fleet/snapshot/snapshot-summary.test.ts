import { expect, test } from "vitest";
import { isoTime, systemClock } from "../../../src/base/clock.ts";
import { MirrorError } from "../../../src/base/errors.ts";
import { Secret } from "../../../src/base/secret.ts";
import { readSummary } from "../../../src/fleet/snapshot/snapshot-facts.ts";
import { recordHandOver } from "../../../src/state/as-of/hand-overs.ts";
import { readLog } from "../../../src/state/log-identity.ts";
import { Runs } from "../../../src/state/runs.ts";
import { WorkQueue } from "../../../src/state/work-queue.ts";
import type { CompanySettings } from "../../../src/store/mirror-files.ts";
import { aFleet, anOwner } from "../../support/fleet/node.ts";
import { endRun } from "../../support/mirror/state-rows.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

const startedMs = Date.now();
const hoursAgo = (hours: number) => isoTime(startedMs - hours * 3_600_000);
const work = { resource: "people", kind: "detail", lane: "hydration", reason: "new" } as const;

describeWithPostgres("the pointer to a snapshot", () => {
  test("says how the mirror stands, for those who do not have it", async () => {
    const { node, mirror, ownership } = await anOwner();
    const runs = new Runs(mirror.db);
    const run = (ago: number, outcome: string, total: number, more: object = {}) =>
      runs.finish(runs.begin("full", hoursAgo(ago), null, {}), hoursAgo(ago), outcome, {
        requests: { total },
        troubles: [],
        ...more,
      });
    run(26, "complete", 70);
    run(3, "partial", 12, { troubles: [{ resource: "people", kind: "failed", message: "503" }] });
    run(1, "failed", 3, { error: { message: "the service is away" } });
    mirror.apply(() => {
      for (const target of ["id:1", "id:2"])
        new WorkQueue(mirror.db).add({ ...work, target, dirtySeq: mirror.sequence.next() });
    });
    const pointer = await node.make(ownership);
    const message = "the last run did not finish: failed: the service is away";
    const reads = { handed_over: null, read_since: null, verified_at: null };
    expect(pointer?.facts["summary"]).toEqual({
      whole_at: expect.stringContaining(hoursAgo(3).slice(0, 13)) as string,
      // Of the config's resources, of which there is none.
      reads_waiting: 0,
      files: { stored: 0, stored_bytes: 0, pending: 0, problems: 0 },
      day_requests: 15,
      conditions: [{ kind: "failed", subject: "reading", blocks: true, message }],
      radar: { needs_someone: false, token: "accepted", webhook: "off", ...reads },
    });
    const { declaration } = mirror;
    const resources = declaration.resources.filter(({ name }) => name === "people");
    const scope = { ...node.scope, declaration, resources };
    const { reads_waiting } = readSummary(mirror.db, scope, {}, null, startedMs);
    expect(reads_waiting).toBe(2);
  });

  test("says of the radar how token, webhook, handed over months and reads stand", async () => {
    const { node, mirror } = await anOwner();
    const [sinceMs, nowMs] = [Date.parse(hoursAgo(50)), Date.now()];
    const { company } = node.scope;
    const { declaration } = mirror;
    const radarOf = (more: Partial<CompanySettings>, oldestMs: number | null = sinceMs) => {
      const scope = { ...node.scope, declaration, ...more };
      return readSummary(mirror.db, scope, {}, oldestMs, nowMs).radar;
    };
    expect(radarOf({})).toMatchObject({ token: "untried", webhook: "off", read_since: null });
    endRun(mirror.db, Date.parse(hoursAgo(40)));
    expect(radarOf({})).toMatchObject({ token: "accepted", read_since: isoTime(sinceMs) });
    expect(radarOf({ resources: mirror.declaration.resources })).toMatchObject({ read_since: null });
    expect(radarOf({}, null)).toMatchObject({ read_since: null });
    const missing = new Secret(new MirrorError("config", "the variable is not set"));
    const webhook = { ...company.webhook, secrets: [company.token] };
    const silent = { ...company, token: missing, webhook };
    expect(radarOf({ company: silent })).toMatchObject({ token: "missing", webhook: "no event yet" });
    const handOver = { log: readLog(mirror.db).id, seq: 0, at: hoursAgo(9), command: "package", files: {} };
    for (const month of ["2026-09", "2026-10"]) recordHandOver(mirror.db, { month, ...handOver });
    expect(radarOf({})).toMatchObject({ handed_over: { month: "2026-10", at: hoursAgo(9), changed: 0 } });
    const identity = { outcome: "identity", at: hoursAgo(1), message: "another company's" };
    mirror.meta.set("failed_start", identity);
    expect(radarOf({})).toMatchObject({ token: "other company's", needs_someone: true });
  });

  test("counts the requests of the last day, for events too, over all nodes that had the company", async () => {
    const fleet = await aFleet("folder");
    const [one, two] = [await fleet.node("node-1"), await fleet.node("node-2")];
    const mirror = await one.open();
    const publish = async (node: typeof one, requests: number, agoHours: number) => {
      const failed = { outcome: `failed-${requests}`, at: hoursAgo(0), message: "the service is away" };
      mirror.apply(() => mirror.meta.set("failed_start", failed));
      const clock = { ...systemClock, nowMs: () => Date.now() - agoHours * 3_600_000 };
      const ownership = await node.claim();
      const pointer = await node.make(ownership, { scope: one.scope, requests, clock });
      await fleet.expire();
      return pointer?.facts["summary"];
    };
    expect(await publish(one, 100, 30)).toMatchObject({ day_requests: 100 });
    expect(await publish(one, 20, 20)).toMatchObject({ day_requests: 120 });
    expect(await publish(two, 3, 2)).toMatchObject({ day_requests: 23 });
    expect(await publish(one, 4, 0)).toMatchObject({ day_requests: 27 });
  });

  test("shows a run that could not begin: its first failure is published, and no other one like it", async () => {
    const { node, mirror, ownership } = await anOwner();
    const failed = { outcome: "unauthenticated", at: hoursAgo(1), message: "the token is refused" };
    mirror.meta.set("failed_start", failed);
    const pointer = await node.make(ownership);
    const message = expect.stringContaining("the token is refused") as string;
    const summary = { conditions: [{ kind: "failed", message }], radar: { token: "refused" } };
    expect(pointer?.facts).toMatchObject({ failed_start: "unauthenticated", summary });
    mirror.meta.set("failed_start", { ...failed, at: hoursAgo(0) });
    expect(await node.make(ownership)).toBeNull();
  });

  test.each([
    ["unauthenticated", "refused", "the service does not take the token"],
    ["identity", "other company's", "the token is another company's"],
  ])("shows a token (%s) for which runs wait, so that none fails", async (state, token, message) => {
    const { node, mirror, ownership } = await anOwner();
    const note = { state, message: "GET /whoami: 401", since: hoursAgo(1) };
    mirror.meta.set("service", note);
    const pointer = await node.make(ownership);
    const summary = { conditions: [{ kind: "failed", message }], radar: { token, needs_someone: true } };
    expect(pointer?.facts).toMatchObject({ failed_start: state, summary });
    mirror.meta.set("service", { ...note, since: hoursAgo(0) });
    expect(await node.make(ownership)).toBeNull();
    mirror.meta.set("service", { ...note, state: "working" });
    expect((await node.make(ownership))?.facts["summary"]).toMatchObject({ conditions: [] });
  });

  test("says why a company was never read while the service is away, and of one that was read nothing", async () => {
    const { node, mirror, ownership } = await anOwner();
    mirror.meta.set("service", { state: "unavailable", message: "GET /whoami: 503", since: hoursAgo(1) });
    const message = "the service has not been reached yet: GET /whoami: 503";
    const summary = { conditions: [{ kind: "failed", message }], radar: { token: "untried" } };
    expect((await node.make(ownership))?.facts).toMatchObject({ failed_start: "unavailable", summary });
    endRun(mirror.db, Date.now());
    expect((await node.make(ownership))?.facts).toMatchObject({ summary: { conditions: [] } });
  });
});
