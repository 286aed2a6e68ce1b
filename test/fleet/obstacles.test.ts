import { expect, test } from "vitest";
import { jsonLines, runCommand, runProgram, temporaryFolder, type Ended } from "../support/program/cli.ts";
import { connectNode, describeWithPostgres, freshDatabase } from "../support/postgres/databases.ts";
import { runFleet } from "../support/fleet/fleet.ts";
import { takenPort } from "../support/http/http.ts";
import { guardedRole } from "../support/postgres/server.ts";

const companies = `companies: { acme: { token: "\${env:ACME}" } }\n`;
const fleet = `fleet: { postgres: "\${env:DATABASE_URL}", snapshots: s3://bucket/mirrors }\n`;

const away = () => "postgres://mirror:s3cret-word@127.0.0.1:1/fleet";
const unknownHost = (url: string) => url.replace("127.0.0.1", "nowhere.invalid");
async function wrongPassword(url: string): Promise<string> {
  const role = `DROP ROLE IF EXISTS ${guardedRole}; CREATE ROLE ${guardedRole} LOGIN PASSWORD 's3cret-word'`;
  await (await connectNode(url)).query(role);
  return url.replace(/\/\/.*@/, `//${guardedRole}:the-wr%C3%B6ng-word%20@`);
}
const folderOf = (config: string) => temporaryFolder({ "config.yaml": config });
const refusalOf = ({ code, stderr }: Ended) => ({ code, ...jsonLines(stderr).at(-1) });

describeWithPostgres("what keeps an operator from the fleet", () => {
  // Fault: network | Postgres is away | a command of the fleet | exit 10, the server's name, what to check, and no password
  // Fault: secrets | a wrong password of Postgres | a command of the fleet | exit 10, what to check, and no password (I9)
  test.each<[string, (url: string) => string | Promise<string>, message: string, hint: string]>([
    ["Postgres is away", away, "Postgres at 127.0.0.1:1/fleet does not answer", "fleet.postgres"],
    ["its host is unknown", unknownHost, "does not answer", "Check that"],
    ["the database is not there", (url) => `${url}_missing`, "does not exist", "Create the database"],
    ["it offers no TLS", (url) => `${url}?sslmode=verify-full`, "", "sslmode"],
    ["the tables are not there", (url) => url, "", "fleet add"],
    ["I9: the password is wrong", wrongPassword, "password authentication failed", "user and the password"],
  ])("%s: exit 10 with what to do, and no password", async (_, urlOf, message, hint) => {
    const url = await urlOf(await freshDatabase({ tables: false }));
    const ended = await runFleet({ url }, ["list"]);
    const msg = expect.stringContaining(message) as string;
    expect(refusalOf(ended)).toMatchObject({ code: 10, msg, hint: expect.stringContaining(hint) });
    expect(ended.stdout).toBe("");
    expect(ended.stderr).not.toMatch(/s3cret-word|the-wr.+ng-word/);
  });

  const given = { DATABASE_URL: "postgres:///f" };
  const unset = "fleet.postgres: the environment variable DATABASE_URL is not set";
  test.each([
    ["a worker is to hold chosen companies", "worker --company acme", given, "", "fleet add"],
    ["the secret is missing", "fleet list", {}, unset, "postgres://user:password@host/database"],
  ])("%s: exit 2 with what to do", async (_, line, env, message, hint) => {
    const ended = await runCommand(line.split(" "), { cwd: folderOf(fleet), env });
    const msg = expect.stringContaining(message) as string;
    expect(refusalOf(ended)).toMatchObject({ code: 2, msg, hint: expect.stringContaining(hint) });
  });

  // Fault: disk | the folder of snapshots cannot be made | a worker starts | it names key and folder, and its process ends
  test("a worker whose store cannot be written names it, and its process ends", async () => {
    const snapshots = "/proc/nowhere/mirrors";
    const one = { postgres: "${env:DATABASE_URL}", snapshots, node: "one" };
    const cwd = folderOf(JSON.stringify({ fleet: one }));
    const start = { cwd, env: { DATABASE_URL: await freshDatabase() } };
    const { code, stderr } = await runProgram(["worker", "--listen", "127.0.0.1:0"], start);
    expect(code).toBe(1);
    const msg = `fleet.snapshots (${snapshots}): the folder refused ${snapshots}/.nodes/one: there is no such file or folder`;
    const hint = expect.stringContaining("mounted on this machine") as string;
    expect(jsonLines(stderr)).toMatchObject([{ msg, hint }]);
  });

  // Fault: network | the port of a worker is taken | a worker starts | it says so, and its process ends
  test("a worker whose port is taken says so, and its process ends", async () => {
    const args = ["worker", "--role", "receive", "--listen", `127.0.0.1:${await takenPort()}`];
    const start = { cwd: folderOf(fleet), env: { DATABASE_URL: await freshDatabase() } };
    const { code, stderr } = await runProgram(args, start);
    expect(code).toBe(10);
    const msg = expect.stringContaining("cannot listen") as string;
    expect(jsonLines(stderr)).toMatchObject([{ level: "error", msg }]);
  });

  test.each([
    ["pg", "list"],
    ["pg-boss", "add --all"],
  ])("the package %s is not installed: how to add it", async (name, line) => {
    const url = await freshDatabase();
    const hook = new URL("../support/program/without-packages.ts", import.meta.url).href;
    const ended = await runProgram(["fleet", ...line.split(" ")], {
      nodeOptions: ["--import", hook],
      cwd: folderOf(companies + fleet),
      env: { DATABASE_URL: url, WITHOUT_PACKAGES: name },
    });
    expect(refusalOf(ended)).toMatchObject({
      code: 2,
      hint: expect.stringContaining("npm install --save-prod ") as string,
    });
  });
});
