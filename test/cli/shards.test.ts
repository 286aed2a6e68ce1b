import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { dayMs, systemClock } from "../../src/base/clock.ts";
import { shardOf, type ShardStatus } from "../../src/status/shards.ts";
import { runCommand, temporaryFolder } from "../support/program/cli.ts";
import { openSandbox } from "../support/sandbox/sandbox.ts";

const names = ["acme", "beta", "gamma", "delta"];

/** Several companies in one folder, and the command line over them, today or some days later. */
async function fourCompanies() {
  const sandbox = await openSandbox({ companies: names.length, records: 1 });
  const lines = names.map((name, i) => `  ${name}: { token: "\${env:T${i}}" }`);
  const config = [
    `base_url: ${sandbox.url}`,
    "data_dir: data",
    "schedule: { publish: off }",
    "resources: { include: [clients] }",
  ];
  const cwd = temporaryFolder({ "config.yaml": [...config, "companies:", ...lines, ""].join("\n") });
  const env = Object.fromEntries(sandbox.companies.map(({ token }, i) => [`T${i}`, token]));
  const run = (args: readonly string[], days = 0) => {
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + days * dayMs };
    return runCommand(args, { cwd, env, clock });
  };
  const sync = async (shard: string, days = 0) => {
    const { code, stdout } = await run(["sync", "--shard", shard, "--no-scrub", "--json"], days);
    expect(code).toBe(0);
    return Object.keys((JSON.parse(stdout) as { companies: object }).companies);
  };
  const shards = async (days = 0) => {
    const { code, stdout } = await run(["status", "--json"], days);
    return { code, shards: (JSON.parse(stdout) as { shards: readonly ShardStatus[] | null }).shards };
  };
  return { cwd, run, sync, shards };
}

const inShard = (index: number, count: number) =>
  names.filter((name) => shardOf(name, count).index === index);

test("sync --shard reads every company in exactly one of several jobs; an empty shard is complete, and plain sync reads all", async () => {
  const { run, sync, cwd } = await fourCompanies();
  const empty = [...Array(50).keys()].find((index) => inShard(index + 1, 50).length === 0) ?? 0;
  const none = await run(["sync", "--shard", `${empty + 1}/50`, "--json"]);
  expect(none).toMatchObject({ code: 0, stdout: '{"companies":{}}\n' });
  expect(none.stderr).toContain(`shard ${empty + 1}/50 has no companies: there is nothing to do`);
  expect(path.join(cwd, "data")).not.toSatisfy(existsSync);
  const read = [await sync("1/3"), await sync("2/3"), await sync("3/3")];
  expect(read).toEqual([1, 2, 3].map((index) => inShard(index, 3)));
  expect(read.flat().toSorted()).toEqual(names.toSorted());
  const { stdout } = await run(["sync", "--no-scrub", "--json"]);
  expect(Object.keys((JSON.parse(stdout) as { companies: object }).companies)).toEqual(names);
});

describe("status", () => {
  test("names a shard that never ran or whose runs have ended; the last run says how many shards there are", async () => {
    const { run, sync, shards } = await fourCompanies();
    await sync("1/3");
    await sync("3/3");
    const never = await run(["status", "--all"]);
    expect([never.code, never.stdout]).toEqual([1, expect.stringContaining("! shard 2/3: no run yet; ")]);
    expect(never.stdout).toMatch(/^shard 1\/3: read .* ago; /m);
    await sync("2/3");
    const shardNow = (i: number) => ({ shard: `${i}/3`, companies: inShard(i, 3), missing: false });
    const all = [1, 2, 3].map(shardNow);
    expect(await shards()).toMatchObject({ code: 0, shards: all });
    expect((await run(["status", "--all"])).stdout).toContain(`: ${inShard(2, 3).join(", ")}`);
    expect((await run(["status"])).stdout).not.toContain("shard");
    await sync("1/3", 3);
    await sync("3/3", 3);
    const later = await shards(3);
    expect([later.code, later.shards?.map(({ missing }) => missing)]).toEqual([1, [false, true, false]]);
    const stale = /^! shard 2\/3: no run since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ, 3d 0h ago; \d compan/m;
    expect((await run(["status"], 3)).stdout).toMatch(stale);
    expect((await run(["status", "--max-age", "5d"], 3)).code).toBe(0);
    await sync("1/1", 4);
    expect((await shards(4)).shards?.map(({ shard }) => shard)).toEqual(["1/1"]);
    await run(["sync", "--no-scrub"], 4);
    expect(await shards(4)).toMatchObject({ code: 0, shards: null });
    expect((await run(["status", "--all"], 4)).stdout).toContain("no shards: ");
  });

  test("--shard shows the companies of one, as a host with its own folder has them; --all takes no choice", async () => {
    const { run, sync } = await fourCompanies();
    await sync("2/3");
    const { code, stdout } = await run(["status", "--shard", "2/3", "--json"]);
    const { companies, shards } = JSON.parse(stdout) as { companies: object; shards: unknown };
    expect([code, Object.keys(companies), shards]).toEqual([0, inShard(2, 3), null]);
    expect((await run(["status", "--all", "--shard", "2/3"])).code).toBe(2);
  });
});
