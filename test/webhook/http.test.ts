import { describe, expect } from "vitest";
import {
  about,
  aReceiver,
  aServer,
  dial,
  eventText,
  forged,
  post,
  statusOf,
  textPage,
  tunnel,
  wire,
  test,
} from "../support/webhook/webhook.ts";
import { recordingLog } from "../support/terminal/terminal.ts";

const broken = () => Promise.reject(new Error("no such table: secret_table"));
const page = textPage("fine\n");

describe("only POST /webhooks/<company> takes deliveries", () => {
  const paths: readonly (readonly [string, number])[] = [
    ["/webhooks/acme/", 404],
    ["/webhooks/acme?of=proxy", 204],
    ["/webhooks/acme%2f", 404],
    ["/webhooks/%61cme", 404],
    ["/webhooks/nobody", 404],
    ["/webhooks/__proto__", 404],
    ["/webhooks/", 404],
    ["/webhooks", 404],
    ["//webhooks/acme", 404],
    ["/", 404],
    ["/webhooks/acme/../acme", 204],
  ];

  // Fault: webhook | paths that only look like the company's | requests to the receiver | 404, without the name
  test("no path that only looks like it is one", async ({ receiver }) => {
    for (const [path, status] of paths) {
      const answer = await receiver.deliver(post(), path);
      expect({ path, status: answer.status }).toEqual({ path, status });
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
      expect(await answer.text()).not.toContain("nobody");
    }
  });

  test("no other method does", async ({ receiver }) => {
    for (const method of ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
      const answer = await fetch(`${receiver.url}/webhooks/acme`, { method });
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
      expect((await fetch(`${receiver.url}/webhooks/nobody`, { method })).status).toBe(404);
      expect(receiver.results.splice(0)).toEqual(["acme 405", "404"]);
    }
  });

  // Fault: service | a status page that fails | a page function that rejects | 500 with a text of its own, without the reason
  test("pages are looked at, and nothing else", async () => {
    const receiver = await aReceiver({ pages: { "/healthz": () => page, "/broken": broken } });
    const answer = await fetch(`${receiver.url}/healthz?why`);
    expect([answer.status, await answer.text()]).toEqual([200, "fine\n"]);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    const head = await fetch(`${receiver.url}/healthz`, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, "5"]);
    const posted = await fetch(`${receiver.url}/healthz`, { method: "POST", body: "x" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    const failed = await fetch(`${receiver.url}/broken`);
    expect([failed.status, await failed.text()]).toEqual([500, "the page cannot be made now\n"]);
  });
});

describe("connections are used as HTTP allows", () => {
  // Fault: webhook | deliveries, a forged one, pages and a missing path in one packet | a raw socket | each answered in its order; 204 only for what is committed (I6)
  test("pipelined requests are answered in their order, whatever each of them is", async () => {
    const receiver = await aReceiver({ pages: { "/healthz": () => page } });
    const get = Buffer.from("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
    const missing = Buffer.from("GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n");
    const all = [wire(post()), get, wire(forged()), missing, wire(post()), wire(post("[]"))];
    const line = await receiver.dial(Buffer.concat(all));
    expect(await line.answers(6)).toEqual(["204", "200", "401", "404", "204", "204"]);
    expect(receiver.count("_inbox")).toBe(3);
  });

  test("a body in chunks, cut anywhere, is one body", async ({ receiver }) => {
    const { headers, body } = post(about(17));
    const chunks = Array.from(body.toString(), (letter) => `1\r\n${letter}\r\n`).join("");
    const head = wire({ headers, body: "" }, ["transfer-encoding: chunked"]);
    const bytes = Buffer.concat([head, Buffer.from(`${chunks}0\r\n\r\n`)]);
    const line = await receiver.dial();
    for (let from = 0; from < bytes.length; from += 97) line.socket.write(bytes.subarray(from, from + 97));
    expect(await line.answers(1)).toEqual(["204"]);
    expect(receiver.mirror.db.prepare("SELECT body FROM _inbox").pluck().get()).toBe(body);
  });

  test("a sender that asks whether to send the body gets 100, or the refusal", async ({ receiver }) => {
    const good = await receiver.dial();
    const { headers, body } = post();
    const head = wire({ headers, body: "" }, ["expect: 100-continue", `content-length: ${body.length}`]);
    good.socket.write(head);
    await expect.poll(() => good.text()).toContain("100 Continue");
    good.socket.write(body);
    expect(await good.answers(1)).toEqual(["204"]);
    const bad = await receiver.dial();
    const bare = post(eventText(), { "webhook-timestamp": "" });
    bad.socket.write(
      wire({ ...bare, body: "" }, ["expect: 100-continue", `content-length: ${bare.body.length}`]),
    );
    expect(await bad.answers(1)).toEqual(["400"]);
    expect(bad.text()).not.toContain("100 Continue");
  });

  // Fault: network | the sender goes away in the middle of a body | a raw socket | nothing is stored, and the next delivery is taken
  test("a sender who goes away in the middle of a body leaves nothing behind", async ({ receiver }) => {
    const line = await receiver.dial();
    const bytes = wire(post()).subarray(0, -5);
    line.socket.write(bytes);
    await expect.poll(() => receiver.accepted[0]?.bytesRead).toBe(bytes.length);
    line.socket.destroy();
    await expect.poll(() => receiver.results).toEqual(["acme 499"]);
    expect((await receiver.deliver()).status).toBe(204);
    expect(receiver.count("_inbox")).toBe(1);
  });

  // Fault: network | the sender goes away before the answer | a raw socket | the event is stored
  test("a sender who goes away before the answer has still delivered", async ({ receiver }) => {
    const line = await receiver.dial();
    line.socket.end(wire(post()));
    line.socket.destroySoon();
    await expect.poll(() => receiver.count("_inbox")).toBe(1);
  });
});

describe("what is no HTTP is answered as such, counted, and its connection ends", () => {
  const start = "POST /webhooks/acme HTTP/1.1\r\n";
  const chunked = wire({ ...post(), body: "" }, ["transfer-encoding: chunked"]).toString();
  const odd: readonly (readonly [string, string | Buffer, string])[] = [
    ["noise", "\u0000\u0001\u0002 hello\r\n\r\n", "400"],
    ["another protocol", "SSH-2.0-OpenSSH_9.6\r\n", "400"],
    ["a TLS greeting", Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]), "400"],
    ["two lengths", `${start}content-length: 1\r\ncontent-length: 2\r\n\r\nab`, "400"],
    ["a length and chunks", chunked.replace("\r\n", "\r\ncontent-length: 1\r\n"), "400"],
    ["no host", `${start}\r\n`, "400"],
    ["endless headers", `GET / HTTP/1.1\r\nx: ${"y".repeat(40_000)}\r\n\r\n`, "431"],
    ["a tunnel", tunnel, "405"],
    ["a chunk that is none", `${chunked}zz\r\nabc`, "400"],
    ["another expectation", `${start}host: x\r\nexpect: more\r\n\r\n`, "417"],
  ];

  // Fault: webhook | noise, another protocol, TLS, two lengths, endless headers, a tunnel | raw sockets | a status of its own, counted; the next sender is served
  test("with a status of its own, and the next sender is served", async ({ receiver }) => {
    for (const [what, bytes, status] of odd) {
      const line = await receiver.dial(bytes);
      expect({ what, answers: await line.answers(1) }).toEqual({ what, answers: [status] });
      expect(line.text().toLowerCase()).toContain("x-content-type-options: nosniff");
      expect(receiver.results.at(-1)).toMatch(new RegExp(`^(acme )?${status}$`));
      line.socket.end();
      await line.closed;
    }
    expect((await receiver.deliver()).status).toBe(204);
  });

  // Fault: webhook | silence, and half a header | a raw socket | 408 at the header's deadline
  test.each([
    ["silence", ""],
    ["half a header", "POST /webhooks/acme HTTP/1.1\r\nwebhook-"],
  ])("%s is not waited for any longer than the header's deadline", async (_, bytes) => {
    const { line, receiver } = await statusOf({ limits: { headerDeadlineMs: 200 } }, bytes);
    await line.closed;
    expect(await line.answers(1)).toEqual(["408"]);
    expect(receiver.results).toEqual(["408"]);
  });
});

const pages = { "/metrics": () => page };
const pageHosts = () => ["mirror.internal.example.com"];

async function asked(header: string) {
  const { log, records } = recordingLog();
  const { port } = await aServer({ pages, pageHosts, log });
  const line = await dial(port, `GET /metrics HTTP/1.1\r\n${header}\r\n`);
  const [status] = await line.answers(1);
  const logged = records().map(({ msg }) => msg);
  return { status, shown: line.text().includes("fine"), logged };
}

describe("a page is shown under known host names only", () => {
  // Fault: webhook | a browser is led here under a name of somebody else (DNS rebinding) | raw sockets, all kinds of Host | 421 without the page
  test.each([
    ["127.0.0.1:8787", "200"],
    ["LOCALHOST.:8787", "200"],
    ["[::1]:8787", "200"],
    ["10.1.2.3:8787", "200"],
    ["Mirror.Internal.Example.com:443", "200"],
    ["localhost.attacker.example", "421"],
    ["127.0.0.1.attacker.example", "421"],
    ["attacker", "421"],
    ["a b", "421"],
    ["", "421"],
  ])("%j: %s", async (host, status) => {
    const isShown = status === "200";
    const logged = isShown ? [] : ["a request was refused"];
    expect(await asked(`host: ${host}\r\n`)).toEqual({ status, shown: isShown, logged });
  });

  test("also without the header, which browsers always send", async () => {
    expect(await asked("")).toMatchObject({ status: "200", shown: true });
  });

  test("but a delivery is taken under any name: the signature proves it", async ({ receiver }) => {
    const bytes = wire(post()).toString().replace("host: localhost", "host: attacker.example");
    const line = await receiver.dial(bytes);
    expect(await line.answers(1)).toEqual(["204"]);
  });
});
