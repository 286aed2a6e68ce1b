import { existsSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import { describe, expect, it } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { compareWithReference } from "../../src/connector/drift/drift.ts";
import { get, put } from "../support/connector/reference.ts";

/** The vendor's reference is not part of the project; where it is beside it, the connector is compared with it. */
const file = new URL("../../../shared/reference/fintoro-openapi.yaml", import.meta.url);
const isThere = existsSync(file);

const absent = isThere ? "" : " (absent here: nothing compared)";

describe.runIf(isThere)(`the fintoro connector against the vendor's reference${absent}`, () => {
  const published: unknown = isThere ? parse(readFileSync(file, "utf8")) : {};

  const driftsAfter = (...path: string[]) => {
    const document: object = Object(structuredClone(published));
    const bent = (change: (value: unknown) => unknown) => {
      put(document, path, change(get(document, path)));
      return compareWithReference(manifest, document);
    };
    return { put: (value: unknown) => bent(() => value), bent };
  };

  const schema = (name: string, ...path: string[]) => driftsAfter("components", "schemas", name, ...path);
  const parameter = (path: string, index: number, ...rest: string[]) =>
    driftsAfter("paths", path, "get", "parameters", String(index), ...rest);

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

  it("finds a path that was removed", () => {
    expect(driftsAfter("paths", "/invoices/{invoice}/pdf").put(undefined)).toEqual([
      {
        severity: "breaking",
        where: "GET /invoices/{invoice}/pdf",
        what: "it is absent in the reference, present in the connector",
      },
    ]);
  });

  it("finds a field that was renamed, in the detail alone", () => {
    const drifts = schema("Invoice", "properties").bent((value) => {
      const { toBePaid, ...rest } = Object(value) as Record<string, unknown>;
      return { ...rest, remaining: toBePaid };
    });
    expect(drifts).toEqual([
      {
        severity: "breaking",
        where: "invoices.toBePaid",
        what: "it is absent in the reference, present in the connector",
      },
      {
        severity: "addition",
        where: "invoices.remaining",
        what: "it is present in the reference, absent in the connector",
      },
    ]);
  });

  it("finds a type that changed", () => {
    expect(schema("DocumentPayment", "properties", "amount", "type").put("string")).toEqual([
      {
        severity: "breaking",
        where: "document_payments.amount",
        what: "type is string in the reference, number in the connector",
      },
    ]);
  });

  it("finds a value that was added, once, and says where", () => {
    const drifts = schema("Order", "properties", "discountType", "enum").put([
      "percentage",
      "fixed",
      "tiered",
    ]);
    expect(drifts).toEqual([
      {
        severity: "addition",
        where: "orders.discountType",
        what: "value tiered is present in the reference, absent in the connector",
      },
    ]);
  });

  it("finds a value that was removed", () => {
    const drifts = schema("BankAccount", "properties", "autoPairingStrategy", "enum").bent((value) =>
      Array.isArray(value) ? value.slice(1) : value,
    );
    expect(drifts).toEqual([
      {
        severity: "breaking",
        where: "bank_accounts.autoPairingStrategy",
        what: "value none is absent in the reference, present in the connector",
      },
    ]);
  });

  it("finds a parameter that must be given now", () => {
    expect(parameter("/invoices", 0, "required").put(true)).toEqual([
      {
        severity: "breaking",
        where: "GET /invoices ?number",
        what: "it is required in the reference, optional in the connector",
      },
    ]);
  });

  it("finds smaller pages, which the mirror would be refused", () => {
    const drifts = parameter("/invoices", 11, "schema", "maximum").put(100);
    expect(drifts).toEqual([
      {
        severity: "breaking",
        where: "GET /invoices ?perPage",
        what: "maximum is 100 in the reference, 500 in the connector",
      },
    ]);
  });

  it("finds a new event, once", () => {
    const drifts = schema("WebhookEventType", "enum").bent((value) =>
      Array.isArray(value) ? [...value, "invoices.viewed"] : value,
    );
    expect(drifts).toEqual([
      {
        severity: "addition",
        where: "events",
        what: "value invoices.viewed is present in the reference, absent in the connector",
      },
    ]);
  });
});
