import { describe, expect, test } from "vitest";
import { allRoutes } from "../../connectors/fintoro/sandbox/resources/all-routes.ts";
import { get, openSandbox } from "../support/sandbox/sandbox.ts";

/** Lists that need a question, and those of one document or contact, which a company's reader cannot name beforehand. */
const questions: Readonly<Record<string, string>> = {
  "/numerical-series": "?documentType=order",
  "/subjects": "?searchQuery=doprava",
};
const ofOneOwner = new Set(["/document-payments", "/contact-activity-logs"]);
const paths = allRoutes()
  .filter(({ method, path }) => method === "GET" && !path.includes("{") && !ofOneOwner.has(path))
  .map(({ path }) => `${path}${questions[path] ?? ""}`);

describe("who may read", () => {
  test("both tokens of a company read every list; each answer has its request id, language and budget", async () => {
    const sandbox = await openSandbox({ limit: 120 });
    const ids = new Set<string | null>();
    for (const [turn, path] of paths.entries()) {
      const heard = await get(sandbox, path, { token: turn % 2 === 0 ? sandbox.token : sandbox.readToken });
      expect(heard.status, path).toBe(200);
      expect(heard.headers.get("x-ratelimit-limit")).toBe("120");
      expect(heard.headers.get("x-ratelimit-remaining")).toBe(String(119 - turn));
      expect(heard.headers.get("content-language")).toBe("en");
      expect(heard.headers.get("content-type")).toBe("application/json");
      ids.add(heard.headers.get("x-request-id"));
      if (path !== "/whoami") expect(heard.data.length, path).toBeGreaterThan(1);
    }
    expect([ids.size, paths.length]).toEqual([26, 26]);
    expect(sandbox.control.failures()).toEqual([]);
  });

  test("without a valid token the answer is 401 in JSON, without budget headers and uncounted", async () => {
    const sandbox = await openSandbox({ limit: 5 });
    for (const token of [null, "wrong", `${sandbox.token}x`]) {
      const heard = await get(sandbox, "/invoices", { token });
      expect(heard.status).toBe(401);
      expect(heard.json).toEqual({ message: "Unauthenticated." });
      expect(heard.headers.get("x-ratelimit-remaining")).toBeNull();
      expect(heard.headers.get("x-request-id")).toMatch(/^req_/);
    }
    expect((await get(sandbox, "/whoami")).headers.get("x-ratelimit-remaining")).toBe("4");
  });

  test("companies see nothing of each other and have budgets of their own", async () => {
    const sandbox = await openSandbox({ companies: 2, limit: 50 });
    const [first, second] = sandbox.companies;
    const mine = (await get(sandbox, "/invoices")).data;
    const theirs = (await get(sandbox, "/invoices", { token: second?.token ?? "" })).data;
    expect(first?.name).not.toBe(second?.name);
    expect((await get(sandbox, "/whoami", { token: second?.readToken ?? "" })).json).toEqual({
      name: second?.name,
    });
    expect(mine[0]?.["id"]).not.toBe(theirs[0]?.["id"]);
    const foreign = await get(sandbox, `/invoices/${String(theirs[0]?.["id"])}`);
    expect(foreign.status).toBe(404);
    expect(foreign.headers.get("x-ratelimit-remaining")).toBe("48");
  });
});
