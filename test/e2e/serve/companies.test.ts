import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { aCompany, sync, type Company } from "../../support/company/company.ts";
import {
  named,
  serve,
  serveHere,
  writeServeConfig,
  type ServedCompany,
} from "../../support/program/serve.ts";
import { deliver, eventOf, secret } from "../../support/program/deliveries.ts";
import { inMirror, wholeRuns, readyOf } from "../../support/company/served-company.ts";
import { eventually } from "../../support/eventually.ts";
import type { Clock } from "../../../src/base/clock.ts";
import type { RunSummary } from "../../../src/sync/context/run-summary.ts";
import { runCommand } from "../../support/program/cli.ts";
import { configOf, impatientClock, startDaemon } from "../../support/program/daemon.ts";

const off = "schedule: { sync: off, publish: off }";

const clientEvent = () => eventOf("clients.updated", 1);

describe("several companies in one daemon", () => {
  // Fault: files | a config with a mistake while `serve` runs | the file that is read again | logged, and the old config stays
  test("SIGHUP: companies come and go, secrets change, a bad config changes nothing", async () => {
    const company = writeServeConfig(await aCompany({ records: 3, companies: 2 }), off);
    const [acme, other] = named(company, "acme", "other") as [ServedCompany, ServedCompany];
    const daemon = await serveHere(company);
    const reload = async (more: string, companies: readonly ServedCompany[], says: string) => {
      writeServeConfig(company, more, companies);
      daemon.send("SIGHUP");
      await daemon.until(says);
    };
    await eventually(() => wholeRuns(company) === 1, "a whole run of acme");
    await reload("no_such_key: 1", [], "the config is kept as it was: config.yaml:");
    expect(await deliver(daemon, clientEvent())).toBe(204);
    const changed = `${off}\nserve: { listen: 127.0.0.1:9 }`;
    await reload(changed, [acme, other], "the config was read again");
    const ofOther = { ...company, file: path.join(company.folder, "other.db") };
    await eventually(() => wholeRuns(ofOther) === 1, "a whole run of the new company");
    expect(daemon.heard("serve.listen was changed: that needs a restart")).toBe(true);
    expect(await deliver(daemon, clientEvent(), { to: "other" })).toBe(204);
    writeServeConfig(company, off, [{ ...other, secrets: ["whsec_another_one"] }]);
    daemon.send("SIGHUP");
    await eventually(async () => (await deliver(daemon, clientEvent())) === 404, "acme is gone");
    await daemon.until("the company is no longer served");
    const newSecret = { to: "other", secret: "whsec_another_one" };
    await eventually(async () => (await deliver(daemon, clientEvent(), newSecret)) === 204, "its secret");
    expect(await deliver(daemon, clientEvent(), { to: "other", secret })).toBe(401);
  });

  // Fault: process | kill -9 right after a 204 | a process of `serve` | the event is there, and is read by the next one to serve it at the latest (I6)
  // Fault: process | a second daemon on the same folder, then kill -9 of the first | two `serve`, one of them a process | the second one waits, says who writes, and takes over
  test("two daemons on one folder: the second says which process holds it, takes over when that is killed, and has the event that it took last (I6)", async () => {
    const company = writeServeConfig(await aCompany({ records: 3, companies: 2 }), off);
    const first = await serve(company);
    await first.until("the mirror is open");
    const second = await serveHere(company);
    await second.until(`the mirror is being written by process ${first.child.pid} (serve`);
    expect(await deliver(second, clientEvent())).toBe(503);
    expect(await deliver(first, clientEvent())).toBe(204);
    await first.end("SIGKILL");
    await second.until("the mirror is open");
    expect(await deliver(second, clientEvent())).toBe(204);
    const read = "SELECT count(*) FROM _inbox WHERE state = 'done'";
    await eventually(() => inMirror(company, read) === 2, "both events, read");
  });
});

/** A folder of secrets as Kubernetes mounts one: files are links through `..data`, which is renamed into place. */
function mount(company: Company, files: Readonly<Record<string, string>>, version: number): void {
  const at = (...parts: string[]) => path.join(company.folder, "secrets", ...parts);
  mkdirSync(at(`..${version}`), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(at(`..${version}`, name), text);
  symlinkSync(`..${version}`, at("..data_tmp"));
  renameSync(at("..data_tmp"), at("..data"));
  if (version > 1) return;
  for (const name of Object.keys(files)) symlinkSync(path.join("..data", name), at(name));
}

const inFile = (name: string) => `"\${file:./secrets/${name}}"`;

describe("secrets in files", () => {
  // Fault: secrets | the token is revoked, and its file is replaced by a rename of a folder's link | the service, and the files of a daemon | the new token is used within 30 s, without a restart of the process
  test("a replaced token is used soon, also when a link above it is renamed", async () => {
    const company = await aCompany({ records: 3 });
    const { token, readToken } = company.sandbox;
    mount(company, { token: `${readToken}\n` }, 1);
    const config = configOf(company, "", [{ name: "acme", token: inFile("token") }]);
    const known: string[] = [];
    const onSecrets = (secrets: readonly string[]) => void known.push(...secrets);
    const daemon = startDaemon(company, config, { clock: impatientClock, onSecrets });
    const state = () => daemon.pageOf("acme")?.view().service.state;
    await eventually(() => wholeRuns(company) === 1 && state() === "working", "a whole run");
    company.sandbox.control.revoke(readToken);
    const ingest = daemon.find("acme");
    if (ingest === null || ingest === "unavailable") throw new Error("it should be open");
    daemon.apply({ ...config, language: "sk" });
    await eventually(() => state() === "unauthenticated", "a refused token");
    mount(company, { token: `${token}\n` }, 2);
    await eventually(() => state() === "working", "the new token in use");
    expect(known).toContain(token);
    expect(company.said.join("\n")).toContain("the file of the token has changed");
    expect(company.said.join("\n")).not.toContain(token);
    await daemon.stop();
  });

  // Fault: secrets | the token is revoked in the middle of a `sync`, and its file holds another one | the service, the token's file | the command goes on with the new one
  test("a run whose token is refused goes on with the one that its file holds by then", async () => {
    const company = await aCompany({ records: 3 });
    const { token, readToken } = company.sandbox;
    mount(company, { token: readToken }, 1);
    writeServeConfig(company, off, [{ name: "acme", token: inFile("token") }]);
    await sync(company, { token: readToken });
    let requests = 0;
    company.proxy.obstruct(() => {
      if (++requests !== 10) return;
      company.sandbox.control.revoke(readToken);
      mount(company, { token }, 2);
    });
    const { code, stderr } = await runCommand(["sync", "--full"], { cwd: company.folder });
    expect([code, stderr]).toEqual([0, expect.stringContaining("going on with the new")]);
    expect(stderr).not.toContain(token);
  });
});

// Fault: secrets | pipes stand in the places of token and webhook secret | the files of `serve`, and SIGHUP | it does not wait for a writer; it goes on with what it knows, and names the pipe
test("a pipe in a secret's place stops nothing: nobody may ever write into it", async () => {
  const company = await aCompany({ records: 3 });
  mount(company, { token: company.sandbox.token, hook: secret }, 1);
  writeServeConfig(company, off, [
    { name: "acme", token: inFile("token"), secrets: ["${file:./secrets/hook}"] },
  ]);
  let looks = 0;
  const sleep: Clock["sleep"] = (ms, signal) => {
    looks += 1;
    return impatientClock.sleep(ms, signal);
  };
  const daemon = await serveHere(company, { clock: { ...impatientClock, sleep } });
  await daemon.until("a run ended");
  for (const name of ["token", "hook"]) {
    rmSync(path.join(company.folder, "secrets", name));
    execFileSync("mkfifo", [path.join(company.folder, "secrets", name)]);
  }
  const before = looks;
  await eventually(() => looks >= before + 50, "looks at the files, among other rounds of the daemon");
  expect(await deliver(daemon, eventOf("clients.updated", 1))).toBe(204);
  daemon.send("SIGHUP");
  await daemon.until("it is a pipe or a device");
  expect((await fetch(`${daemon.url}/healthz`)).status).toBe(200);
});

// Fault: secrets | one company's token file is missing | the files of `sync` and of `serve` | the others are read; it is named, exit 3, /readyz 503; it is used when it appears
// Fault: files | one company's mirror is no database, another's token is wrong | files and config of `serve` | the third company runs and is ready
test("a company without its token harms no other, in sync and in serve, nor does one with a wrong token or a broken file; a token that appears is used", async () => {
  const company = await aCompany({ records: 3, companies: 2 });
  const [acme, broken] = named(company, "acme", "broken") as [ServedCompany, ServedCompany];
  const beta = { name: "beta", token: inFile("beta"), secrets: ["${file:./secrets/hook}"] };
  writeServeConfig(company, off, [acme, beta]);
  const { code, stdout, stderr } = await runCommand(["sync", "--json"], { cwd: company.folder });
  const { companies } = JSON.parse(stdout) as { companies: Record<string, RunSummary> };
  expect([code, stderr]).toEqual([3, expect.stringContaining("companies.beta.token")]);
  expect(companies).toMatchObject({
    acme: { outcome: "complete" },
    beta: { outcome: "failed", error: { kind: "config", message: expect.stringContaining("secrets/beta") } },
  });
  const alone = await runCommand(["sync", "--company", "beta"], { cwd: company.folder });
  expect(alone.code).toBe(2);
  const no = "this is no database, and long enough to be sure of it";
  writeFileSync(path.join(company.folder, "broken.db"), no);
  writeServeConfig(company, off, [{ name: "wrong", token: "no-such-token" }, broken, acme, beta]);
  const daemon = await serveHere(company);
  await daemon.until("not a SQLite database");
  const readiness = async () => {
    const { status, companies: all } = await readyOf(daemon);
    const ready = Object.keys(all).filter((name) => all[name]?.ready);
    return { status, ready, reasons: all["beta"]?.reasons.join(" ") };
  };
  const missing = /companies\.beta\.token: the file .*companies\.beta\.webhook\.secrets\[0\]: the file/;
  const reasons = expect.stringMatching(missing) as string;
  await expect.poll(readiness).toEqual({ status: 503, ready: ["acme"], reasons });
  const event = eventOf("clients.updated", 1);
  const statuses = { acme: 204, wrong: 204, broken: 503, nobody: 404 };
  for (const [to, status] of Object.entries(statuses))
    expect([to, await deliver(daemon, event, { to })]).toEqual([to, status]);
  mount(company, { hook: secret, beta: broken.token }, 1);
  await eventually(async () => (await deliver(daemon, event, { to: "beta" })) === 204, "deliveries of beta");
  await expect.poll(readiness).toMatchObject({ ready: ["acme", "beta"] });
});
