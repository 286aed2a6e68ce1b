import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { secretTexts } from "../../src/config/companies.ts";
import { complaint, complaints, load, minimal } from "../support/connector/config.ts";

const address = "postgres://mirror:s3cr%2Ft-word@db.internal:5432/fleet";
const shared = "fleet: { postgres: '${env:DATABASE_URL}', snapshots: s3://bucket/mirrors }\n";
const env = { TOKEN: "token-of-acme", DATABASE_URL: address };

const inFile = (url: string) => minimal(`fleet: { postgres: '${url}', snapshots: ./snapshots }\n`);

const defaults = { reportsKeptMs: 86_400_000, capacity: 50, snapshotEveryMs: 180_000 };

describe("the section fleet", () => {
  test("has defaults but for Postgres and the place of snapshots; null where it is left out", () => {
    expect(load(minimal()).config.fleet).toBeNull();
    const { fleet } = load(minimal(shared), { env }).config;
    expect(fleet).toMatchObject({ ...defaults, snapshots: "s3://bucket/mirrors", reports: null, node: null });
    expect(fleet?.postgres.secret.reveal()).toBe(address);
  });

  test("is offered in the example with every key", () => {
    const example = readFileSync(new URL("../../config.example.yaml", import.meta.url), "utf8");
    const offered = example.replaceAll(/^( {4})?# ( *\w+:.*)$/gm, "$1$2");
    const secrets = { FINTORO_TOKEN: "t", FINTORO_WEBHOOK_SECRET: "whsec_0123456789" };
    const { config } = load(offered, { env: { ...env, ...secrets } });
    expect(config.companies[0]?.webhook.publicUrl).toBe("https://hooks.example.com/webhooks/acme");
    expect(config.companies[0]?.webhook.secrets).toHaveLength(1);
    const places = { snapshots: "s3://bucket/prefix", reports: "s3://bucket/reports" };
    expect(config.fleet).toMatchObject({ ...defaults, ...places, node: "worker-1" });
  });

  test("takes folders relative to the file", () => {
    const text = minimal("fleet: { postgres: 'postgres:///f', snapshots: ./shared, reports: /reports }\n");
    expect(load(text).config.fleet).toMatchObject({ snapshots: "/home/me/shared", reports: "/reports" });
  });

  test.each([
    ["fleet: { snapshots: x }", "4:1", 'fleet needs "postgres"'],
    ["fleet: { postgres: 'postgres:///f' }", "4:1", 'fleet needs "snapshots"'],
    ["fleet: { postgres: 'postgres:///f', snapshots: s3:// }", "4:48", "a place such as s3://bucket/prefix"],
    ["fleet: { postgres: 'postgres:///f', snapshots: x, reports: 'gs://bucket' }", "4:60", "s3://bucket"],
    ["fleet: { postgres: 'postgres://a:b#c@host/f', snapshots: x }", "4:20", "database; in a password write"],
    ["fleet: { postgres: 'postgres:///f', snapshots: x, node: a b }", "4:57", "must be a name of letters"],
    ["fleet: { postgres: 'postgres:///f', snapshots: x, capacity: 0 }", "4:61", "a whole number from 1"],
  ])("%s is refused with its place", (line, position, message) => {
    const [only, ...others] = complaints(minimal(`${line}\n`));
    expect(only).toContain(`config.yaml:${position}: `);
    expect(only).toContain(message);
    expect(others).toEqual([]);
  });
});

const textsOf = (url: string) =>
  secretTexts(load(inFile(url)).config).filter((one) => /postgres|mirror/.test(one));

describe("I9: the address of Postgres", () => {
  // Fault: secrets | a number or another text where the address of Postgres should be | the config | refused without showing it (I9)
  test.each(["mysql://mirror:s3cret-word@db/fleet", "987654321012", "s3cret-word"])(
    "is not shown by the error about %s",
    (text) => {
      const { message } = complaint(minimal(`fleet: { postgres: ${text}, snapshots: x }\n`));
      expect(message).toMatch(/^config\.yaml:4:20: fleet\.postgres must be/);
      expect(message).not.toContain(text);
      expect(message).not.toContain("s3cret-word");
    },
  );

  test("is cut out of every text with its password, as it is written and as it is meant", () => {
    const texts = secretTexts(load(minimal(shared), { env }).config);
    expect(texts).toEqual(expect.arrayContaining([address, "s3cr%2Ft-word", "s3cr/t-word"]));
  });

  test("without a password is no secret, and a password that everybody guesses cuts no other word", () => {
    expect(textsOf("postgres://mirror@db/fleet")).toEqual([]);
    const usual = "postgres://postgres:postgres@db/postgres";
    expect(textsOf(usual)).toEqual([usual]);
  });

  test("in the file itself leads to a warning where it has a password", () => {
    expect(load(inFile("postgres://mirror@db/fleet")).warnings).toEqual([]);
    expect(load(inFile("postgres://mirror:word@db/fleet")).warnings).toEqual([
      "config.yaml:4:20: fleet.postgres stands in the file itself; ${env:NAME} or ${file:/path} keeps it out",
    ]);
    expect(load(inFile("postgres://mirror@db/fleet?password=word")).warnings).toHaveLength(1);
  });

  test("that is missing concerns only those that use it", () => {
    const { config, warnings } = load(minimal(shared));
    expect(warnings).toEqual([]);
    expect(() => config.fleet?.postgres.secret.reveal()).toThrow(
      "fleet.postgres: the environment variable DATABASE_URL is not set",
    );
  });
});

describe("companies", () => {
  test("may be missing for commands of the fleet, and are checked where they are there", () => {
    for (const text of [shared, `companies: {}\n${shared}`, `companies:\n${shared}`])
      expect(load(text, { env, forFleet: true }).config.companies).toEqual([]);
    expect(complaints(`companies: { acme: {} }\n${shared}`, { env, forFleet: true })).toEqual([
      'config.yaml:1:14: companies.acme needs "token"',
    ]);
  });

  test("must be there for other commands, and do not make up for a missing fleet", () => {
    expect(complaint(shared, { env })).toMatchObject({
      message: 'config.yaml:1:1: the config needs "companies"',
      hint: expect.stringContaining("only `worker` and `fleet` take companies from Postgres") as string,
    });
    expect(complaint(minimal(), { env, forFleet: true })).toMatchObject({
      message: 'config.yaml:1:1: the config needs "fleet"',
      hint: expect.stringContaining("add fleet: {") as string,
    });
  });
});
