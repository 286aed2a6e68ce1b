import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface LockFile {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly version?: string;
        readonly integrity?: string;
        readonly dev?: boolean;
        readonly hasInstallScript?: boolean;
        readonly optionalDependencies?: Record<string, string>;
      }
    >
  >;
}

/** Platform packages that a registry did not have yet when the lock was written: `npm ci` refuses such a lock. */
function missingFrom(lock: LockFile): string[] {
  return Object.values(lock.packages).flatMap(({ optionalDependencies = {} }) =>
    Object.keys(optionalDependencies).filter((name) => !lock.packages[`node_modules/${name}`]?.version),
  );
}

test("the lock file holds every platform's packages, so that `npm ci` works on a fresh machine", () => {
  const lock = JSON.parse(
    readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8"),
  ) as LockFile;
  expect(Object.keys(lock.packages).length).toBeGreaterThan(50);
  expect(missingFrom(lock)).toEqual([]);
});

test("every package in the lock file has a hash, and only the development Node runs a script when installed", () => {
  const { packages } = JSON.parse(
    readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8"),
  ) as LockFile;
  const installed = Object.entries(packages).filter(([name]) => name !== "");
  expect(installed.filter(([, { integrity = "" }]) => !integrity.startsWith("sha512-"))).toEqual([]);
  const withScript = installed.filter(([, { hasInstallScript }]) => hasInstallScript);
  expect(withScript.map(([name, { dev }]) => [name, dev])).toEqual([["node_modules/node", true]]);
});

test("a lock file without a platform's package is found", () => {
  const packages = { "node_modules/a": { version: "1.0.0", optionalDependencies: { "a-linux": "1.0.0" } } };
  expect(missingFrom({ packages })).toEqual(["a-linux"]);
});
