import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { jsonLines, runCommand, temporaryFolder } from "../support/program/cli.ts";

const reference = fileURLToPath(new URL("../../../shared/reference/fintoro-openapi.yaml", import.meta.url));

describe("connector check", () => {
  test.runIf(existsSync(reference))("finds nothing to break against the vendor's reference", async () => {
    const { code, stdout } = await runCommand(["connector", "check", "--openapi", reference, "--json"]);
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toMatchObject([{ breaking: 0 }]);
  });

  test.each(["empty.yaml", "empty.json"])(
    "exits 1 on a reference that lacks what the connector calls: %s",
    async (file) => {
      const cwd = temporaryFolder({
        "empty.yaml": "openapi: 3.1.0\ninfo: { title: t, version: '1' }\npaths: {}\n",
        "empty.json": '{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{}}',
      });
      const result = await runCommand(["connector", "check", "--openapi", file], { cwd });
      expect(result).toMatchObject({ code: 1, stdout: expect.stringMatching(/^breaking {2}GET \/whoami/m) });
    },
  );
});
