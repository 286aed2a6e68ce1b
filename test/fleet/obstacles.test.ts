import path from "node:path";
import { expect, test } from "vitest";
import { jsonLines, root, runCommand, runProgram, temporaryFolder } from "../support/cli.ts";
import { connectNode, describeWithPostgres, freshDatabase, ownServer } from "../support/postgres.ts";
import { guardedRole } from "../support/postgres-server.ts";

const companies = `companies: { acme: { token: "\${env:ACME}" } }\n`;
const fleet = `fleet: { postgres: "\${env:DATABASE_URL}", snapshots: s3://bucket/mirrors }\n`;

/** `fleet list` of somebody whose config names this address. */
const listOf = (databaseUrl: string | undefined) =>
  runCommand(["fleet", "list"], {
    cwd: temporaryFolder({ "config.yaml": fleet }),
    env: databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl },
  });

describeWithPostgres("what keeps an operator from the fleet", () => {
  // Fault: network | Postgres is away | a command of the fleet | exit 10, the server's name, what to check, and no password
  test("Postgres is away: exit 10 with what to check, and no password", async () => {
    const { code, stdout, stderr } = await listOf("postgres://mirror:s3cret-word@127.0.0.1:1/fleet");
    expect({ code, stdout }).toEqual({ code: 10, stdout: "" });
    expect(jsonLines(stderr).at(-1)).toMatchObject({
      msg: expect.stringContaining("Postgres at 127.0.0.1:1/fleet does not answer"),
      hint: expect.stringContaining("fleet.postgres"),
    });
    expect(stderr).not.toContain("s3cret-word");
  });

  // Fault: secrets | a wrong password of Postgres | a command of the fleet | exit 10, what to check, and no password (I9)
  test("I9: the password is wrong: it is not shown", async () => {
    const server = await ownServer();
    const postgres = await connectNode(server.url("postgres"));
    await postgres.query(`CREATE ROLE ${guardedRole} LOGIN PASSWORD 'the-right-word'`);
    const url = server.url("postgres").replace(/\/\/.*@/, `//${guardedRole}:the-wrong-word@`);
    const { code, stderr } = await listOf(url);
    expect(code).toBe(10);
    expect(jsonLines(stderr).at(-1)).toMatchObject({
      msg: expect.stringContaining("password authentication failed"),
      hint: expect.stringContaining("the user and the password in fleet.postgres"),
    });
    expect(stderr).not.toMatch(/the-(right|wrong)-word/);
  });

  test("the tables are not there: says what makes them", async () => {
    const { stderr, code } = await listOf(await freshDatabase({ tables: false }));
    expect(code).toBe(10);
    expect(jsonLines(stderr).at(-1)?.["hint"]).toContain("fleet add");
  });

  test("the secret is missing: names the variable", async () => {
    const { stderr, code } = await listOf(undefined);
    expect(code).toBe(2);
    expect(jsonLines(stderr).at(-1)).toMatchObject({
      msg: "fleet.postgres: the environment variable DATABASE_URL is not set",
      hint: expect.stringContaining("postgres://user:password@host/database"),
    });
  });

  test("the place of snapshots cannot be written: the worker ends, and nothing of it stays", async () => {
    const config = `data_dir: data\nfleet: { postgres: "\${env:DATABASE_URL}", snapshots: /proc/snapshots }\n`;
    const { code, stderr } = await runProgram(["worker", "--listen", "127.0.0.1:0"], {
      cwd: temporaryFolder({ "config.yaml": config }),
      env: { DATABASE_URL: await freshDatabase() },
    });
    expect({ code, last: jsonLines(stderr).at(-1) }).toMatchObject({
      code: 1,
      last: { hint: expect.stringContaining("Check that the folder is mounted on this node") },
    });
  });

  test.each([
    ["pg", "list"],
    ["pg-boss", "add --all"],
  ])("the package %s is not installed: how to add it", async (name, line) => {
    const url = await freshDatabase();
    const hook = new URL("../support/without-packages.ts", import.meta.url).href;
    const { code, stderr } = await runProgram([path.join(root, "src/main.ts"), "fleet", ...line.split(" ")], {
      file: `--import=${hook}`,
      cwd: temporaryFolder({ "config.yaml": companies + fleet }),
      env: { DATABASE_URL: url, WITHOUT_PACKAGES: name },
    });
    expect(code).toBe(2);
    expect(jsonLines(stderr).at(-1)).toMatchObject({ hint: "npm install pg pg-boss" });
  });
});
