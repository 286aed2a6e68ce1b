import path from "node:path";
import { expect, test } from "vitest";
import { runCommand, temporaryFolder } from "../support/program/cli.ts";
import { aCompany } from "../support/company/company.ts";
import { wound } from "../support/verify/verify.ts";

test("a quiet command prints nothing when it is complete, for cron mails what is printed; one that is not says why", async () => {
  const { proxy, sandbox } = await aCompany({ records: 1 });
  const config = `base_url: ${proxy.baseUrl}\ndata_dir: .\ncompanies: { acme: { token: "\${env:TOKEN}" } }\n`;
  const cwd = temporaryFolder({ "config.yaml": `${config}schedule: { publish: off }\n` });
  const run = async (line: string) => ({
    line,
    ...(await runCommand(line.split(" "), { cwd, env: { TOKEN: sandbox.token } })),
  });
  const expectNothing = async (line: string) =>
    expect(await run(line)).toEqual({ line, code: 0, stdout: "", stderr: "" });
  const mirror = { file: path.join(cwd, "acme.db") };
  for (const line of ["sync --quiet", "-q verify --local", "-q publish --combined"])
    await expectNothing(line);
  // A record of an event, to be read once more in a minute.
  const recheck = "VALUES ('clients', '1', 'detail', 0, ?, 'recheck', 0)";
  const columns = "resource, target, kind, lane, due_ms, reason, dirty_seq";
  wound(mirror, `INSERT INTO _work (${columns}) ${recheck}`, Date.now() + 60_000);
  await expectNothing("sync --quiet");
  const limited = await run("--quiet sync --full --max-requests 1");
  expect(limited).toMatchObject({ code: 5, stdout: expect.stringMatching(/^acme: stopped/) });
  wound(mirror, "UPDATE clients SET name = 'another'");
  const wounded = await run("-q verify --local");
  expect(wounded).toMatchObject({ code: 1, stdout: expect.stringContaining("differs in name") });
});
