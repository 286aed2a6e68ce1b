import { describe, expect, test } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import { createReload } from "../../src/cli/commands/serve.ts";
import type { Config } from "../../src/config/config.ts";
import { load, minimal } from "../support/connector/config.ts";
import { recordingLog } from "../support/terminal/terminal.ts";

/** Reads `texts` one after another, each at a SIGHUP. */
function reloads(first: string, texts: readonly string[]) {
  const { log, records } = recordingLog();
  const applied: Config[] = [];
  const rest = [...texts];
  const hangup = createReload({ log }, load(first).config, () => load(rest.shift() ?? "").config, {
    apply: (config) => void applied.push(config),
  });
  for (const _ of texts) hangup();
  return { applied, records };
}

function refusing(): never {
  throw new MirrorError("database", "no room");
}

describe("SIGHUP", () => {
  // Fault: files | a config with a mistake while `serve` runs | the file that is read again | logged, and the old config stays
  test("a good config is taken, a bad one is logged and the old one kept", () => {
    const more = `  other:\n    token: \${env:TOKEN}\n`;
    const { applied, records } = reloads(minimal(), ["companies: 1", minimal(more)]);
    expect(applied.map(({ companies }) => companies.length)).toEqual([2]);
    expect(records()).toMatchObject([
      { level: "error", msg: expect.stringMatching(/kept as it was: config\.yaml:1/) },
      { level: "info", companies: ["acme", "other"] },
    ]);
  });

  test("address and folder wait for a restart, and that is logged", () => {
    const moved = minimal("serve: { listen: 127.0.0.1:1 }\ndata_dir: elsewhere\n");
    const { applied, records } = reloads(minimal(), [moved]);
    expect(applied[0]).toMatchObject({ serve: { port: 8787 }, dataDir: "/home/me/data" });
    const warnings = records().filter(({ level }) => level === "warn");
    expect(warnings.map(({ msg }) => String(msg).split(" ")[0])).toEqual(["serve.listen", "data_dir"]);
  });

  // Fault: process | an unforeseen error while the config is read again | the reload function | the daemon continues
  test("an error that nobody foresaw keeps the daemon going, too", () => {
    const { log, records } = recordingLog();
    createReload({ log }, load(minimal()).config, () => load(minimal()).config, { apply: refusing })();
    expect(records().at(-1)).toMatchObject({ level: "error", msg: expect.stringContaining("no room") });
  });
});
