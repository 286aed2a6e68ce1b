import { describe, expect, test } from "vitest";
import type { Sandbox } from "../support/sandbox/control.ts";
import { allRoutes } from "../../connectors/fintoro/sandbox/resources/all-routes.ts";
import { all, get, openSandbox } from "../support/sandbox/sandbox.ts";
import { Reference, referencePresent } from "../support/sandbox/reference.ts";

/** Queries without which a list cannot be asked. */
async function listQueries(sandbox: Sandbox, path: string): Promise<string[]> {
  if (path === "/numerical-series") return ["invoice", "order"].map((type) => `?documentType=${type}`);
  if (path === "/subjects") return ["?searchQuery=doprava"];
  if (path === "/document-payments") {
    const invoices = await all(sandbox, "/invoices?paymentStatus=paid");
    return invoices.slice(0, 5).map(({ id }) => `?documentType=invoice&documentId=${String(id)}`);
  }
  if (path !== "/contact-activity-logs") return [""];
  return (await logParents(sandbox)).map((query) => `?perPage=200&${query}`);
}

async function logParents(sandbox: Sandbox): Promise<string[]> {
  const parents = [
    ["clientId", "/clients"],
    ["supplierId", "/suppliers"],
    ["businessCaseId", "/business-cases"],
  ] as const;
  const queries = [];
  for (const [param, path] of parents) {
    for (const { id } of await all(sandbox, path)) queries.push(`${param}=${String(id)}`);
  }
  return queries;
}

async function idsOf(sandbox: Sandbox, collection: string): Promise<number[]> {
  const ids = [];
  for (const query of await listQueries(sandbox, collection)) {
    for (const { id } of await all(sandbox, `${collection}${query}`)) ids.push(Number(id));
  }
  return ids;
}

describe.runIf(referencePresent)("the vendor's published reference", () => {
  test("complains of a wrong type, of a field that lacks and of one too many, also deep inside", () => {
    const body = { data: [{ id: "1", client: { name: "A", country: { id: 1, moons: 2 } } }] };
    const complaints = new Reference().complaints("get", "/invoices", 200, body);
    for (const part of [
      "/data/0/id must be integer",
      "/data/*/number is missing",
      "/data/*/client/country/moons is not",
    ]) {
      expect(
        complaints.some((text) => text.startsWith(part)),
        part,
      ).toBe(true);
    }
  });

  test("and the sandbox offer the same operations", () => {
    const published = new Reference().operations.map(
      ([method, path]) => `${method} ${path.replace(/\{[^}]+\}/, "{id}")}`,
    );
    const offered = allRoutes().map(({ method, path }) => `${method.toLowerCase()} ${path}`);
    expect(offered.toSorted()).toEqual(published.toSorted());
  });

  test("fits every list and every record of the small sandbox, field by field", async () => {
    const sandbox = await openSandbox();
    const reference = new Reference();
    const wrong: string[] = [];
    let checked = 0;
    for (const [method, path] of reference.operations) {
      if (method !== "get" || !reference.isJson(method, path, 200)) continue;
      const collection = `/${path.split("/")[1] ?? ""}`;
      const urls = path.includes("{")
        ? (await idsOf(sandbox, collection)).map((id) => path.replace(/\{[^}]+\}/, String(id)))
        : (await listQueries(sandbox, path)).map((query) => `${path}${query}`);
      expect(urls, path).not.toEqual([]);
      for (const url of urls) {
        const { json } = await get(sandbox, url);
        wrong.push(...reference.complaints("get", path, 200, json).map((text) => `${url} ${text}`));
        checked++;
      }
    }
    expect(wrong).toEqual([]);
    expect(checked).toBeGreaterThan(300);
  });
});
