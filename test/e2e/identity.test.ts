import { describe, expect, test } from "vitest";
import { aCompany, sync } from "../support/company.ts";
import { dump, expectEqual } from "../support/equal.ts";

describe("whose mirror it is (I10)", () => {
  test("a token of another company is refused before anything is written", async () => {
    const company = await aCompany({ companies: 2 });
    await sync(company);
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

  test("a company of the same name with another business id is refused as well", async () => {
    const company = await aCompany({ companies: 2 });
    await sync(company);
    company.sandbox.control.rename(company.sandbox.companies[0]?.name ?? "", 1);
    const report = await sync(company, { token: company.sandbox.companies[1]?.token ?? "" });
    expect(report.outcome).toBe("identity");
    expectEqual(company);
  });

  test("with --accept-identity the mirror takes the other company over, record by record", async () => {
    const company = await aCompany({ companies: 2 });
    await sync(company);
    const token = company.sandbox.companies[1]?.token ?? "";
    const taken = await sync(company, { token, acceptIdentity: true, allowMassDelete: true });
    expect(taken.error).toBeUndefined();
    expect((await sync(company, { token, full: true, allowMassDelete: true })).outcome).toBe("complete");
    expectEqual(company, { of: 1 });
  });

  test("a renamed company is accepted, said, and its row follows", async () => {
    const company = await aCompany();
    await sync(company);
    company.sandbox.control.rename("Nové meno, s. r. o.");
    expect((await sync(company)).outcome).toBe("complete");
    expect(company.said.join("\n")).toContain("renamed");
    expectEqual(company);
  });

  test("a rotated token is accepted and said; the old one, revoked, is refused without harm", async () => {
    const company = await aCompany();
    await sync(company);
    const rotated = { token: company.sandbox.readToken };
    expect((await sync(company, rotated)).outcome).toBe("complete");
    expect(company.said.join("\n")).toContain("was replaced");
    company.sandbox.control.revoke(company.sandbox.token);
    expect((await sync(company)).outcome).toBe("unauthenticated");
    expect((await sync(company, rotated)).outcome).toBe("complete");
    expectEqual(company);
  });
});
