/** Some of the product whose decisions are pure, and the tests that must kill its mutants. */
export interface Part {
  /** Glob patterns. */
  readonly files: readonly string[];
  readonly tests: readonly string[];
  /** What starts processes or waits is not run once for each mutant. */
  readonly without?: readonly string[];
}

const webhookTests = ["delivery", "keyring"].map((name) => `test/webhook/${name}.test.ts`);
const applied = ["merge-rules", "table-context", "held-record", "previews", "resource-table"];

/** By the name that the command takes. */
export const parts: Readonly<Record<string, Part>> = {
  json: { files: ["src/json/*.ts"], tests: ["test/json/*.test.ts"] },
  "rate-limit": {
    files: ["src/rate-limit/*.ts"],
    tests: ["test/rate-limit/*.test.ts", "test/fakturoid/quota.test.ts"],
    without: ["test/rate-limit/processes.test.ts"],
  },
  plan: {
    files: ["src/sync/plan/*.ts"],
    tests: ["test/sync/*.test.ts"],
  },
  merge: {
    files: applied.map((name) => `src/store/apply/${name}.ts`),
    tests: [
      "test/store/*.test.ts",
      "test/state/{as-of,mirror}.test.ts",
      "test/verify/local.test.ts",
      "test/sync/estimate.test.ts",
    ],
    without: ["test/store/transient-errors.test.ts"],
  },
  signature: {
    files: ["src/webhook/keys/*.ts", "src/webhook/ingest/delivery.ts"],
    tests: [...webhookTests, "test/fakturoid/events.test.ts"],
  },
};

export function partNamed(name: string | undefined): Part {
  const part = parts[name ?? ""];
  if (!part) throw new Error(`no part is named ${name}: ${Object.keys(parts).join(", ")}`);
  return part;
}
