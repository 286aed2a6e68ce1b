import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { jsonLines, runProgram } from "../support/program/cli.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";
import { created, openWebhookSetup, ringOf } from "../support/webhook/webhooks-cli.ts";

const breakRename = new URL("../support/program/break-rename.ts", import.meta.url).href;

/** The program as a process of its own, to which this happens when it would put a secret in its place. */
function atRename(what: "SIGKILL" | "EBUSY") {
  return { NODE_OPTIONS: `--import ${breakRename}`, AT_RENAME: what };
}

describe("rotate", () => {
  // Fault: process | kill -9 between the service's new secret and its file | a process of `webhooks rotate` | the next command finds the secret; nothing is lost
  test("killed between the service's answer and the file has lost nothing: the next command finds it", async () => {
    const setup = await openWebhookSetup();
    const clock = new DrivenClock(Date.now());
    const { id, secret: first } = await created(setup);
    const env = { TOKEN: setup.sandbox.token, ...atRename("SIGKILL") };
    const killed = await runProgram(["webhooks", "rotate", String(id)], { cwd: setup.cwd, env });
    expect(killed).toMatchObject({ code: null, stdout: "" });
    const second = setup.sandbox.control.secret(id);
    expect([setup.text("hook"), setup.text("hook.new")]).toEqual([`${first}\n`, `${second}\n`]);
    expect(ringOf(setup, clock).accepted()).toEqual([second, first]);
    const { stderr } = await setup.run(`rotate ${id}`, { clock });
    expect(stderr).toContain("a secret that was received before and not put in its place");
    const third = setup.sandbox.control.secret(id);
    expect([setup.text("hook"), setup.has("hook.new")]).toEqual([`${third}\n`, false]);
    expect(ringOf(setup, clock).accepted().toSorted()).toEqual([first, second, third].toSorted());
  });

  // Fault: process | a crash that left half a secret | the new secret's file | the next rotation starts anew
  test("after a crash before the service's answer starts anew", async () => {
    const setup = await openWebhookSetup();
    const { id, secret: first } = await created(setup);
    writeFileSync(path.join(setup.cwd, "hook.new"), "cut-o");
    const { secret } = await setup.json(`rotate ${id}`);
    expect([setup.text("hook"), setup.has("hook.new")]).toEqual([`${secret}\n`, false]);
    expect(ringOf(setup, new DrivenClock(Date.now())).accepted()).toEqual([secret, first]);
  });

  // Fault: files | the secret's file cannot be replaced (a mounted file) | a rename that fails with EBUSY | the secret is shown, and all of them are accepted
  test("whose file cannot be moved in its place (a single mounted file) shows it and loses none, however often", async () => {
    const setup = await openWebhookSetup();
    const clock = new DrivenClock(Date.now());
    const { id, secret: first } = await created(setup);
    const env = { TOKEN: setup.sandbox.token, ...atRename("EBUSY") };
    const secrets = [first];
    for (let time = 0; time < 2; time++) {
      const line = ["webhooks", "rotate", String(id), "--json"];
      const { code, stdout } = await runProgram(line, { cwd: setup.cwd, env });
      const { secret, stored } = jsonLines(stdout)[0] as { secret: string; stored: string | null };
      expect([code, stored]).toEqual([1, null]);
      secrets.unshift(secret);
    }
    expect(setup.text("hook")).toBe(`${first}\n`);
    expect(setup.text("hook.new")).toBe(`${secrets[0]}\n`);
    expect(ringOf(setup, clock).accepted().toSorted()).toEqual(secrets.toSorted());
  });
});
