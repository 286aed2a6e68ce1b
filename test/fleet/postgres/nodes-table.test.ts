import { expect, test } from "vitest";
import { openFleet } from "../../support/fleet/fleet.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

const facts = { node: "node-1", version: "1.2.3", role: "all", held: 2, capacity: 50 };

describeWithPostgres("a node", () => {
  test("is shown with what its last heartbeat said, until it stops, or for a day", async () => {
    const { nodes, postgres } = await openFleet();
    await nodes.register(facts);
    await nodes.beat({ ...facts, held: 3 });
    const [row] = await nodes.list();
    expect(row).toMatchObject({ ...facts, held: 3, draining: false });
    await nodes.register({ ...facts, version: "1.2.4", role: "work" });
    expect(await nodes.list()).toMatchObject([{ version: "1.2.4", role: "work" }]);
    expect(Date.parse(row?.seen_at ?? "")).toBeGreaterThanOrEqual(Date.parse(row?.started_at ?? ""));
    await nodes.remove("node-1");
    expect(await nodes.list()).toEqual([]);
    await nodes.register({ ...facts, node: "lost" });
    await postgres.query("UPDATE fintoro_mirror.nodes SET seen_at = now() - interval '25 hours'");
    await nodes.register(facts);
    expect((await nodes.list()).map(({ node }) => node)).toEqual(["node-1"]);
  });
});

describeWithPostgres("the times in which deliveries were received", () => {
  test("are one span while any receiver beats, another one after a gap, and forgotten after a month", async () => {
    const { receiving, postgres } = await openFleet();
    const earlier = (seconds: number) =>
      postgres.query(`UPDATE fintoro_mirror.receiving SET started_at = started_at - interval '${seconds} s',
        seen_at = seen_at - interval '${seconds} s'`);
    await receiving.beat();
    await earlier(50);
    await receiving.beat();
    expect(await receiving.spansSince(0)).toHaveLength(1);
    await earlier(61);
    await receiving.beat();
    const [first, second] = await receiving.spansSince(0);
    expect((first?.seenMs ?? 0) - (first?.startedMs ?? 0)).toBeGreaterThanOrEqual(49_900);
    expect((second?.startedMs ?? 0) - (first?.seenMs ?? 0)).toBeGreaterThanOrEqual(60_900);
    expect(await receiving.spansSince(second?.startedMs ?? 0)).toEqual([second]);
    await earlier(31 * 86_400);
    await receiving.beat();
    expect(await receiving.spansSince(0)).toHaveLength(1);
  });
});
