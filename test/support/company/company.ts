import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "vitest";
import type { SandboxOptions } from "../../../connectors/fintoro/sandbox/sandbox.ts";
import { untilTheEnd } from "../http/http.ts";
import { openCompany, sync, type Company, type SyncOptions } from "./open-company.ts";

export { fastClock, scrubOf, sync, type Company, type SyncOptions } from "./open-company.ts";

/** A company in its sandbox, a proxy before it and an empty folder; all gone with the test. */
export async function aCompany(options: SandboxOptions = {}): Promise<Company> {
  return untilTheEnd(await openCompany(options));
}

/** What decides which records a sandbox holds. */
type Contents = Pick<SandboxOptions, "records" | "companies" | "stocksInLists">;

/** What decides what a first run writes, and can be a key. */
type FirstRun = Omit<SyncOptions, "signal" | "closed" | "clock" | "rateLimiter" | "wrap">;

/** Mirrors after a first run, by the contents of the sandbox and how it was made. */
const firstRuns = new Map<string, Promise<Buffer>>();

async function firstRun(contents: Contents, options: FirstRun): Promise<Buffer> {
  const company = await openCompany(contents);
  try {
    expect((await sync(company, options)).outcome).toBe("complete");
    return readFileSync(company.file);
  } finally {
    await company.close();
  }
}

/**
 * A company whose mirror is whole. A first run over the same contents is made once for all tests of this process, and
 * its file copied: that run may be minutes old, and to the sandbox and its proxy no request was sent yet.
 */
export async function aMirroredCompany(contents: Contents = {}, options: FirstRun = {}): Promise<Company> {
  const key = JSON.stringify([contents, options]);
  const made = firstRuns.get(key) ?? firstRun(contents, options);
  firstRuns.set(key, made);
  const company = await aCompany(contents);
  writeFileSync(company.file, await made);
  return company;
}
