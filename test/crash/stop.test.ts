import { describe, expect, test } from "vitest";
import { aCompany, sync } from "../support/company/company.ts";
import { endOf, startSync, syncUntil, writeConfig } from "../support/crash/crash.ts";
import { count, expectEqual, expectHealed } from "../support/truth/equal.ts";

describe("a run that is asked to stop", () => {
  // Fault: process | SIGINT and SIGTERM in the middle of a run | a process of `sync` | it ends with 130 or 143 after a commit, and the next run continues
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)(
    "by %s ends with %i after a commit, says so, and the next run goes on",
    async (signal, code) => {
      const company = await aCompany();
      writeConfig(company);
      const ended = await syncUntil(company, { request: 40, afterMs: 1, signal });
      expect(ended.code).toBe(code);
      expect(ended.report).toMatchObject({ outcome: "interrupted" });
      expect(count(company.file, "SELECT count(*) FROM _runs WHERE outcome = 'interrupted'")).toBe(1);
      const asked = company.proxy.asked.length;
      expect(await sync(company)).toMatchObject({ outcome: "complete", resumed: true });
      const again = company.proxy.asked.slice(asked).map(({ target }) => target);
      expect(again).not.toContain("/countries");
      expectEqual(company);
    },
  );

  test("by --max-requests ends with 5 and exactly so many requests; as many such runs as it takes complete it", async () => {
    const company = await aCompany();
    writeConfig(company);
    const first = await endOf(startSync(company, ["--max-requests", "30"]));
    expect({ code: first.code, outcome: first.report?.outcome }).toEqual({ code: 5, outcome: "stopped" });
    expect(company.proxy.asked).toHaveLength(30);
    let outcome = "stopped";
    for (let run = 0; run < 8 && outcome === "stopped"; run++)
      ({ outcome } = await sync(company, { mostRequests: 30 }));
    expect(outcome).toBe("complete");
    expectEqual(company);
  });

  // Fault: network | an answer that never comes, with --max-duration 2s | a proxy, before a process of `sync` | it ends with 5; the next run completes
  test("by --max-duration ends with 5, although an answer does not come", async () => {
    const company = await aCompany();
    writeConfig(company, "http: { timeout: 2s }");
    company.proxy.obstruct(({ path }) => (path === "/invoices" ? "hang" : undefined));
    const ended = await endOf(startSync(company, ["--max-duration", "2s"]));
    expect({ code: ended.code, outcome: ended.report?.outcome }).toEqual({ code: 5, outcome: "stopped" });
    await expectHealed(company);
  });
});

describe("two syncs of one mirror", () => {
  // Fault: process | a second `sync` of the same mirror | two processes | the second one ends with 11 and asks the service nothing
  test("the second one ends with 11 and asks the service nothing; the first one completes", async () => {
    const company = await aCompany();
    writeConfig(company);
    const held = Promise.withResolvers<void>();
    const reached = new Promise<void>((resolve) =>
      company.proxy.obstruct(async ({ path }, passOn) => {
        if (path !== "/suppliers") return undefined;
        resolve();
        await held.promise;
        return passOn();
      }),
    );
    const first = endOf(startSync(company));
    await reached;
    const asked = company.proxy.asked.filter(({ path }) => path === "/whoami").length;
    const second = await endOf(startSync(company));
    expect({ code: second.code, outcome: second.report?.outcome }).toEqual({ code: 11, outcome: "locked" });
    expect(company.proxy.asked.filter(({ path }) => path === "/whoami")).toHaveLength(asked);
    held.resolve();
    expect((await first).code).toBe(0);
    expectEqual(company);
  });
});
