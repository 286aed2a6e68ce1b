import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { takeWriterLock } from "../../src/store/writer-lock.ts";
import { fingerprintOf, rememberIdentity } from "../../src/state/meta.ts";
import { withMirror } from "../support/export/published.ts";
import { everyNameLeadsTo } from "../support/http/names.ts";
import { openSandbox } from "../support/sandbox/sandbox.ts";
import { openSink } from "../support/sandbox/webhook-sink.ts";
import { jsonLines, runCommand, temporaryFolder } from "../support/program/cli.ts";
import { jumpingClock } from "../support/terminal/terminal.ts";
import {
  checkBaseUrl,
  checkDataDir,
  checkModes,
  checkWebhook,
  judgeClock,
  judgeFreeSpace,
} from "../../src/cli/commands/upkeep/check.ts";
import { load } from "../support/connector/config.ts";

function configOf({ url, token }: { readonly url: string; readonly token: string }): string {
  return `base_url: ${url}\ndata_dir: .\ncompanies: { acme: { token: "${token}" } }\n`;
}

const folderFor = (...access: Parameters<typeof configOf>) =>
  temporaryFolder({ "config.yaml": configOf(...access) });

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
    expect(sandbox.requests().map((asked) => asked.path)).toEqual([expect.stringMatching(/\/whoami$/)]);
    const names = stdout
      .split("\n")
      .flatMap((line) => /^(?:ok {4}|warn {2}(?=node:))((?:acme )?\w+):/.exec(line)?.[1] ?? []);
    const shared = ["config", "node", "base_url", "data_dir", "resources", "disk", "modes"];
    const own = ["token", "identity", "clock", "lock", "webhook"].map((name) => `acme ${name}`);
    expect(names).toEqual([...shared, ...own]);
  });

  test.each([
    [
      "records that no run reads, as the config leaves out what brings them",
      "include: [clients, contact_activity_logs]",
      "not read, as what brings them is left out: contact_activity_logs of suppliers, contact_activity_logs of business_cases; views read tables",
    ],
    [
      "views that read tables which the config leaves out",
      "exclude: [quotations]",
      "views read tables that are left out: v_quotations (quotations)",
    ],
  ])("names the %s", async (_, resources, detail) => {
    const config = `${configOf(await openSandbox())}resources: { ${resources} }\n`;
    const { code, checks } = await checksIn(temporaryFolder({ "config.yaml": config }));
    const warned = { status: "warn", detail: expect.stringContaining(detail) as string };
    expect([code, checks.find(({ name }) => name === "resources")]).toMatchObject([0, warned]);
  });

  test("with --json says what it waits for", async () => {
    const clock = jumpingClock(Date.now());
    const cwd = folderFor(await openSandbox());
    const { stderr } = await runCommand(["check", "--json"], { cwd, clock });
    expect(stderr).toContain("acme: asking the service whose the token is");
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
    const failed = { name: "token", status: "fail", kind: "unauthenticated" };
    expect(checks).toContainEqual(expect.objectContaining(failed));
    expect(printed).not.toContain("sk_wrong");
  });

  test("I10: with the token of another company than the mirror's exits 4", async () => {
    const cwd = folderFor(await openSandbox());
    const fingerprint = fingerprintOf("another token", "s");
    const identity = { name: "Iná s. r. o.", salt: "s", fingerprint, businessId: null };
    await withMirror(cwd, (mirror) => mirror.apply(() => rememberIdentity(mirror, identity)));
    const { code, checks } = await checksIn(cwd);
    const failed = expect.objectContaining({ name: "identity", status: "fail", kind: "identity" }) as unknown;
    expect({ code, checks }).toEqual({ code: 4, checks: expect.arrayContaining([failed]) });
  });

  test("without a service exits 1, and warns while another process writes the mirror", async () => {
    const cwd = folderFor({ url: "http://127.0.0.1:9/api", token: "sk_of_nobody" });
    using _ = takeWriterLock(`${cwd}/acme.lock`, "sync");
    const { code, stdout } = await runCommand(["check"], { cwd });
    expect([code, stdout]).toEqual([1, expect.stringContaining("fail  acme token: GET /whoami")]);
    expect(stdout).toMatch(/warn {2}acme lock: being written by process \d+ \(sync, since /);
  });
});

// Fault: clock | this machine's clock differs from the service's by up to a day | the `Date` header that `check` reads | a warning above a minute, a failure from five minutes on
test.each([
  [null, "warn", "the service does not send its time"],
  [0, "ok", "0 s behind the service"],
  [2_000, "ok", "2 s ahead of the service"],
  [-61_000, "warn", "61 s behind the service"],
  [300_000, "fail", "300 s ahead of the service"],
  [-86_400_000, "fail", "86400 s behind the service"],
])("the clock: %s ms off is %s", (offMs, status, detail) => {
  expect(judgeClock(offMs)).toMatchObject({ status, detail });
});

describe("the data folder", () => {
  test("that is not there yet is judged by the one it will be made in", () => {
    const folder = temporaryFolder();
    expect(checkDataDir(folder)).toMatchObject({ status: "ok", detail: folder });
    const deep = path.join(folder, "a/b/c");
    expect(checkDataDir(deep)).toMatchObject({ status: "ok", detail: `${deep} (will be made)` });
  });

  // Fault: disk | little space is left | the free space that `check` judges | a warning below 1 GB, a failure below 100 MB
  test.each([
    [5_000_000_000, "ok"],
    [999_999_999, "warn"],
    [99_999_999, "fail"],
  ])("with %i bytes free is %s", (free, status) => {
    expect(judgeFreeSpace(free).status).toBe(status);
  });
});

function modesIn(folder: string, more = "") {
  return checkModes(load(`data_dir: ${folder}\ncompanies: { acme: { token: t-of-acme } }\n${more}`).config);
}

describe("modes", () => {
  test("of what other users can read are worth a look", () => {
    const folder = temporaryFolder({ "acme.db": "", "config.yaml": "" });
    chmodSync(`${folder}/acme.db`, 0o600);
    expect(modesIn(folder).status).toBe("ok");
    chmodSync(`${folder}/acme.db`, 0o640);
    const detail = `other users have rights on ${folder}/acme.db (0640)`;
    expect(modesIn(folder)).toMatchObject({ status: "warn", detail });
    chmodSync(folder, 0o755);
    const both = `other users have rights on ${folder} (0755), and 1 more`;
    expect(modesIn(folder)).toMatchObject({ status: "warn", detail: both });
    const out = path.join(folder, "out");
    mkdirSync(path.join(out, "acme"), { recursive: true });
    expect(modesIn(temporaryFolder(), `exports: [{ format: csv, out: ${out} }]`).detail).toContain(out);
  });

  // As in a folder that another user has closed: the checks after it are made.
  test("of what cannot be looked at end no check", () => {
    const loop = path.join(temporaryFolder(), "loop");
    symlinkSync(loop, loop);
    expect(modesIn(loop).status).toBe("ok");
  });

  test("of a report are those of the config, in a folder of its own", () => {
    const folder = temporaryFolder({ "acme.report.db": "" });
    chmodSync(folder, 0o750);
    chmodSync(`${folder}/acme.report.db`, 0o640);
    const report = (mode: string) =>
      modesIn(temporaryFolder(), `report: { out: ${folder}, mode: "${mode}" }`);
    expect(report("0640").status).toBe("ok");
    expect(report("0600")).toMatchObject({ status: "warn", detail: expect.stringContaining(folder) });
    const hint = "set report.out to a folder of its own";
    expect(modesIn(temporaryFolder(), 'report: { mode: "0640" }')).toMatchObject({ status: "warn", hint });
  });
});

test("base_url is the published one, this machine, or worth a look", () => {
  const published = "https://app.fintoro.sk/api/public/v1";
  expect(checkBaseUrl(published, published).status).toBe("ok");
  expect(checkBaseUrl("http://127.0.0.1:80/api", published).status).toBe("ok");
  const hint = expect.stringContaining(published) as string;
  expect(checkBaseUrl("https://app.fintoro.sk/api", published)).toMatchObject({ status: "warn", hint });
});

const signed = (url: string) => `public_url: ${url}, secrets: [whsec_0123456789]`;

describe("the webhook URL", () => {
  const addresses: Readonly<Record<string, readonly string[]>> = {
    "hooks.example.com": ["8.8.8.8", "2a00:1450::1"],
    "inside.example.com": ["8.8.8.8", "10.1.2.3"],
  };
  const lookup = (host: string) => {
    const found = addresses[host];
    return found ? Promise.resolve(found) : Promise.reject(new Error("ENOTFOUND"));
  };
  const judged = async (webhook: string, base = "https://service.example") => {
    const { config } = load(`base_url: ${base}\ncompanies: { acme: { token: t, webhook: { ${webhook} } } }`);
    const [company] = config.companies;
    return company && checkWebhook({ config, company }, lookup);
  };

  test.each([
    ["", "ok", "not configured"],
    ["secrets: [whsec_0123456789]", "ok", "no public_url: deliveries are taken"],
    [signed("https://hooks.example.com/webhooks/acme"), "ok", "https://hooks.example.com/webhooks/acme"],
    ["public_url: https://hooks.example.com/webhooks/acme", "warn", "has no secret"],
    [signed("https://hooks.example.com/in"), "warn", "does not end in /webhooks/acme"],
    [signed("https://nowhere.example.com/"), "warn", "cannot be resolved here"],
    [signed("https://inside.example.com/"), "fail", "inside.example.com (10.1.2.3) is not a public address"],
  ])("%s", async (webhook, status, detail) => {
    expect(await judged(webhook)).toMatchObject({ status, detail: expect.stringContaining(detail) });
  });

  test("that another company has, too, can bring the deliveries of one of both only", async () => {
    const webhook = `webhook: { ${signed("https://hooks.example.com/webhooks/acme")} }`;
    const companies = `{ acme: { token: t, ${webhook} }, beta: { token: u, ${webhook} } }`;
    const { config } = load(`base_url: https://service.example\ncompanies: ${companies}`);
    const both = config.companies.map((company) => checkWebhook({ config, company }, lookup));
    expect(await Promise.all(both)).toMatchObject([
      { status: "fail", detail: expect.stringContaining("is that of beta, too") },
      { status: "fail", detail: expect.stringContaining("is that of acme, too") },
    ]);
  });

  test("of this machine is fine for a stand-in on this machine", async () => {
    const [url, base] = ["http://127.0.0.1:8787/webhooks/acme", "http://127.0.0.1:4000"];
    expect(await judged(signed(url), base)).toMatchObject({ status: "ok" });
    expect(await judged(`public_url: ${url}`, base)).toMatchObject({ status: "warn" });
  });
});
