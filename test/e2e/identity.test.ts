import { describe, expect, test } from "vitest";
import { silentLog } from "../../src/base/logger.ts";
import { aCompany, aMirroredCompany, sync } from "../support/company/company.ts";
import { dump, expectEqual } from "../support/truth/equal.ts";
import { jsonReply } from "../support/company/proxy.ts";
import { eventOf, inboxOf, startWorker, until } from "../support/mirror/event-worker.ts";
import { transportTo, type Company, type SyncOptions } from "../support/company/open-company.ts";

/** Runs with the token of a company in another sandbox, which stands for a sandbox company beside production. */
function asTwin(twin: Company): SyncOptions {
  const { token } = twin.sandbox;
  return { token, wrap: () => transportTo(twin, { token }, silentLog) };
}

/** The business id that the company's first invoice shows. */
function businessIdIn({ sandbox }: Company): unknown {
  const [invoice] = sandbox.control.snapshot().get("invoices")?.values() ?? [];
  return (invoice?.["company"] as { readonly subjectId?: unknown } | undefined)?.subjectId;
}

describe("whose mirror it is (I10)", () => {
  // Fault: identity | a token of another company | the config's token, over a filled mirror | refused before anything is written (I10)
  test("a token of another company is refused before anything is written", async () => {
    const company = await aMirroredCompany({ companies: 2, records: 5 });
    const before = dump(company.file, []);
    const other = company.sandbox.companies[1]?.token ?? "";
    const report = await sync(company, { token: other });
    expect(report).toMatchObject({
      outcome: "identity",
      error: { kind: "identity", hint: expect.stringContaining("--accept-identity") },
    });
    expect(dump(company.file, [])).toEqual(before);
    expect(company.proxy.asked.at(-1)?.path).toBe("/whoami");
    expect((await sync(company)).outcome).toBe("complete");
    expectEqual(company);
  });

  // Fault: identity | a sandbox company's token: the same name, business id and ids | the config's token, over a filled mirror | refused, and nothing is written (I10)
  test("a sandbox company with the same name, business id and ids is refused, and nothing is written", async () => {
    const company = await aMirroredCompany();
    const before = dump(company.file, []);
    const twin = await aCompany({ seed: 2 });
    const { name } = company.sandbox.companies[0] ?? {};
    expect(twin.sandbox.companies[0]?.name).toBe(name);
    expect(businessIdIn(twin)).toBe(businessIdIn(company));
    const report = await sync(company, asTwin(twin));
    expect(report).toMatchObject({ outcome: "identity", requests: { total: 4, list: 1, detail: 3 } });
    expect(report.error?.message).toMatch(
      /invoice \d+ \(uuid ".+"\) (has uuid ".+" at the service|answers 404)/,
    );
    expect(dump(company.file, [])).toEqual(before);
    expect(twin.proxy.asked.map(({ path }) => path.split("/")[1])).toEqual([
      "whoami",
      "invoices",
      "credit-notes",
      "proformas",
    ]);
    expect((await sync(company)).outcome).toBe("complete");
    expectEqual(company);
  });

  // Fault: identity | a rotated token while the service fails | a proxy, for the documents that would prove it | the run fails without a refusal; the next one takes the token
  test("a service in trouble refuses no rotated token: the run fails, and the next one takes it", async () => {
    const company = await aMirroredCompany();
    const rotated = { token: company.sandbox.readToken, attempts: 1 };
    company.suffer({ kind: "status", status: 503, match: { path: "/invoices/" } });
    expect((await sync(company, rotated)).outcome).toBe("failed");
    company.recover();
    expect((await sync(company, rotated)).outcome).toBe("complete");
    expectEqual(company);
  });

  // Fault: identity | /whoami answers without a name: nothing, null, a number, a list | a proxy, over a filled mirror | the run fails, and nothing but that is written (I10)
  test("an answer of /whoami that names no company fails the run, and nothing but that is written", async () => {
    const company = await aMirroredCompany({ records: 5 });
    const before = dump(company.file, []);
    for (const body of ["{}", '{"name":null}', '{"name":""}', '{"data":[]}', '{"name":5}', "[]"]) {
      const remove = company.proxy.obstruct(({ path }) =>
        path === "/whoami" ? { ...jsonReply(200, {}), body: Buffer.from(body) } : undefined,
      );
      expect(await sync(company)).toMatchObject({ outcome: "failed", error: { kind: "protocol" } });
      remove();
    }
    const after = dump(company.file, []);
    const others = after["_meta"]?.filter((line) => !line.startsWith('["failed_start"'));
    expect(after["_meta"]).toHaveLength((others?.length ?? 0) + 1);
    expect({ ...after, _meta: others }).toEqual(before);
    expect((await sync(company)).outcome).toBe("complete");
  });

  test("with --accept-identity the mirror takes the other company over, record by record", async () => {
    const company = await aMirroredCompany({ companies: 2, records: 5 });
    const token = company.sandbox.companies[1]?.token ?? "";
    const taken = await sync(company, { token, acceptIdentity: true, allowMassDelete: true });
    expect(taken.error).toBeUndefined();
    expect((await sync(company, { token, full: true, allowMassDelete: true })).outcome).toBe("complete");
    expectEqual(company, { of: 1 });
  });

  // Fault: identity | the company is renamed | the sandbox | accepted and logged; its row follows (I10)
  test("a renamed company is accepted, said, and its row follows", async () => {
    const company = await aMirroredCompany();
    company.sandbox.control.rename("Nové meno, s. r. o.");
    expect((await sync(company)).outcome).toBe("complete");
    expect(company.said.join("\n")).toContain("renamed");
    expectEqual(company);
  });

  // Fault: identity | the token is rotated, the old one revoked | the sandbox | the new one is accepted and logged; the old one does no harm (I10)
  test("a rotated token is accepted and said; the old one, revoked, is refused without harm", async () => {
    const company = await aMirroredCompany();
    const rotated = { token: company.sandbox.readToken };
    expect((await sync(company, rotated)).outcome).toBe("complete");
    expect(company.said.join("\n")).toContain("was replaced");
    company.sandbox.control.revoke(company.sandbox.token);
    expect((await sync(company)).outcome).toBe("unauthenticated");
    expect((await sync(company, rotated)).outcome).toBe("complete");
    expectEqual(company);
  });
});

describe("whose events are read (I10)", () => {
  // Fault: identity | the daemon's token is another company's | the event worker's token | it reads nothing; a rotated token is taken (I10)
  test("the event worker refuses a sandbox company's token and reads nothing; a rotated one is taken", async () => {
    const company = await aMirroredCompany();
    const twin = await aCompany({ seed: 2 });
    const [id = 0] = company.sandbox.control.snapshot().get("clients")?.keys() ?? [];
    company.sandbox.control.alter("clients", id, { name: "Nový" });
    const refused = await startWorker(company, { ...asTwin(twin), attempts: 1 });
    refused.deliver(eventOf("clients.updated", id));
    await until(() => refused.eventWorker.state().state === "identity");
    expect(twin.proxy.asked).toHaveLength(4);
    expect(inboxOf(refused.mirror)).toEqual(["clients.updated waiting"]);
    await refused.stop();
    const rotated = await startWorker(company, { token: company.sandbox.readToken });
    await rotated.rest();
    expect(company.said.join("\n")).toContain("was replaced");
    expectEqual(company, { tables: ["clients"] });
  });
});
