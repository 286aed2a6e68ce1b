import { describe, expect, test } from "vitest";
import { endOf } from "../../support/program/cli.ts";
import { aCompany, type Company } from "../../support/company/company.ts";
import { expectEqual } from "../../support/truth/equal.ts";
import {
  inMirror,
  outcomeIn,
  serve,
  startIn,
  wholeRuns,
  writeServeConfig,
} from "../../support/program/serve.ts";
import { eventually } from "../../support/eventually.ts";

function openOrders(company: Company): number {
  const noted = inMirror(company, "SELECT json_array_length(value) FROM _meta WHERE key = 'orders'");
  return Number(noted ?? 0);
}

/** Lists of clients are not answered until they are let go. */
function holdBack(company: Company): () => void {
  const held = Promise.withResolvers<undefined>();
  company.proxy.obstruct((asked) => (asked.path === "/clients" ? held.promise : undefined));
  return () => held.resolve(undefined);
}

/** A daemon that has made the mirror and has nothing to do. */
async function restingDaemon(company: Company, more = "") {
  writeServeConfig(company, `schedule: { sync: off, publish: off }\n${more}`);
  const daemon = await serve(company);
  await eventually(() => wholeRuns(company) === 1, "a first whole run");
  return daemon;
}

describe("sync beside the daemon", () => {
  test("gives its run to the daemon, follows it, and ends as if it had made it", async () => {
    const company = await aCompany({ records: 5 });
    const daemon = await restingDaemon(company);
    const ended = await endOf(startIn(company, ["sync", "--full", "--json", "clients", "company"]));
    expect(ended.code).toBe(0);
    expect(outcomeIn(ended)).toBe("complete");
    const { companies } = JSON.parse(ended.stdout) as { companies: { acme: { resources: object } } };
    expect(Object.keys(companies.acme.resources).toSorted()).toEqual(["clients", "company"]);
    expect(ended.stderr).toContain("following it");
    expect(inMirror(company, "SELECT mode FROM _runs ORDER BY id DESC LIMIT 1")).toBe("full");
    expect(inMirror(company, "SELECT pid FROM _runs ORDER BY id DESC LIMIT 1")).toBe(daemon.child.pid);
    const [limited, dry] = await Promise.all([
      endOf(startIn(company, ["sync", "--max-requests", "3", "--json"])),
      endOf(startIn(company, ["sync", "--dry-run"])),
    ]);
    expect(limited.code).toBe(5);
    expect(outcomeIn(limited)).toBe("stopped");
    expect(dry.code).toBe(0);
    await eventually(() => openOrders(company) === 0, "no order");
    await daemon.end("SIGTERM");
  });

  test("one that waits behind another gives up when its time is over; Ctrl-C ends the following only", async () => {
    const company = await aCompany({ records: 5 });
    const daemon = await restingDaemon(company);
    const release = holdBack(company);
    const child = startIn(company, ["sync", "--json"]);
    const following = endOf(child);
    await eventually(() => openOrders(company) === 1, "an order");
    const impatient = await endOf(startIn(company, ["sync", "--max-duration", "8s", "--json"]));
    expect(impatient.code).toBe(5);
    expect(outcomeIn(impatient)).toBe("stopped");
    expect(impatient.stderr).toContain("busy with another run");
    await eventually(() => openOrders(company) === 1, "an order");
    child.kill("SIGINT");
    const { code, stderr } = await following;
    expect(code).toBe(130);
    expect(stderr).toContain("the daemon continues");
    release();
    await eventually(() => wholeRuns(company) === 2, "the run that nobody follows");
    await daemon.end("SIGTERM");
  });

  // Fault: process | kill -9 of the daemon while a `sync` follows its run | a process of `serve` | the follower makes the run itself
  test("a daemon that is killed in the middle leaves the run to the follower", async () => {
    const company = await aCompany({ records: 5 });
    const daemon = await restingDaemon(company);
    company.sandbox.control.create("clients", { name: "New one" });
    const release = holdBack(company);
    const child = startIn(company, ["sync", "--json"]);
    const following = endOf(child);
    await eventually(
      () => inMirror(company, "SELECT count(*) FROM _runs WHERE outcome IS NULL") === 1,
      "a run under way",
    );
    await daemon.end("SIGKILL");
    release();
    const ended = await following;
    expect(ended.stderr).toContain("the daemon is gone");
    expect(ended.code).toBe(0);
    expect(outcomeIn(ended)).toBe("complete");
    expectEqual(company);
  });
});
