import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { jobText } from "../../src/cli/commands/init.ts";
import { runCommand, temporaryFolder, type InvocationParts } from "../support/program/cli.ts";
import { program } from "../support/program/process-env.ts";
import { fakeTool } from "../support/program/fake-tool.ts";
import { answering } from "../support/terminal/prompts.ts";
import { startOnTerminal } from "../support/terminal/pseudo-terminal.ts";
import { openSandbox } from "../support/sandbox/sandbox.ts";

async function setUp() {
  return { sandbox: await openSandbox({ records: 3, limit: 10_000 }), cwd: temporaryFolder() };
}

type Setup = Awaited<ReturnType<typeof setUp>>;

function init({ cwd, sandbox }: Setup, args: readonly string[], parts: InvocationParts = {}) {
  return runCommand(["init", "--base-url", sandbox.url, ...args], {
    cwd,
    ...parts,
    env: { TOKEN: sandbox.token, HOME: cwd, ...parts.env },
  });
}

const textOf = ({ cwd }: Setup, file: string) => readFileSync(path.join(cwd, file), "utf8");
const modeOf = ({ cwd }: Setup, file: string) => (statSync(path.join(cwd, file)).mode & 0o777).toString(8);

const acme = ["--token-env", "TOKEN", "--company", "acme"];

describe("from options alone", () => {
  test("writes a commented config that check and sync take as it is, and the schema that it names", async () => {
    const setup = await setUp();
    const stdout = expect.stringMatching(
      /config\.yaml is written, for ".+"\n[^]*next: fintoro-mirror sync\n$/,
    );
    expect(await init(setup, [...acme, "--no-input"])).toMatchObject({ code: 0, stdout });
    expect(textOf(setup, "config.yaml")).toMatch(/^base_url: http:\/\/127[^]*# auto: 30m, or 5m/m);
    expect(JSON.parse(textOf(setup, "config.schema.json"))).toMatchObject({ title: "fintoro-mirror config" });
    const there = { cwd: setup.cwd, env: { TOKEN: setup.sandbox.token } };
    expect((await runCommand(["check"], there)).code).toBe(0);
    expect((await runCommand(["sync", "--quiet"], there)).code).toBe(0);
    expect(path.join(setup.cwd, "data/acme.db")).toSatisfy(existsSync);
  });

  test("puts every choice in its place", async () => {
    const setup = await setUp();
    const own = ["--token-env", "TOKEN", "--company", "off", "--schedule", "0 4 * * 1", "--no-input"];
    const url = ["--webhook-url", "https://hooks.example.com/webhooks/off"];
    const made = ["--exports", "csv, parquet", "--files", "attachments"];
    const { code, stdout } = await init(setup, [...own, ...url, ...made]);
    expect(code).toBe(0);
    const text = textOf(setup, "config.yaml");
    expect(text).toContain('\n  "off": #');
    expect(text).toContain("\n  sync: 0 4 * * 1 #");
    expect(text).toContain('secrets: ["${file:./secrets/off-webhook-secret}"]');
    expect(text).toContain("public_url: https://hooks.example.com/webhooks/off\n");
    expect(text).toContain("  - { format: parquet, out: ./reports, after: sync }\n");
    expect(text).toContain("\nfiles: { pdf: off, attachments: on }");
    expect(stdout).toContain("the status page asks for the token in data/page-token\n");
    expect(stdout).not.toContain(textOf(setup, "data/page-token").trim());
    expect(modeOf(setup, "data/page-token")).toBe("600");
  });

  test("names the company as the service does, and the next command as this one was started: with npx", async () => {
    const parts = { env: { npm_command: "exec" } };
    const { stdout } = await init(await setUp(), ["--token-env", "TOKEN", "--json"], parts);
    const { company, name, next } = JSON.parse(stdout) as { company: string; name: string; next: string[] };
    expect(next).toEqual(["npx fintoro-mirror sync"]);
    expect(name).toMatch(/\S/);
    expect(company).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
  });

  test.each([
    [["--company", "a/b"], "company"],
    [["--schedule", "sometimes"], "schedule.sync"],
    [["--webhook-url", "http://example.com/"], "public_url"],
    [["--exports", "parket"], "must be csv, parquet"],
    [["--token-file", "no-file"], "cannot be used with"],
    [["--force", "--config", "."], "is a folder"],
  ])("%j is refused before anything is written", async (args, message) => {
    const setup = await setUp();
    const { code, stderr } = await init(setup, ["--token-env", "TOKEN", "--no-input", ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(path.join(setup.cwd, "config.yaml")).not.toSatisfy(existsSync);
  });

  test("a token's file is named as the config's folder sees it", async () => {
    const setup = await setUp();
    writeFileSync(path.join(setup.cwd, "token"), `${setup.sandbox.token}\n`);
    const conf = ["--config", "etc/config.yaml", "--company", "acme"];
    const { code, stderr } = await init(setup, ["--token-file", "no-file", ...conf]);
    expect(code).toBe(2);
    // The config is not written: it has no line that could be looked at.
    expect(stderr).toMatch(/"msg":"companies\.company\.token: [^"]*there is no such file/);
    expect((await init(setup, ["--token-file", "token", ...conf])).code).toBe(0);
    expect(textOf(setup, "etc/config.yaml")).toContain(`token: \${file:${path.join(setup.cwd, "token")}} #`);
  });
});

describe("at a terminal", () => {
  // Fault: secrets | a token is typed at a terminal | answers of a person | it stands in one file of mode 0600 and in no line
  test("asks for what is missing, again for what is wrong, and keeps a typed token in a file for nobody else", async () => {
    const setup = await setUp();
    const tokens = ["file", "a token", "a-wrong-token", "file", setup.sandbox.token];
    const person = answering([...tokens, "a/b", "acme", undefined, "", ["csv"], ["pdf"], "none"]);
    const { code, stdout, stderr } = await init(setup, [], person);
    expect(code).toBe(0);
    expect(person.left).toEqual([]);
    const notOne = "a token has no space and only ASCII characters";
    expect(person.refused).toEqual([notOne, expect.stringContaining("company")]);
    expect(textOf(setup, "config.yaml")).toContain("token: ${file:./secrets/acme-token} #");
    expect(textOf(setup, "secrets/acme-token")).toBe(`${setup.sandbox.token}\n`);
    expect([modeOf(setup, "secrets/acme-token"), modeOf(setup, "secrets")]).toEqual(["600", "700"]);
    expect(textOf(setup, "secrets/.gitignore")).toBe("*\n");
    expect(stdout + stderr + textOf(setup, "config.yaml")).not.toContain(setup.sandbox.token);
    expect((await runCommand(["check"], { cwd: setup.cwd })).code).toBe(0);
  });

  test("writes nothing before the last question is answered, and gives up after three tokens that are refused", async () => {
    const setup = await setUp();
    await init(setup, acme, answering([undefined, "", [], []]));
    const wrong = answering(["file", "wrong-1", "file", "wrong-2", "file", "wrong-3"]);
    expect((await init(setup, [], wrong)).code).toBe(4);
    expect(readdirSync(setup.cwd)).toEqual([]);
  });

  test("installs nothing without a yes, and shows before what it would install", async () => {
    const setup = await setUp();
    const usual = [undefined, "", [], [], "cron"];
    const none = '[ "$1" = - ] || { echo no crontab for me >&2; exit 1; }';
    const { calls, input, ...env } = fakeTool("crontab", `${none}; cat > "$(dirname "$0")/input"`);
    const stderr = expect.stringMatching(/15 2 \* \* \* .* sync --quiet --config /) as string;
    const no = await init(setup, acme, { ...answering([...usual, false]), env });
    expect(no).toMatchObject({ code: 0, stderr });
    expect(calls()).toEqual([]);
    expect((await init(setup, [...acme, "--force"], { ...answering([...usual, true]), env })).code).toBe(0);
    expect(calls()).toEqual(["-l", "-"]);
    expect(input()).toMatch(
      /^15 2 \* \* \* \S*node\S* --disable-sigusr1 \S+main\.\S+ sync --quiet --config \S+\n$/,
    );
  });

  test("a config has one line of the crontab, with the schedule asked for last; those of others stay", async () => {
    const setup = await setUp();
    const own = `sync --quiet --config ${path.join(setup.cwd, "config.yaml")}`;
    const others = [`# 1 2 * * * /bin/node a.js ${own}`, `5 5 * * * /bin/node a.js ${own}.old`];
    const before = [others[0], `1 2 * * * /old/node /old/main.js ${own}`, others[1]].join("\\n");
    const { input, PATH } = fakeTool(
      "crontab",
      `if [ "$1" = - ]; then cat > "$(dirname "$0")/input"; else printf '${before}\\n'; fi`,
    );
    const args = [...acme, "--schedule", "30 0 4 * * 1", "--no-input", "--install", "cron"];
    expect((await init(setup, args, { env: { PATH } })).code).toBe(0);
    const lines = input().split("\n");
    expect(lines).toEqual([...others, expect.stringMatching(/^0 4 \* \* 1 \S*node/), ""]);
  });

  // Fault: process | crontab fails | a program of that name that ends with 1 | the config stays, exit 1, the reason is shown
  test("a crontab that cannot be read is not replaced: the config stays, the reason is shown, exit 1", async () => {
    const setup = await setUp();
    const { PATH, calls } = fakeTool("crontab", "echo not allowed >&2; exit 1");
    const failed = await init(setup, [...acme, "--no-input", "--install", "cron"], { env: { PATH } });
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("not allowed") });
    expect(calls()).toEqual(["-l"]);
    expect(path.join(setup.cwd, "config.yaml")).toSatisfy(existsSync);
  });
});

// Fault: process | Ctrl-C or Ctrl-D at a question of `init --no-color` | the real program on a real terminal | exit 130, nothing is written, no colour was shown
test.each([
  ["Ctrl-C", "\u0003"],
  ["Ctrl-D", "\u0004"],
])("at a real terminal the questions obey --no-color, and %s leaves nothing behind", async (_, key) => {
  const cwd = temporaryFolder();
  const line = `exec '${process.execPath}' '${program}' init --no-color --base-url http://127.0.0.1:9`;
  const terminal = startOnTerminal(line, { cwd });
  await terminal.seen("Where is the access token");
  terminal.type(key);
  expect(await terminal.ended).toBe(130);
  expect(terminal.shown()).not.toContain(`${String.fromCodePoint(27)}[3`);
  expect(readdirSync(cwd)).toEqual([]);
});

test("paths in a crontab or unit mean themselves, whatever characters they have", () => {
  const place = {
    node: "/opt/my node/node",
    entry: "/a/m.js",
    config: `/b/100% "x" $HOME's\\c.yaml`,
    schedule: "1 2 * * *",
  };
  expect(jobText("cron", place)).toBe(
    String.raw`1 2 * * * '/opt/my node/node' --disable-sigusr1 /a/m.js sync --quiet --config '/b/100\% "x" $HOME'\''s\c.yaml'`,
  );
  expect(jobText("systemd", place)).toContain(
    String.raw`ExecStart="/opt/my node/node" --disable-sigusr1 "/a/m.js" serve --config "/b/100%% \"x\" $$HOME's\\c.yaml"`,
  );
});
