import path from "node:path";
import { describe, expect, test } from "vitest";
import { aCompany, type Company } from "../../support/company/company.ts";
import {
  deliver,
  eventAbout,
  inMirror,
  secret,
  serve,
  serveHere,
  wholeRuns,
  writeServeConfig,
  type ServedCompany,
} from "../../support/program/serve.ts";
import { eventually } from "../../support/eventually.ts";

const off = "schedule: { sync: off, publish: off }";

function tokenOf(company: Company, index: number): string {
  return company.sandbox.companies[index]?.token ?? "";
}

/** The second company of the sandbox, as `other`. */
function other(company: Company, facts: Partial<ServedCompany> = {}): ServedCompany {
  return { name: "other", token: tokenOf(company, 1), ...facts };
}

function acme(company: Company): ServedCompany {
  return { name: "acme", token: company.sandbox.token };
}

/** Of the mirror of `other`. */
const otherRuns = (company: Company) =>
  wholeRuns({ ...company, file: path.join(company.folder, "other.db") });

const event = () => eventAbout("clients.updated", "client", 1);

describe("several companies in one daemon", () => {
  // Fault: files | SIGHUP with a config that is wrong | the config of `serve` | the old config stays
  test("SIGHUP: companies come and go, secrets change, a bad config changes nothing", async () => {
    const company = await aCompany({ records: 3, companies: 2 });
    writeServeConfig(company, off);
    const daemon = await serveHere(company);
    const reload = async (more: string, companies: readonly ServedCompany[], says: string) => {
      writeServeConfig(company, more, companies);
      daemon.send("SIGHUP");
      await daemon.until(says);
    };
    await eventually(() => wholeRuns(company) === 1, "a whole run of acme");
    await reload("no_such_key: 1", [], "the config is kept as it was");
    expect(await deliver(daemon, event())).toBe(204);
    const changed = `${off}\nserve: { listen: 127.0.0.1:9 }`;
    await reload(changed, [acme(company), other(company)], "the config was read again");
    await eventually(() => otherRuns(company) === 1, "a whole run of the new company");
    expect(daemon.heard("serve.listen was changed: that needs a restart")).toBe(true);
    expect(await deliver(daemon, event(), { to: "other" })).toBe(204);
    writeServeConfig(company, off, [other(company, { secrets: ["whsec_another_one"] })]);
    daemon.send("SIGHUP");
    await eventually(async () => (await deliver(daemon, event())) === 404, "acme is gone");
    await daemon.until("the company is no longer served");
    const newSecret = { to: "other", secret: "whsec_another_one" };
    await eventually(async () => (await deliver(daemon, event(), newSecret)) === 204, "the other secret");
    expect(await deliver(daemon, event(), { to: "other", secret })).toBe(401);
    expect((await daemon.end("SIGTERM")).code).toBe(0);
  });

  // Fault: process | kill -9 right after a 204 | a process of `serve` | the event is there, and is read by the next one to serve it at the latest (I6)
  // Fault: process | a second daemon on the same folder, then kill -9 of the first | two `serve`, one of them a process | the second one waits, says who writes, and takes over
  test("two daemons on one folder: the second says which process holds it, takes over when that is killed, and has the event that it took last (I6)", async () => {
    const company = await aCompany({ records: 3, companies: 2 });
    writeServeConfig(company, off);
    const first = await serve(company);
    await first.until("the mirror is open");
    const second = await serveHere(company);
    await second.until(`the mirror is being written by process ${first.child.pid} (serve`);
    expect(await deliver(second, event())).toBe(503);
    expect(await deliver(first, event())).toBe(204);
    await first.end("SIGKILL");
    await second.until("the mirror is open");
    expect(await deliver(second, event())).toBe(204);
    const read = "SELECT count(*) FROM _inbox WHERE state = 'done'";
    await eventually(() => inMirror(company, read) === 2, "both events, read");
    await second.end("SIGTERM");
  });
});
