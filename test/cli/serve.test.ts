import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { jsonLines, runCommand, temporaryFolder } from "../support/program/cli.ts";
import { minimal } from "../support/connector/config.ts";
import { takenPort } from "../support/http/http.ts";

const env = { TOKEN: "token-of-acme" };

/** `serve` in a folder with this config; it must end by itself. */
async function playServe(config: string, ...args: string[]) {
  const cwd = temporaryFolder({ "config.yaml": minimal(config) });
  const result = await runCommand(["serve", ...args], { cwd, env });
  return { ...result, last: jsonLines(result.stderr).at(-1), touched: existsSync(path.join(cwd, "data")) };
}

describe("serve does not begin", () => {
  // Fault: process | the port is taken | another server | refused before anything is locked or written
  test("on a port that is taken: refused before anything is locked or written", async () => {
    const port = await takenPort();
    const { code, last, touched } = await playServe("", "--listen", `127.0.0.1:${port}`);
    expect(code).toBe(10);
    expect(last).toMatchObject({ level: "error", msg: expect.stringContaining(`127.0.0.1:${port}`) });
    expect(touched).toBe(false);
  });

  test("with a pattern that only looks like one", async () => {
    for (const key of ["sync", "quick", "publish"]) {
      const { code, last } = await playServe(`schedule: { ${key}: "99 2 * * *" }`);
      expect(code).toBe(2);
      expect(last).toMatchObject({ kind: "config", msg: expect.stringContaining("99 2 * * *") });
    }
  });

  test("at an address that is none, for a company that is none, or with nothing to mirror", async () => {
    expect(await playServe("", "--listen", "8787")).toMatchObject({ code: 2, last: { kind: "usage" } });
    expect(await playServe("", "--company", "nobody")).toMatchObject({ code: 2, last: { kind: "usage" } });
    const nothing = await playServe("resources: { include: [] }");
    expect(nothing).toMatchObject({ code: 2, last: { kind: "config" } });
  });
});
