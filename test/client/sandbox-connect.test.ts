import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { connect, ForbiddenError, MirrorError, NotFoundError, ServiceError } from "../../src/index.ts";
import type { FintoroClient } from "../../src/index.ts";
import { recordingLog } from "../support/http/http-client.ts";
import { asked, connectTo, refusal } from "../support/http/live-client.ts";
import { openSandbox } from "../support/sandbox/sandbox.ts";
import { odd } from "../support/sandbox/odd-answers.ts";
import { tempFolder } from "../support/temporary-folder.ts";

const budgetFile = () => join(tempFolder(), "firma.budget.db");

/** Much longer than an answer of this machine takes, much shorter than the budget's window. */
const momentMs = 1_000;

/** Asks until a permit does not come within a moment, at most thirty times. */
async function useUp(client: FintoroClient): Promise<number> {
  for (let sent = 0; sent < 30; sent++) {
    const error = await client.lookups.units({ signal: AbortSignal.timeout(momentMs) }).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (error) {
      expect(error).toMatchObject({ kind: "stopped" });
      return sent;
    }
  }
  throw new Error("the budget has no end");
}

describe("a connection", () => {
  it("aborts what is in flight when it is closed, and sends nothing afterwards; it may be closed twice", async () => {
    const sandbox = await openSandbox();
    sandbox.control.fault({ kind: "hang" });
    const connection = connectTo(sandbox);
    const { client } = connection;
    const hanging = refusal(client.clients.list());
    await expect.poll(() => asked(sandbox)).toHaveLength(1);
    await connection.close();
    expect(await hanging).toMatchObject({ kind: "stopped" });
    expect(await refusal(client.whoami())).toBeInstanceOf(MirrorError);
    expect(asked(sandbox)).toHaveLength(1);
    await expect(connection.close()).resolves.toBeUndefined();
  });

  it("logs what it repeats, and its token nowhere", async () => {
    const sandbox = await openSandbox();
    const log = recordingLog();
    const { client } = connectTo(sandbox, { log });
    sandbox.control.fault({ ...odd("echo_token"), times: 1 });
    const error = await refusal(client.clients.update(1, { name: "Ján" }));
    sandbox.control.fault({ kind: "status", status: 503, times: 1 });
    await client.whoami();
    expect(log.lines.map(({ message }) => message)).toContain("a request failed and is tried again");
    expect(JSON.stringify([log.lines, error, String(error)])).not.toContain(sandbox.token.slice(2));
  });

  it("throws the library's own error classes", async () => {
    const sandbox = await openSandbox();
    const { client } = connectTo(sandbox, { token: sandbox.readToken });
    const missing = await refusal(client.orders.show(999_999));
    const forbidden = await refusal(client.orders.delete(1));
    expect([missing instanceof NotFoundError, forbidden instanceof ForbiddenError]).toEqual([true, true]);
    expect([missing instanceof ServiceError, missing instanceof MirrorError]).toEqual([true, true]);
  });

  it.each(["fintoro", "ftp://app.fintoro.example", "http://app.fintoro.example", "https://me:x@h.example"])(
    "to %s is refused before anything is opened",
    (baseUrl) => {
      const file = budgetFile();
      expect(() => connect({ token: "1|x", baseUrl, budgetFile: file })).toThrow(
        expect.objectContaining({ kind: "config", hint: expect.stringContaining("address") }),
      );
      expect(existsSync(file)).toBe(false);
    },
  );

  it.each(["", "1|made\nup", " 1|made-up", "1|skrátený…", undefined as unknown as string])(
    "with a token that cannot be one is refused, and does not show it: %j",
    (token) => {
      const file = budgetFile();
      expect(() => connect({ token, budgetFile: file })).toThrow(
        expect.objectContaining({ kind: "usage", message: expect.not.stringContaining("made") }),
      );
      expect(existsSync(file)).toBe(false);
    },
  );
});

describe("one company's budget", () => {
  it("is shared by all processes with the same file, now and later; others learn it by requests", async () => {
    const sandbox = await openSandbox({ limit: 6, windowMs: 60_000 });
    const shared = { budgetFile: budgetFile() };
    const [first, second] = [connectTo(sandbox, shared), connectTo(sandbox, shared)];
    const sent = await useUp(first.client);
    expect(sent).toBeGreaterThan(0);
    await first.close();
    const later = connectTo(sandbox, shared);
    expect(await Promise.all([second, later].map(({ client }) => useUp(client)))).toEqual([0, 0]);
    expect(asked(sandbox)).toEqual(Array.from({ length: sent }, () => "GET /units 200"));
    const stranger = connectTo(sandbox);
    const asking = stranger.client.lookups.units().catch(() => []);
    await expect.poll(() => asked(sandbox).length).toBeGreaterThan(sent);
    await stranger.close();
    await asking;
  });
});
