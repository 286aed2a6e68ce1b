import { readdirSync } from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import { runCommand } from "../program/cli.ts";
import { writeServeConfig } from "../program/serve.ts";
import { aMirroredCompany, type Company } from "./company.ts";

/** A company with a mirror, and the folder or bucket of its backups. */
export async function aMirrored(): Promise<Company & { readonly backups: string }> {
  const company = writeServeConfig(await aMirroredCompany({ companies: 2, records: 5 }));
  return { ...company, backups: path.join(company.folder, "backups") };
}

/** Where the backups of a company are, with what opens a bucket. */
type BackedUp = Company & { readonly backups: string; readonly env?: Readonly<Record<string, string>> };

export async function run(company: Omit<BackedUp, "backups">, args: readonly string[]) {
  const { env = {} } = company;
  const config = path.join(company.folder, "config.yaml");
  return runCommand([...args, "--config", config], { cwd: company.folder, env });
}

export async function backUp(company: BackedUp, ...more: string[]): Promise<string> {
  const args = ["backup", "--to", company.backups, "--json", ...more];
  const { code, stdout, stderr } = await run(company, args);
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  return (JSON.parse(stdout) as { companies: { acme: { id: string } } }).companies.acme.id;
}

export const restore = (company: BackedUp, ...more: string[]) =>
  run(company, ["restore", "--from", company.backups, ...more]);

export const idsIn = (company: BackedUp) => readdirSync(path.join(company.backups, "acme")).toSorted();
