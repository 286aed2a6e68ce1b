import { expect, test } from "vitest";
import { projectText } from "./read-source.ts";

interface Package {
  readonly version?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

type Lock = Readonly<Record<"packages", Readonly<Record<string, Package>>>>;
const { packages } = JSON.parse(projectText("package-lock.json")) as Lock;

test("the lock file holds every platform's packages, so that `npm ci` works on a fresh machine", () => {
  expect(Object.keys(packages).length).toBeGreaterThan(50);
  // A registry may not have had one of them yet when the lock was written: `npm ci` refuses such a lock.
  const asked = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
    Object.keys(optionalDependencies),
  );
  expect(asked.length).toBeGreaterThan(10);
  expect(asked.filter((name) => !packages[`node_modules/${name}`]?.version)).toEqual([]);
});

test("every package in the lock file has a hash, and only the development Node runs a script when installed", () => {
  const installed = Object.entries(packages).filter(([name]) => name !== "");
  expect(installed.filter(([, { integrity = "" }]) => !integrity.startsWith("sha512-"))).toEqual([]);
  const withScript = installed.filter(([, { hasInstallScript }]) => hasInstallScript);
  expect(withScript.map(([name, { dev }]) => [name, dev])).toEqual([["node_modules/node", true]]);
});
