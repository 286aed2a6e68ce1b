import { expect, test } from "vitest";
import { z } from "zod";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import { allRoutes } from "../../connectors/fintoro/sandbox/resources/all-routes.ts";
import { get, openSandbox, type Dict } from "../support/sandbox/sandbox.ts";

/** Queries without which a list cannot be asked. */
const questions: Readonly<Record<string, string>> = {
  "/numerical-series": "?documentType=order",
  "/subjects": "?searchQuery=doprava",
};
const plain = (path: string) => path.replace(/\{[^}]+\}/, "{id}");

type Part = Parameters<NonNullable<z.core.ToJSONSchemaParams["override"]>>[0];

/** Which metadata an event of the CRM has hangs on its type; all else has all its fields, and no other. */
function allFields({ jsonSchema, path }: Part): void {
  const { properties } = jsonSchema;
  if (!properties) return;
  jsonSchema.additionalProperties = false;
  if (!path.includes("metadata")) jsonSchema.required = Object.keys(properties);
}

/** A type that takes records with all their fields and no other, deep inside too. */
function exactly(schema: z.ZodType): z.ZodType {
  return z.fromJSONSchema(z.toJSONSchema(schema, { unrepresentable: "any", override: allFields }));
}

/** The types are held to the vendor's reference by `test/connector/drift.test.ts`. */
test("the stand-in offers the operations of the connector, and its answers are of their types, no field more or less", async () => {
  const ours = declaration.operations.map(({ method, path }) => `${method} ${plain(path)}`);
  expect(Object.keys(allRoutes).toSorted()).toEqual(ours.toSorted());
  const sandbox = await openSandbox();
  /** No list of this company has more than a page. */
  const all = async (list: string, query: string) =>
    (await get(sandbox, `${list}${query || "?"}&perPage=200`)).json["data"] as Dict[];
  const [invoice] = await all("/invoices", "?paymentStatus=paid");
  const logs = [...(sandbox.control.snapshot().get("contact_activity_logs")?.values() ?? [])];
  const client = logs.find(({ clientId }) => clientId !== null)?.["clientId"];
  const owners: Readonly<Record<string, string>> = {
    "/document-payments": `?documentType=invoice&documentId=${String(invoice?.["id"])}`,
    "/contact-activity-logs": `?clientId=${String(client)}`,
  };
  for (const { method, path, answer } of declaration.operations) {
    if (method !== "GET" || answer.kind === "file" || answer.kind === "nothing") continue;
    const list = path.replace(/\/\{.*/, "");
    const query = owners[list] ?? questions[list] ?? "";
    const listed = list === "/whoami" ? [] : await all(list, query);
    const urls = listed.map(({ id }) => `${list}/${String(id)}`);
    const details = urls.map(async (url) => (await get(sandbox, url)).json);
    const whole = [(await get(sandbox, `${list}${query}`)).json];
    const isOfOne = path.includes("{");
    const records = answer.kind === "list" ? listed : isOfOne ? await Promise.all(details) : whole;
    expect(records, path).not.toEqual([]);
    const exact = exactly(answer.schema);
    for (const record of records) {
      expect(answer.schema.safeParse(record).error, path).toBeUndefined();
      expect(exact.safeParse(record).error, path).toBeUndefined();
    }
  }
});

test("payments are listed of one document, and refused without it", async () => {
  const sandbox = await openSandbox();
  const refused = await get(sandbox, "/document-payments?documentType=order");
  expect(refused).toMatchObject({ status: 422, json: { errors: { documentType: {}, documentId: {} } } });
});
