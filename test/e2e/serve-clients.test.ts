import { once } from "node:events";
import { createServer, connect, type AddressInfo, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { endOf, runCommand } from "../support/cli.ts";
import { aCompany } from "../support/company.ts";
import { deliver, eventAbout, eventually, serve, startIn, writeServeConfig } from "../support/serve.ts";

/** A connection that keeps its side open, and reads nothing unless asked to. */
async function hold(url: string, bytes = ""): Promise<Socket> {
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  await once(socket, "connect");
  if (bytes !== "") socket.write(bytes);
  return socket;
}

const metricsRequest = "GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n";
const held = [
  "CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n",
  "GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
  "GET /healthz HTTP/1.1\r\nho",
  "POST /webhooks/acme HTTP/1.1\r\nhost: x\r\ncontent-length: 20\r\n\r\n{",
  "noise\r\n\r\n",
  metricsRequest.repeat(3_000),
];

describe("clients that hold what they can", () => {
  // Fault: webhook | 600 silent connections, CONNECT, Upgrade, half a request, noise and unread pages, all kept open | raw sockets against a real serve | deliveries are answered 204 at once, the drops are in metrics, log and status, SIGTERM ends with 0 within 25 s
  test("keep no delivery out, and the process from no end", async () => {
    const company = await aCompany();
    writeServeConfig(company);
    const daemon = await serve(company);
    await daemon.until("the mirror is open");
    await Promise.all(Array.from({ length: 600 }, () => hold(daemon.url)));
    expect(await deliver(daemon, eventAbout("clients.updated", "client", 1))).toBe(204);
    const page = await (await fetch(`${daemon.url}/metrics`)).text();
    const dropped = Number(/^fintoro_mirror_dropped_connections_total (\d+)$/m.exec(page)?.[1]);
    expect(dropped).toBeGreaterThanOrEqual(89);
    expect(daemon.said().filter(({ msg }) => msg === "a connection was dropped")).toHaveLength(1);
    await eventually(async () => {
      const { stdout } = await runCommand(["status", "--json"], { cwd: company.folder });
      const { companies } = JSON.parse(stdout) as {
        companies: { acme: { events: { dropped_connections: number } } };
      };
      return companies.acme.events.dropped_connections > 0;
    }, "the drops in status --json");
    for (const bytes of held) await hold(daemon.url, bytes);
    expect(await deliver(daemon, eventAbout("clients.updated", "client", 1))).toBe(204);
    const startedMs = performance.now();
    expect(await daemon.end("SIGTERM")).toMatchObject({ code: 0 });
    expect(performance.now() - startedMs).toBeLessThan(25_000);
  });
});

// Fault: process | the port is taken | another server, real processes | serve and sandbox end with 10, and name the address
test.each([
  ["serve", "--listen", "127.0.0.1:"],
  ["sandbox", "--port", ""],
])("%s on a port that is taken ends with 10", async (command, option, address) => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const company = await aCompany();
  writeServeConfig(company);
  const { code, stderr } = await endOf(startIn(company, [command, option, `${address}${port}`]));
  expect(code).toBe(10);
  expect(stderr).toContain(`cannot listen on 127.0.0.1:${port}`);
});
