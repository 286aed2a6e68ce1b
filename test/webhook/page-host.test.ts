import { describe, expect, test } from "vitest";
import { recordingLog } from "../support/terminal/terminal.ts";
import { aReceiver, dial, post, servePages, wire } from "../support/webhook/webhook.ts";

const pages = { "/metrics": () => ({ status: 200, type: "text/plain", body: "fine\n" }) };
const pageHosts = () => ["mirror.internal.example.com"];

async function asked(header: string) {
  const { log, records } = recordingLog();
  const { port } = await servePages({ pages, pageHosts }, log);
  const line = await dial(port);
  line.socket.write(`GET /metrics HTTP/1.1\r\n${header}\r\n`);
  const [status] = await line.answers(1);
  const logged = records().map(({ msg }) => msg);
  return { status, shown: line.text().includes("fine"), logged };
}

describe("a page is shown under known host names only", () => {
  // Fault: webhook | a browser is led here under a name of somebody else (DNS rebinding) | raw sockets, all kinds of Host | 421 without the page
  test.each([
    ["127.0.0.1:8787", "200"],
    ["localhost", "200"],
    ["LOCALHOST.:8787", "200"],
    ["[::1]:8787", "200"],
    ["10.1.2.3:8787", "200"],
    ["mirror.internal.example.com", "200"],
    ["Mirror.Internal.Example.com:443", "200"],
    ["localhost.attacker.example", "421"],
    ["attacker.example:8787", "421"],
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

  test("but a delivery is taken under any name: the signature proves it", async () => {
    const line = await dial((await aReceiver()).port);
    line.socket.write(wire(post()).toString().replace("host: localhost", "host: attacker.example"));
    expect(await line.answers(1)).toEqual(["204"]);
  });
});
