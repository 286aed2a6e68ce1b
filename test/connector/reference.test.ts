import { existsSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import { describe, expect, it } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { compareWithReference } from "../../src/connector/drift/drift.ts";
import { added, addition, breaking, get, gone, put, said } from "../support/connector/reference.ts";

/** The vendor's reference is not part of the project; where it is beside it, the connector is compared with it. */
const file = new URL("../../../shared/reference/fintoro-openapi.yaml", import.meta.url);
const isThere = existsSync(file);

const schema = (...path: string[]) => ["components", "schemas", ...path];
const parameter = (index: string, ...path: string[]) => [
  "paths",
  "/invoices",
  "get",
  "parameters",
  index,
  ...path,
];

const absent = isThere ? "" : " (absent here: nothing compared)";

describe.runIf(isThere)(`the fintoro connector against the vendor's reference${absent}`, () => {
  const published: unknown = isThere ? parse(readFileSync(file, "utf8")) : {};

  it("has no drift of any severity", () => {
    expect(compareWithReference(manifest, published)).toEqual([]);
  });

  it("knows every route of it", () => {
    const paths: object = Object(get(Object(published), ["paths"]));
    const routes = Object.entries(paths).flatMap(([path, item]: [string, object]) =>
      Object.keys(item)
        .filter((key) => key !== "parameters")
        .map((method) => `${method.toUpperCase()} ${path}`),
    );
    const ours = manifest.operations.map(({ method, path }) => `${method} ${path}`);
    expect(ours.toSorted()).toEqual(routes.toSorted());
  });

  it("finds each change of it, made together, under the name of what changed, and nothing else", () => {
    const document: object = Object(structuredClone(published));
    const change = (path: readonly string[], to: (value: unknown) => unknown) =>
      put(document, path, to(get(document, path)));
    put(document, ["paths", "/invoices/{invoice}/pdf"], undefined);
    change(schema("Invoice", "properties"), (value) => {
      const { toBePaid, ...rest } = Object(value) as Record<string, unknown>;
      return { ...rest, remaining: toBePaid };
    });
    put(document, schema("DocumentPayment", "properties", "amount", "type"), "string");
    put(document, schema("Order", "properties", "discountType", "enum"), ["percentage", "fixed", "tiered"]);
    change(schema("BankAccount", "properties", "autoPairingStrategy", "enum"), (value) =>
      Array.isArray(value) ? value.slice(1) : value,
    );
    put(document, parameter("0", "required"), true);
    put(document, parameter("11", "schema", "maximum"), 100);
    change(schema("WebhookEventType", "enum"), (value) =>
      Array.isArray(value) ? [...value, "invoices.viewed"] : value,
    );
    expect(said(compareWithReference(manifest, document)).toSorted()).toEqual(
      [
        gone("GET /invoices/{invoice}/pdf"),
        gone("invoices.toBePaid"),
        added("invoices.remaining"),
        breaking("document_payments.amount", "type", "string", "number"),
        addition("orders.discountType", "value tiered", "present", "absent"),
        breaking("bank_accounts.autoPairingStrategy", "value none", "absent", "present"),
        breaking("GET /invoices ?number", "it", "required", "optional"),
        breaking("GET /invoices ?perPage", "maximum", "100", "500"),
        addition("events", "value invoices.viewed", "present", "absent"),
      ].toSorted(),
    );
  });
});
