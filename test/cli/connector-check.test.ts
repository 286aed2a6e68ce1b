import { expect, test } from "vitest";
import { runCommand, temporaryFolder } from "../support/program/cli.ts";

test.each([
  ["yaml", "openapi: 3.1.0\ninfo: { title: t, version: '1' }\npaths: {}\n"],
  ["json", '{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{}}'],
])("connector check exits 1 on a reference in %s that lacks what the connector calls", async (form, text) => {
  const file = `empty.${form}`;
  const cwd = temporaryFolder({ [file]: text });
  const result = await runCommand(["connector", "check", "--openapi", file], { cwd });
  expect(result).toMatchObject({ code: 1, stdout: expect.stringMatching(/^breaking {2}GET \/whoami/m) });
});
