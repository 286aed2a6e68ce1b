import { describe, expect, test } from "vitest";
import type { Sandbox } from "../support/sandbox/control.ts";
import { allRoutes } from "../../connectors/fintoro/sandbox/resources/all-routes.ts";
import { all, get, openSandbox } from "../support/sandbox/sandbox.ts";
import { Reference, referencePresent } from "../support/sandbox/reference.ts";

const parents = { clientId: "/clients", supplierId: "/suppliers", businessCaseId: "/business-cases" };

/** Queries without which a list cannot be asked. */
async function listQueries(sandbox: Sandbox, path: string): Promise<string[]> {
  const idsAt = async (list: string) => (await all(sandbox, list)).map(({ id }) => String(id)).slice(0, 9);
  if (path === "/numerical-series") return ["invoice", "order"].map((type) => `?documentType=${type}`);
  if (path === "/subjects") return ["?searchQuery=doprava"];
  if (path === "/document-payments") {
    const invoices = await idsAt("/invoices?paymentStatus=paid");
    return invoices.map((id) => `?documentType=invoice&documentId=${id}`);
  }
  if (path !== "/contact-activity-logs") return [""];
  const queries = Object.entries(parents).map(async ([param, list]) =>
    (await idsAt(list)).map((id) => `?${param}=${id}`),
  );
  return (await Promise.all(queries)).flat();
}

describe.runIf(referencePresent)("the vendor's published reference", () => {
  test("and the sandbox offer the same operations, and every list and record fits it, field by field", async () => {
    const reference = new Reference();
    const published = reference.operations.map(
      ([method, path]) => `${method} ${path.replace(/\{[^}]+\}/, "{id}")}`,
    );
    const offered = allRoutes().map(({ method, path }) => `${method.toLowerCase()} ${path}`);
    expect(offered.toSorted()).toEqual(published.toSorted());
    const sandbox = await openSandbox();
    const wrong: string[] = [];
    for (const [method, path] of reference.operations) {
      if (method !== "get" || !reference.isJson(method, path, 200)) continue;
      const lists = (await listQueries(sandbox, `/${path.split("/")[1]}`)).map(
        (query) => `/${path.split("/")[1]}${query}`,
      );
      const records = await Promise.all(lists.map((list) => all(sandbox, list)));
      const ids = records.flat().map(({ id }) => String(id));
      const urls = path.includes("{") ? ids.slice(0, 12).map((id) => path.replace(/\{[^}]+\}/, id)) : lists;
      expect(urls, path).not.toEqual([]);
      for (const url of path === "/whoami" ? [path] : urls) {
        const { json } = await get(sandbox, url);
        wrong.push(...reference.complaints("get", path, 200, json).map((text) => `${url} ${text}`));
      }
    }
    expect(wrong).toEqual([]);
  });
});
