import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { makePageToken, pageTokenFile, servedPageToken } from "../../src/status/page/page-access.ts";
import { temporaryFolder } from "../support/program/cli.ts";
import { load, minimal } from "../support/connector/config.ts";

const withUrl = minimal("    webhook: { public_url: https://hooks.example.com/webhooks/acme }\n");

describe("the pages need a token", () => {
  test.each([
    ["not where only this machine can ask for them", minimal(), true, false],
    ["where the server listens beyond this machine", minimal(), false, true],
    ["where a company has a public_url", withUrl, true, true],
    ["where they have names", minimal('serve: { hosts: ["mirror.example.com"] }\n'), true, true],
  ])("%s", (_, text, isLocal, isWanted) => {
    const token = servedPageToken(load(text).config, isLocal);
    expect(token !== null).toBe(isWanted);
    if (token) expect(token).toMatchObject({ isMade: true, place: { path: "/home/me/data/page-token" } });
  });
});

describe("a token that is made", () => {
  test("is in a file for this user alone, is hard to guess, and stays", () => {
    const file = pageTokenFile(path.join(temporaryFolder(), "data"));
    const token = makePageToken(file);
    expect(token).toMatch(/^[\w-]{32}$/);
    expect(readFileSync(file, "utf8")).toBe(`${token}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(makePageToken(file)).toBe(token);
  });

  test.each(["", "short\n", "two words of some length\n"])("replaces %j, which is none", (text) => {
    const file = pageTokenFile(temporaryFolder());
    writeFileSync(file, text);
    expect(makePageToken(file)).toMatch(/^[\w-]{32}$/);
  });

  // Fault: files | a folder stands where the page token belongs | the data folder | an error; the pages stay closed
  test("cannot be made where a folder stands in its place", () => {
    const file = pageTokenFile(temporaryFolder());
    mkdirSync(file);
    expect(() => makePageToken(file)).toThrow(/EISDIR|ENOTEMPTY|EEXIST/);
  });
});
