import { describe, expect, onTestFinished, test } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { takeWriterLock } from "../../src/store/writer-lock.ts";
import { fingerprintOf, rememberIdentity } from "../../src/state/meta.ts";
import { everyNameLeadsTo } from "../support/http/names.ts";
import { openSandbox } from "../support/sandbox/sandbox.ts";
import { openSink } from "../support/sandbox/webhook-sink.ts";
import { jsonLines, runCommand, temporaryFolder } from "../support/program/cli.ts";

interface Access {
  readonly url: string;
  readonly token: string;
}

function configOf({ url, token }: Access): string {
  return `base_url: ${url}\ndata_dir: .\ncompanies: { acme: { token: "${token}" } }\n`;
}

function folderFor(access: Access): string {
  return temporaryFolder({ "config.yaml": configOf(access) });
}

interface Checks {
  readonly ok: boolean;
  readonly checks: readonly { readonly name: string; readonly status: string; readonly kind?: string }[];
}

async function checksIn(cwd: string) {
  const { code, stdout, stderr } = await runCommand(["check", "--json", "-v"], { cwd });
  const [document] = jsonLines(stdout) as unknown as [Checks];
  return { code, ...document, printed: stdout + stderr };
}

describe("check", () => {
  test("passes against a service that answers, one line for each thing looked at, with one request", async () => {
    const sandbox = await openSandbox();
    const { code, stdout } = await runCommand(["check"], { cwd: folderFor(sandbox) });
    expect(code).toBe(0);
    expect(sandbox.requests().map(({ path }) => path)).toEqual([expect.stringMatching(/\/whoami$/)]);
    const names = stdout
      .split("\n")
      .flatMap((line) => /^(?:ok {4}|warn {2}(?=node:))((?:acme )?\w+):/.exec(line)?.[1] ?? []);
    const shared = ["config", "node", "base_url", "data_dir", "disk", "modes"];
    const own = ["token", "identity", "clock", "lock", "webhook"].map((name) => `acme ${name}`);
    expect(names).toEqual([...shared, ...own]);
  });

  // Fault: network | the name of a receiver leads to a private network, or to nothing | `check` | its row fails and says why; it is sent nothing
  test("has a row for each receiver of changes, and sends none anything", async () => {
    everyNameLeadsTo("10.0.0.1");
    const [sandbox, sink] = [await openSandbox(), await openSink()];
    const secret = `secret: whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const entry = (url: string, more = "") => `  - { url: "${url}", ${secret}${more} }\n`;
    const isPrivate = ", allow_private: on";
    const urls = ["https://8.8.8.8/a", "https://erp.example.com/b", "https://erp.example.com/c"] as const;
    const entries = [entry(urls[0]), entry(urls[1]), entry(urls[2], isPrivate), entry(sink.url, isPrivate)];
    const cwd = temporaryFolder({ "config.yaml": `${configOf(sandbox)}notify:\n${entries.join("")}` });
    const { code, checks } = await checksIn(cwd);
    const allowed = expect.stringContaining(": its address is allowed, and its secret is there") as string;
    expect(checks.filter(({ name }) => name === "notify")).toMatchObject([
      { status: "ok", detail: allowed },
      { status: "fail", detail: expect.stringMatching(/^erp\.example\.com \w{8}: it leads to this machine/) },
      { status: "ok", detail: allowed },
      { status: "ok", detail: allowed },
    ]);
    expect([code, sink.received]).toEqual([1, []]);
  });

  test("I9: with a token that is not one exits 4 and never shows it", async () => {
    const { url } = await openSandbox();
    const { code, ok, checks, printed } = await checksIn(folderFor({ url, token: "sk_wrong_0123456789" }));
    expect({ code, ok }).toEqual({ code: 4, ok: false });
    expect(checks).toContainEqual(
      expect.objectContaining({ name: "token", status: "fail", kind: "unauthenticated" }),
    );
    expect(printed).not.toContain("sk_wrong");
  });

  test("I10: with the token of another company than the mirror's exits 4", async () => {
    const cwd = folderFor(await openSandbox());
    const mirror = await openMirror(`${cwd}/acme.db`, manifest);
    const fingerprint = fingerprintOf("another token", "s");
    const identity = { name: "Iná s. r. o.", salt: "s", fingerprint, businessId: null };
    mirror.apply(() => rememberIdentity(mirror, identity));
    mirror.db.close();
    const { code, checks } = await checksIn(cwd);
    const failed = expect.objectContaining({ name: "identity", status: "fail", kind: "identity" }) as unknown;
    expect({ code, checks }).toEqual({ code: 4, checks: expect.arrayContaining([failed]) });
  });

  test("without a service exits 1, and warns while another process writes the mirror", async () => {
    const cwd = folderFor({ url: "http://127.0.0.1:9/api", token: "sk_of_nobody" });
    const lock = takeWriterLock(`${cwd}/acme.lock`, "sync");
    onTestFinished(() => lock.release());
    const { code, stdout } = await runCommand(["check"], { cwd });
    expect(code).toBe(1);
    expect(stdout).toContain("fail  acme token: GET /whoami");
    expect(stdout).toMatch(/warn {2}acme lock: being written by process \d+ \(sync, since /);
  });

  test("shows every mistake of the config, with file, line and column", async () => {
    const cwd = temporaryFolder({
      "config.yaml": "companies:\n  acme:\n    tokn: abc\nhttp: { timeout: 5 }\n",
    });
    const { code, checks } = await checksIn(cwd);
    expect(code).toBe(2);
    expect(checks).toMatchObject([
      { detail: "config.yaml:3:5: unknown key tokn in companies.acme. Did you mean token?" },
      { detail: expect.stringContaining("config.yaml:4:18: http.timeout must be a duration") },
    ]);
  });
});
