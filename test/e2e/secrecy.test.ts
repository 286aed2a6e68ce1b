import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { aCompany, type Company } from "../support/company/company.ts";
import { endOf, startProgram } from "../support/program/cli.ts";
import { outputOf } from "../support/program/process-env.ts";
import { writeServeConfig } from "../support/program/serve.ts";
import { odd } from "../support/sandbox/odd-answers.ts";

/** The token in every encoding it could have in a file. */
function encodingsOf(token: string): string[] {
  return [token, encodeURIComponent(token), Buffer.from(token).toString("base64").replace(/=+$/, "")];
}

function filesWithToken({ folder, sandbox }: Company): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return files
    .map((file) => path.join(file.parentPath, file.name))
    .filter((file) => encodingsOf(sandbox.token).some((encoded) => readFileSync(file).includes(encoded)));
}

// Fault: secrets | the service echoes the token in errors | the sandbox, for two lists, with verbose output | the token is in no file and no output, in no encoding (I9)
test("the token (I9) stands in no file of data_dir and in no output, verbose, even when the service echoes it in errors", async () => {
  const company = await aCompany();
  writeServeConfig(company, "", [{ name: "acme", token: '"${env:FINTORO_TOKEN}"' }]);
  const env = { FINTORO_TOKEN: company.sandbox.token };
  company.suffer({ ...odd("echo_token"), match: { path: /^.(suppliers|orders)/ } });
  const child = startProgram(["sync", "-v", "--json"], { cwd: company.folder, env });
  const ended = endOf(child);
  const said = outputOf(child);
  const isSaid = () =>
    [/suppliers.*Server Error/, /orders.*Server Error/].every((one) => one.test(said.stderr));
  await eventually(isSaid, "both errors");
  child.kill("SIGINT");
  const { stdout, stderr, code } = await ended;
  expect([code, stderr]).toEqual([130, expect.stringMatching(/Server Error/)]);
  for (const encoded of encodingsOf(company.sandbox.token)) expect(stdout + stderr).not.toContain(encoded);
  expect(filesWithToken(company)).toEqual([]);
});
