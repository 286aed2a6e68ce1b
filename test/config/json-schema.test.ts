import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { configJsonSchema } from "../../src/config/config-schema.ts";
import { loadConfig } from "../../src/config/load.ts";
import { minimal, pocketConnector } from "../support/connector/config.ts";

const schema = configJsonSchema(pocketConnector);
const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(schema);
const accepts = (text: string) => validate(parse(text));

describe("the JSON Schema for editors", () => {
  test("takes what the loader takes and refuses the same typos", () => {
    expect(minimal()).toSatisfy(accepts);
    expect(minimal("files: { pdf: on, attachments: false }\n")).toSatisfy(accepts);
    expect(minimal("schedule: { sync: off, publish: after_sync }\n")).toSatisfy(accepts);
    expect(minimal("resources: { exclude: [invoices] }\n")).toSatisfy(accepts);
    expect("companies: { acme: { tokn: x } }").not.toSatisfy(accepts);
    expect(minimal("http: { timeout: 5 }\n")).not.toSatisfy(accepts);
    expect(minimal("resources: { exclude: [invoces] }\n")).not.toSatisfy(accepts);
    expect("companies: { a/b: { token: x } }").not.toSatisfy(accepts);
  });

  test("wants companies, or the fleet that has them", () => {
    const fleet = "fleet: { postgres: '${env:DATABASE_URL}', snapshots: s3://bucket }\n";
    expect(fleet).toSatisfy(accepts);
    expect(minimal(fleet)).toSatisfy(accepts);
    expect("log: { level: info }").not.toSatisfy(accepts);
  });

  test("describes every key", () => {
    expect(undescribed(schema)).toEqual([]);
  });
});

function undescribed(node: unknown, path = ""): string[] {
  if (node === null || typeof node !== "object") return [];
  const { properties = {}, ...others } = node as { properties?: Record<string, { description?: string }> };
  const own = Object.entries(properties).flatMap(([key, property]) => [
    ...(property.description ? [] : [`${path}.${key}`]),
    ...undescribed(property, `${path}.${key}`),
  ]);
  return [...own, ...Object.values(others).flatMap((child) => undescribed(child, path))];
}

const file = new URL("../../config.example.yaml", import.meta.url);
const text = readFileSync(file, "utf8");

test("config.example.yaml loads, is valid by the schema, and says nothing but the defaults", () => {
  const connectors = [{ ...pocketConnector, baseUrl: "https://app.fintoro.sk/api/public/v1" }] as const;
  const load = (content: string) =>
    loadConfig({ env: { FINTORO_TOKEN: "t" }, cwd: "/x", connectors, readFile: () => content });
  const example = load(text);
  expect(example.warnings).toEqual([]);
  expect(text).toSatisfy(accepts);
  expect(example.config).toEqual(load("companies: { acme: { token: '${env:FINTORO_TOKEN}' } }").config);
});
