import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { silentLog } from "../../src/base/logger.ts";
import { Secret } from "../../src/base/secret.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { PageCompany } from "../../src/status/page/page-facts.ts";
import { HandOverCounts } from "../../src/state/as-of/hand-overs.ts";
import { openDatabase } from "../../src/store/database.ts";
import { companyView } from "../support/status/company-view.ts";
import { aSite, type SiteFacts } from "../support/status/site.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { aServer, dial } from "../support/webhook/webhook.ts";
import { recordingLog } from "../support/terminal/terminal.ts";

const token = "a-token-of-the-pages-0123";

interface ServedFacts extends Omit<SiteFacts, "token"> {
  readonly token?: string;
  readonly isMade?: boolean;
}

/** The site with companies that exist in name only, behind the real server. */
async function served({ token: set, isMade = false, ...facts }: ServedFacts = {}) {
  const { log, records } = recordingLog();
  const wanted = set === undefined ? null : { secret: new Secret(set), isMade };
  const site = aSite({ ...facts, log, token: () => wanted });
  const { url, port } = await aServer({ site, log });
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(url + path, { headers, redirect: "manual" });
  const signIn = (text: string, next = "/") => {
    const body = new URLSearchParams({ token: text, next });
    return fetch(`${url}/session`, { method: "POST", body, redirect: "manual" });
  };
  return { url, port, get, signIn, records };
}

describe("on this machine", () => {
  test("the pages need no token; every one has a policy that lets nothing in from elsewhere", async () => {
    const { get } = await served();
    const answer = await get("/");
    const policy = answer.headers.get("content-security-policy") ?? "";
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("what they load stays valid for ever under its name", async () => {
    const { get } = await served();
    const assets = [...(await (await get("/")).text()).matchAll(/"(\/assets\/[^"]+)"/g)];
    expect(assets).toHaveLength(3);
    for (const [, path = ""] of assets) {
      const { status, headers } = await get(path);
      expect([status, headers.get("cache-control")]).toEqual([200, "public, max-age=31536000, immutable"]);
    }
  });

  test("they are only read, and there is no other company", async () => {
    const { url, get } = await served();
    const refused = await fetch(`${url}/`, { method: "POST", body: "x" });
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect((await get("/session")).status).toBe(405);
    expect((await get("/companies/nobody")).status).toBe(404);
    expect((await get("/companies/a.b")).status).toBe(404);
  });

  test("a search in a mirror that a newer version wrote says so and what to do, also when it is made again", async () => {
    const mirror = join(tempFolder(), "acme.db");
    const db = openDatabase(mirror);
    db.exec("CREATE TABLE _migrations (name TEXT); INSERT INTO _migrations VALUES ('9999-later')");
    db.close();
    // A search asks for the file alone.
    const settings = { files: { mirror } } as PageCompany["settings"];
    const context = { clock: systemClock, log: silentLog };
    const handOvers = new HandOverCounts();
    const find = () => ({ settings, context, handOvers, view: () => companyView(), progress: () => null });
    const { get } = await served({ find });
    for (let i = 0; i < 2; i++) {
      const answer = await get("/companies/acme/changes?q=x");
      expect(answer.status).toBe(503);
      expect(await answer.text()).toMatch(/newer version.*Update fintoro-mirror/);
    }
  });
});

describe("beyond this machine", () => {
  test.each([
    ["a server that listens on another address", { isLocal: false }, {}],
    ["what a proxy passes on", {}, { "x-forwarded-for": "192.0.2.1" }],
    ["what another kind of proxy passes on", {}, { "x-real-ip": "192.0.2.1" }],
    ["what a tunnel passes on", {}, { via: "1.1 tunnel" }],
  ])("%s shows no page without a token, and says what to set", async (_, facts, headers) => {
    const { get } = await served(facts);
    for (const path of ["/", "/companies/acme", "/companies/acme/changes?q=x"]) {
      const answer = await get(path, headers);
      expect(answer.status).toBe(403);
      expect(await answer.text()).toContain("serve.page_token");
    }
  });

  test("a proxy without a header of its own is known by its HTTP/1.0", async () => {
    const { port } = await served();
    const line = await dial(port, "GET / HTTP/1.0\r\nhost: 127.0.0.1\r\n\r\n");
    expect(await line.answers(1)).toEqual(["403"]);
  });

  test("a token opens them by a header, and by a form and a cookie that no script reads", async () => {
    const { get, signIn } = await served({ isLocal: false, token });
    const asked = await get("/companies/acme");
    expect([asked.status, asked.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(await asked.text()).toContain('value="/companies/acme"');
    expect((await get("/", { authorization: `Bearer ${token}` })).status).toBe(200);
    expect((await get("/", { authorization: "Bearer wrong" })).status).toBe(401);
    const answer = await signIn(token, "/companies/acme/changes?q=a%20b");
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/companies/acme/changes?q=a%20b"]);
    const cookie = answer.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict$/);
    expect(cookie).not.toContain(token);
    expect((await get("/", { cookie: cookie.split(";")[0] ?? "" })).status).toBe(200);
    expect((await get("/", { cookie: "fintoro_mirror_page=wrong" })).status).toBe(401);
  });

  test("where this program made the token, they are refused without it with what to open", async () => {
    const { get, signIn } = await served({ token, isMade: true });
    for (const path of ["/", "/companies/acme", "/companies/acme/changes?q=x"]) {
      const answer = await get(path);
      expect(answer.status).toBe(403);
      expect(await answer.text()).toMatch(/<code>page-token<\/code>[^]*serve\.page_token/);
    }
    expect((await signIn("a-guess-of-somebody")).status).toBe(403);
    expect((await signIn(token)).status).toBe(303);
    expect((await get("/", { authorization: `Bearer ${token}` })).status).toBe(200);
  });

  const elsewhere = ["//evil.example", "https://evil.example", "/\\evil.example", "/a b", "x"];
  test.each(elsewhere)("the form never leads to %j", async (next) => {
    const { signIn } = await served({ token });
    expect((await signIn(token, next)).headers.get("location")).toBe("/");
  });

  test("tokens cannot be tried without end; who is signed in goes on", async () => {
    const { get, signIn, records } = await served({ token });
    const cookie = (await signIn(token)).headers.get("set-cookie")?.split(";")[0] ?? "";
    const statuses = [];
    for (let i = 0; i < 21; i++) statuses.push((await signIn(`wrong-${i}`)).status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    expect(records()).toHaveLength(20);
    expect(JSON.stringify(records())).not.toContain("wrong-");
    expect(statuses.at(-1)).toBe(429);
    expect((await signIn(token)).status).toBe(429);
    expect((await get("/", { cookie })).status).toBe(200);
  });
});

describe("who asks again with the tag of a page", () => {
  test("gets 304 and nothing else until the page differs", async () => {
    let nowMs = 0;
    const names = ["acme", "beta"];
    const { get } = await served({ names, clock: { ...systemClock, monotonicMs: () => nowMs } });
    const first = await get("/");
    const tag = first.headers.get("etag") ?? "";
    expect(await first.text()).toContain(`data-tag="${tag.replaceAll('"', "&quot;")}"`);
    const again = (sent: string) => get("/", { "if-none-match": sent });
    for (const sent of [tag, `W/${tag}`, `"other", ${tag}`]) {
      const answer = await again(sent);
      expect([answer.status, await answer.text()]).toEqual([304, ""]);
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    }
    expect((await again('"other"')).status).toBe(200);
    names.push("gamma");
    expect((await again(tag)).status).toBe(304);
    nowMs += 5 * 60_000;
    const changed = await again(tag);
    expect(changed.status).toBe(200);
    expect(changed.headers.get("etag")).not.toBe(tag);
  });

  test("gets nothing of a page that it may not see", async () => {
    const { get } = await served({ token });
    const { headers } = await get("/", { authorization: `Bearer ${token}` });
    expect((await get("/", { "if-none-match": headers.get("etag") ?? "" })).status).toBe(401);
  });
});
