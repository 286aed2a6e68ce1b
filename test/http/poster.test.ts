import { Socket } from "node:net";
import tls, { type ConnectionOptions } from "node:tls";
import { afterEach, describe, expect, test, vi } from "vitest";
import { NotTaken, openPoster } from "../../src/http/poster.ts";
import { untilTheEnd } from "../support/http/http.ts";
import { everyNameLeadsTo } from "../support/http/names.ts";
import { openSink, type Treatment } from "../support/sandbox/webhook-sink.ts";

const message = { id: "log:1", body: "{}", seconds: 1, signature: null };
const noSignal = new AbortController().signal;

/** Why a POST was not taken; null: it was. */
async function post(url: string, isPublicOnly = false): Promise<NotTaken | null> {
  try {
    const poster = untilTheEnd(openPoster(url, "test", isPublicOnly));
    await poster.post(message, noSignal);
    return null;
  } catch (error) {
    if (error instanceof NotTaken) return error;
    throw error;
  }
}

/** Deadlines are so much shorter. */
function hurry(times: number): void {
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => timeout(ms / times));
}

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

describe("an address that must be public", () => {
  // Fault: network | the address of a receiver leads to this machine or a private network, by itself or by what DNS answers | before a connection | nothing is sent, and the status says so
  test("gets nothing where it is this machine's, and no connection is opened", async () => {
    const sink = await openSink();
    const { port } = new URL(sink.url);
    for (const host of ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433"])
      expect(await post(`http://${host}:${port}/`, true)).toMatchObject({
        refuses: true,
        message: expect.stringContaining("a private network"),
      });
    expect(sink.received).toEqual([]);
    expect(await post(sink.url)).toBeNull();
  });

  const oneInside = "93.184.215.14 127.0.0.1";
  const inside = ["10.1.2.3", "169.254.169.254", "::1", "fd00::1", "::ffff:192.168.1.1", oneInside];
  test.each(inside)("gets nothing where its name leads to %j", async (addresses) => {
    everyNameLeadsTo(...addresses.split(" "));
    expect(await post("https://rebinding.example.com/", true)).toMatchObject({ refuses: true });
  });

  test("is asked where its name leads to the internet", async () => {
    everyNameLeadsTo("93.184.215.14", "2606:4700::1111");
    const found: unknown[] = [];
    // No packet leaves the machine.
    const connect = ({ host = "", lookup }: ConnectionOptions) => {
      const socket = new Socket();
      lookup?.(host, { all: true }, (error, addresses) => {
        found.push(addresses);
        socket.destroy(error ?? Object.assign(new Error(), { code: "ECONNREFUSED" }));
      });
      return socket;
    };
    vi.spyOn(tls, "connect").mockImplementation(connect as unknown as typeof tls.connect);
    const error = await post("https://receiver.example.com/", true);
    expect(error).toMatchObject({ refuses: false, message: "it cannot be reached: ECONNREFUSED" });
    expect(found).toMatchObject([[{ address: "93.184.215.14" }, { address: "2606:4700::1111" }]]);
  });

  test("gets nothing through a proxy, which would look its name up itself", async () => {
    const sink = await openSink();
    vi.stubEnv("HTTPS_PROXY", new URL(sink.url).origin);
    vi.stubEnv("NO_PROXY", "");
    expect(await post("https://receiver.test.invalid/", true)).toMatchObject({
      refuses: true,
      message: expect.stringContaining("HTTPS_PROXY"),
    });
    expect(sink.received).toEqual([]);
  });
});

describe("a receiver", () => {
  // Fault: network | a receiver answers with an error, redirects, resets, hangs or never ends its answer | between the program and a receiver | it is taken, to be tried again, or refused; no redirect is followed
  test.each<[Treatment, string | null, boolean]>([
    [200, null, false],
    [500, "it answered 500", false],
    [429, "it answered 429", false],
    [410, "it answered 410", true],
    [401, "it answered 401", true],
    ["redirect", "it answered 307, and no redirect is followed", true],
    ["reset", "it cannot be reached: UND_ERR_SOCKET", false],
    ["hang", "no answer within 10 s", false],
  ])("that does this: %s, has not taken it: %s", async (treatment, why, refuses) => {
    if (treatment === "hang") hurry(10);
    const sink = await openSink();
    sink.treat(treatment);
    const error = await post(sink.url);
    expect(error && { why: error.message, refuses: error.refuses }).toEqual(why && { why, refuses });
    expect(sink.received).toHaveLength(1);
  });

  test("is sent everything through one connection, and has taken each also where its answer never ends", async () => {
    hurry(10);
    for (const treatment of [200, "drip"] as const) {
      const sink = await openSink();
      sink.treat(treatment);
      const poster = untilTheEnd(openPoster(sink.url, "test"));
      for (let times = 0; times < 3; times++) await poster.post(message, noSignal);
      expect(sink.received).toHaveLength(3);
      if (treatment === 200) expect(sink.connections()).toBe(1);
    }
  });
});
