import { existsSync, readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../connectors/fintoro/sandbox/sandbox.ts";
import { all, get, openSandbox, type Dict } from "../support/sandbox.ts";

const file = new URL("../../../shared/reference/fintoro-openapi.yaml", import.meta.url);
const present = existsSync(file);

interface Operation {
  readonly responses: Record<string, { readonly content?: Record<string, { readonly schema: unknown }> }>;
}

/** The vendor's schemas, as checks of answers. */
class Reference {
  readonly #document = parse(readFileSync(file, "utf8")) as {
    paths: Record<string, Record<string, Operation>>;
  };
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  readonly #checks = new Map<string, ValidateFunction>();

  constructor() {
    allowNullInEnums(this.#document);
    this.#ajv.addSchema(this.#document, "reference");
  }

  get readPaths(): string[] {
    return Object.entries(this.#document.paths).flatMap(([path, methods]) => (methods["get"] ? [path] : []));
  }

  mediaTypes(method: string, path: string, status: number): string[] {
    return Object.keys(this.#document.paths[path]?.[method]?.responses[String(status)]?.content ?? {});
  }

  complaints(method: string, path: string, status: number, body: unknown): string[] {
    const check = this.#check(
      `${pointer(path)}/${method}/responses/${status}/content/application~1json/schema`,
    );
    return check(body)
      ? []
      : (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  }

  #check(at: string): ValidateFunction {
    const known = this.#checks.get(at) ?? this.#ajv.compile({ $ref: `reference#/paths/${at}` });
    this.#checks.set(at, known);
    return known;
  }
}

/** Some fields are typed `string | null` beside an enum that forgets null. */
function allowNullInEnums(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  const { type, enum: values } = node as { type?: unknown; enum?: unknown };
  if (Array.isArray(type) && type.includes("null") && Array.isArray(values) && !values.includes(null))
    values.push(null);
  for (const inner of Object.values(node)) allowNullInEnums(inner);
}

function pointer(path: string): string {
  return encodeURIComponent(path.replaceAll("~", "~0").replaceAll("/", "~1"));
}

/** Queries without which a list cannot be asked. */
async function listQueries(sandbox: Sandbox, path: string): Promise<string[]> {
  if (path === "/numerical-series") return ["invoice", "order"].map((type) => `?documentType=${type}`);
  if (path === "/subjects") return ["?searchQuery=doprava"];
  if (path === "/document-payments") {
    const invoices = await all(sandbox, "/invoices?paymentStatus=paid");
    return invoices.slice(0, 5).map(({ id }) => `?documentType=invoice&documentId=${String(id)}`);
  }
  if (path === "/contact-activity-logs")
    return (await logParents(sandbox)).map((query) => `?perPage=200&${query}`);
  return [""];
}

async function logParents(sandbox: Sandbox): Promise<string[]> {
  const clients = await all(sandbox, "/clients");
  const suppliers = await all(sandbox, "/suppliers");
  const cases = await all(sandbox, "/business-cases");
  return [
    ...clients.map(targetQuery("clientId")),
    ...suppliers.map(targetQuery("supplierId")),
    ...cases.map(targetQuery("businessCaseId")),
  ];
}

function targetQuery(name: string): (record: Dict) => string {
  return ({ id }) => `${name}=${String(id)}`;
}

async function idsOf(sandbox: Sandbox, collection: string): Promise<number[]> {
  const queries = await listQueries(sandbox, collection);
  const lists = [];
  for (const query of queries) lists.push(await all(sandbox, `${collection}${query}`));
  return lists.flat().map(({ id }) => Number(id));
}

describe.runIf(present)("the vendor's published reference", () => {
  test("every list and every record of the small sandbox validates against its schema", async () => {
    const sandbox = await openSandbox();
    const reference = new Reference();
    const wrong: string[] = [];
    let checked = 0;
    for (const path of reference.readPaths) {
      const collection = `/${path.split("/")[1] ?? ""}`;
      const json = reference.mediaTypes("get", path, 200).includes("application/json");
      const real = path.includes("{")
        ? (await idsOf(sandbox, collection)).map((id) => path.replace(/\{[^}]+\}/, String(id)))
        : (await listQueries(sandbox, path)).map((query) => `${path}${query}`);
      expect(real, path).not.toEqual([]);
      for (const url of real) {
        const heard = await get(sandbox, url);
        if (json)
          wrong.push(...reference.complaints("get", path, 200, heard.json).map((text) => `${url} ${text}`));
        else if (!path.endsWith("attachments")) expect(heard.text.slice(0, 5)).toBe("%PDF-");
        checked++;
      }
    }
    expect(wrong).toEqual([]);
    expect(checked).toBeGreaterThan(300);
  });
});
