import { onTestFinished } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { MirrorError } from "../../src/base/errors.ts";
import type { WriteRight } from "../../src/file-store/file-store.ts";
import { openStore } from "../../src/file-store/open-store.ts";
import { tempFolder } from "./temporary-folder.ts";
import { s3Env, startS3 } from "./export/s3-server.ts";

export const storeKinds = ["folder", "s3"] as const;
export type StoreKind = (typeof storeKinds)[number];

export type TestStore = Awaited<ReturnType<typeof aFileStore>>;

/**
 * An empty store, which goes with the test: a folder, or a prefix in a bucket of a real S3 server. In `folder` its files
 * can be found and damaged; `address` and `env` open it again.
 */
export async function aFileStore(kind: StoreKind) {
  const folder = tempFolder();
  const parts = { clock: systemClock, onSecrets: () => undefined };
  if (kind === "folder") {
    const store = openStore(folder, { ...parts, env: {} });
    return { store, folder, fileOf: (key: string) => `${folder}/${key}`, address: folder, env: {} };
  }
  const server = await startS3(folder, "fleet");
  onTestFinished(() => server.close());
  const env = s3Env(server.url);
  const address = "s3://fleet/some/prefix";
  const store = openStore(address, { ...parts, env });
  const fileOf = (key: string) => `${folder}/fleet/some/prefix/${key}._S3rver_object`;
  return { store, folder, fileOf, address, env };
}

/** A right to write that a test can end: by the check before each write, or while something is written. */
export function aRight(): WriteRight & { readonly lose: () => void; readonly asked: () => number } {
  const ending = new AbortController();
  let asked = 0;
  return {
    signal: ending.signal,
    assertHeld: () => {
      asked += 1;
      if (ending.signal.aborted) throw new MirrorError("locked", "the company has another owner");
    },
    lose: () => ending.abort(),
    asked: () => asked,
  };
}
