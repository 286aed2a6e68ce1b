import { describe, expect, test } from "vitest";
import { silentLog } from "../../src/base/logger.ts";
import { aCompany, aMirroredCompany, sync } from "../support/company/company.ts";
import { dump, expectEqual } from "../support/truth/equal.ts";
import { jsonReply } from "../support/company/proxy.ts";
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

  // Fault: identity | the company is renamed | the sandbox | accepted and logged; its row follows (I10)
  // Fault: identity | a rotated token while the service fails | a proxy, for the documents that would prove it | the run fails without a refusal; the next one takes the token
  // Fault: identity | the token is rotated, the old one revoked | the sandbox | the new one is accepted and logged; the old one does no harm (I10)
  test("a renamed company is accepted; a rotated token is, unless the service is in trouble; both are said, and the old one does no harm", async () => {
    const company = await aMirroredCompany();
    const { control, token, readToken } = company.sandbox;
    control.rename("Nové meno, s. r. o.");
    expect((await sync(company)).outcome).toBe("complete");
    expect(company.said.join("\n")).toContain("renamed");
    const rotated = { token: readToken, attempts: 1 };
    company.suffer({ kind: "status", status: 503, match: { path: "/invoices/" } });
    expect((await sync(company, rotated)).outcome).toBe("failed");
    company.recover();
    expect((await sync(company, rotated)).outcome).toBe("complete");
    expect(company.said.join("\n")).toContain("was replaced");
    control.revoke(token);
    expect((await sync(company)).outcome).toBe("unauthenticated");
    expect((await sync(company, rotated)).outcome).toBe("complete");
    expectEqual(company);
  });
});
