import { expect, test } from "vitest";
import { jsonLines, runCommand, runProgram, temporaryFolder, type Ended } from "../support/program/cli.ts";
import { connectNode, describeWithPostgres, freshDatabase } from "../support/postgres/databases.ts";
import { runFleet } from "../support/fleet/fleet.ts";
import { takenPort } from "../support/http/http.ts";
import { guardedRole } from "../support/postgres/server.ts";

const companies = `companies: { acme: { token: "\${env:ACME}" } }\n`;
const fleet = `fleet: { postgres: "\${env:DATABASE_URL}", snapshots: s3://bucket/mirrors }\n`;

/** `fleet list` of somebody whose config names this address. */
const listOf = (url: string) => runFleet({ url }, ["list"]);
const away = () => "postgres://mirror:s3cret-word@127.0.0.1:1/fleet";
const unknownHost = (url: string) => url.replace("127.0.0.1", "nowhere.invalid");
const folderOf = (config: string) => temporaryFolder({ "config.yaml": config });
const refusalOf = ({ code, stderr }: Ended) => ({ code, ...jsonLines(stderr).at(-1) });

describeWithPostgres("what keeps an operator from the fleet", () => {
  // Fault: network | Postgres is away | a command of the fleet | exit 10, the server's name, what to check, and no password
  test.each<[string, (url: string) => string, message: string, hint: string]>([
    ["Postgres is away", away, "Postgres at 127.0.0.1:1/fleet does not answer", "fleet.postgres"],
    ["its host is unknown", unknownHost, "does not answer", "Check that"],
    ["the database is not there", (url) => `${url}_missing`, "does not exist", "Create the database"],
    ["it offers no TLS", (url) => `${url}?sslmode=verify-full`, "", "sslmode"],
    ["the tables are not there", (url) => url, "", "fleet add"],
  ])("%s: exit 10 with what to do, and no password", async (_, urlOf, message, hint) => {
    const url = urlOf(await freshDatabase({ tables: false }));
    const ended = await listOf(url);
    const msg = expect.stringContaining(message) as string;
    expect(refusalOf(ended)).toMatchObject({ code: 10, msg, hint: expect.stringContaining(hint) });
    expect(ended.stdout).toBe("");
    expect(ended.stderr).not.toContain("s3cret-word");
  });

  // Fault: secrets | a wrong password of Postgres | a command of the fleet | exit 10, what to check, and no password (I9)
  test("I9: the password is wrong: it is not shown", async () => {
    const url = await freshDatabase({ tables: false });
    const role = `DROP ROLE IF EXISTS ${guardedRole}; CREATE ROLE ${guardedRole} LOGIN PASSWORD 'the-right-word'`;
    await (await connectNode(url)).query(role);
    const ended = await listOf(url.replace(/\/\/.*@/, `//${guardedRole}:the-wr%C3%B6ng-word%20@`));
    expect(refusalOf(ended)).toMatchObject({
      code: 10,
      msg: expect.stringContaining("password authentication failed"),
      hint: expect.stringContaining("the user and the password in fleet.postgres"),
    });
    expect(ended.stderr).not.toMatch(/the-(right|wr.+ng)-word/);
  });

  test("a worker that is to hold chosen companies says who chooses them", async () => {
    const start = { cwd: folderOf(fleet), env: { DATABASE_URL: "postgres:///f" } };
    const refusal = refusalOf(await runCommand(["worker", "--company", "acme"], start));
    expect(refusal).toMatchObject({ code: 2, hint: expect.stringContaining("fleet add") });
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

  test("the secret is missing: names the variable", async () => {
    expect(refusalOf(await runCommand(["fleet", "list"], { cwd: folderOf(fleet), env: {} }))).toMatchObject({
      code: 2,
      msg: "fleet.postgres: the environment variable DATABASE_URL is not set",
      hint: expect.stringContaining("postgres://user:password@host/database"),
    });
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
    expect(refusalOf(ended)).toMatchObject({ code: 2, hint: "npm install pg pg-boss" });
  });
});
