import { describe, expect, test } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/logger.ts";
import { createAccessTokens } from "../../src/http/access-tokens.ts";

function opened() {
  const clock = { nowMs: () => 0 };
  return createAccessTokens("id|secret", null, clock, silentLog);
}

const answer = (token: string) => Buffer.from(JSON.stringify({ access_token: token, expires_in: 7_200 }));
const never = new AbortController().signal;
const caller = { lane: "list", signal: never } as const;
const silent = () => new Promise<Buffer>(() => undefined);

describe("an access token that several calls wait for", () => {
  test("is asked for anew by another call when the one that asked for it was stopped", async () => {
    const tokens = opened();
    const asked = Promise.withResolvers<Buffer>();
    const first = tokens.current(() => asked.promise, caller);
    const second = tokens.current(async () => answer("t2"), caller);
    asked.reject(new MirrorError("stopped", "POST /oauth/token: stopped"));
    await expect(first).rejects.toMatchObject({ kind: "stopped" });
    expect(await second).toBe("t2");
  });

  test("is not waited for by a call that is stopped", async () => {
    const tokens = opened();
    const stop = new AbortController();
    void tokens.current(silent, caller);
    const waiting = tokens.current(async () => answer("t2"), { ...caller, signal: stop.signal });
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ kind: "stopped" });
  });

  test("is not waited for by a run while events wait for the next month's calls", async () => {
    const tokens = opened();
    void tokens.current(silent, { ...caller, lane: "webhook" });
    const usedUp = new MirrorError("stopped", "the month's calls are used up");
    const run = tokens.current(() => Promise.reject(usedUp), caller);
    await expect(run).rejects.toThrow("used up");
  });
});
