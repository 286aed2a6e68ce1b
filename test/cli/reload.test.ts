import { describe, expect, test } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import { createReload } from "../../src/cli/commands/serve.ts";
import type { Config } from "../../src/config/config.ts";
import { load, minimal } from "../support/connector/config.ts";
import { recordingLog } from "../support/terminal/terminal.ts";

function refusing(): never {
  throw new MirrorError("database", "no room");
}

describe("SIGHUP", () => {
  test("address and folder wait for a restart, and that is logged", () => {
    const { log, records } = recordingLog();
    const applied: Config[] = [];
    const moved = minimal("serve: { listen: 127.0.0.1:1 }\ndata_dir: elsewhere\n");
    const apply = (config: Config) => void applied.push(config);
    createReload({ log }, load(minimal()).config, () => load(moved).config, { apply })();
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
