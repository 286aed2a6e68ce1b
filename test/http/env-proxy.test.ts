import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { connect, type Socket } from "node:net";
import path from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import { openPoster } from "../../src/http/poster.ts";
import { rejectionOf } from "../support/errors.ts";
import { temporaryFolder } from "../support/program/cli.ts";
import { json, startService, untilTheEnd } from "../support/http/http.ts";
import { get, httpFor, testToken } from "../support/http/http-client.ts";
import { listen } from "../support/http/loopback.ts";

/** Resolves nowhere: only a proxy can reach it. */
const host = "service.test.invalid";

/** A proxy that leads every tunnel to a port of this machine; `answer` in place of 200 opens none. */
async function startConnectProxy(toPort: number, answer?: string | null) {
  /** Of each CONNECT. */
  const asked: { target: string | undefined; authorization: string | undefined }[] = [];
  /** Everything that clients sent, heads included. */
  const chunks: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server = createHttpServer((_, response) => response.writeHead(500).end());
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", () => undefined);
  });
  server.on("connect", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    asked.push({ target: request.url, authorization: request.headers["proxy-authorization"] });
    if (answer === null) return;
    if (answer !== undefined) {
      socket.end(`HTTP/1.1 ${answer}\r\n\r\n`);
      return;
    }
    const upstream = connect(toPort, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.write(head);
      socket.on("data", (chunk: Buffer) => chunks.push(chunk));
      socket.pipe(upstream).pipe(socket);
    });
    sockets.add(upstream);
    upstream.on("error", () => socket.destroy());
  });
  const port = await listen(untilTheEnd(server));
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  return { port, asked, bytes: () => Buffer.concat(chunks).toString("latin1") };
}

/** Makes the certificate; not every machine has it. */
const generator = "openssl";
const hasTls = spawnSync(generator, ["version"]).status === 0;

/** The service behind TLS, trusted by this process until the test ends. */
async function startTlsService() {
  const folder = temporaryFolder();
  const [key, cert] = [path.join(folder, "key.pem"), path.join(folder, "cert.pem")];
  const subject = ["-subj", `/CN=${host}`, "-addext", `subjectAltName=DNS:${host}`];
  const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  execFileSync(generator, ["req", ...kind, ...subject, "-keyout", key, "-out", cert], { stdio: "ignore" });
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, readFileSync(cert, "utf8")]);
  onTestFinished(() => setDefaultCACertificates(before));
  const requests: IncomingMessage[] = [];
  const identity = { key: readFileSync(key), cert: readFileSync(cert) };
  const server = createHttpsServer(identity, (request, response) => {
    requests.push(request);
    request.resume();
    response.setHeader("content-type", "application/json").end('{"data":[]}');
  });
  return { port: await listen(untilTheEnd(server)), requests };
}

function transportTo(baseUrl: string, timeoutMs = 5_000, assertMaySend = () => undefined as void) {
  return untilTheEnd(httpFor(baseUrl, { attempts: 1, timeoutMs, assertMaySend }));
}

function proxyVariables(variables: Readonly<Record<string, string>>): void {
  const none = { HTTP_PROXY: "", http_proxy: undefined, https_proxy: undefined, no_proxy: undefined };
  for (const [name, value] of Object.entries({ ...none, HTTPS_PROXY: "", NO_PROXY: "", ...variables }))
    vi.stubEnv(name, value);
}

afterEach(() => void vi.unstubAllEnvs());

describe("HTTPS_PROXY", () => {
  test.runIf(hasTls)(
    "I9: leads through the proxy, who learns host and port, and never the token",
    async () => {
      const service = await startTlsService();
      const proxy = await startConnectProxy(service.port);
      proxyVariables({ HTTPS_PROXY: `http://me:pass@127.0.0.1:${proxy.port}` });
      const transport = transportTo(`https://${host}/api`);
      expect((await transport.send(get("/whoami"))).status).toBe(200);
      for (let sent = 0; sent < 20; sent++) expect((await transport.send(get("/clients"))).status).toBe(200);
      const authorization = `Basic ${Buffer.from("me:pass").toString("base64")}`;
      for (const asked of proxy.asked) expect(asked).toEqual({ target: `${host}:443`, authorization });
      // Tunnels are kept: at most one for each place of the transport.
      expect(proxy.asked.length).toBeLessThanOrEqual(6);
      for (const { headers } of service.requests) {
        expect(headers.authorization).toBe(`Bearer ${testToken}`);
        expect(headers["proxy-authorization"]).toBeUndefined();
      }
      expect(proxy.bytes()).toContain(host);
      expect(proxy.bytes()).not.toContain(testToken);
    },
  );

  test.runIf(hasTls)("sends nothing through a tunnel where the right to send ended meanwhile", async () => {
    const service = await startTlsService();
    const proxy = await startConnectProxy(service.port);
    proxyVariables({ HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` });
    const ended = new MirrorError("locked", "the company has another owner");
    let isHeld = true;
    const transport = transportTo(`https://${host}/api`, 5_000, () => {
      if (!isHeld) throw ended;
    });
    const onSent = () => void (isHeld = false);
    expect(await rejectionOf(transport.send(get("/whoami", { onSent })))).toBe(ended);
    expect(proxy.asked).toHaveLength(1);
    expect(service.requests).toEqual([]);
    isHeld = true;
    expect((await transport.send(get("/whoami"))).status).toBe(200);
  });

  test.runIf(hasTls)(
    "leads alerts and changes through it as well, unless NO_PROXY names the host",
    async () => {
      const receiver = await startTlsService();
      const proxy = await startConnectProxy(receiver.port);
      const secretPath = "/hook/secret-path?key=1";
      const message = { id: "log:1", body: "{}", seconds: 1, signature: null };
      const send = () => {
        const poster = untilTheEnd(openPoster(`https://${host}${secretPath}`, "test"));
        return poster.post(message, new AbortController().signal);
      };
      proxyVariables({ HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` });
      await send();
      expect(proxy.asked).toMatchObject([{ target: `${host}:443` }]);
      expect(receiver.requests).toMatchObject([{ method: "POST", url: secretPath }]);
      expect(proxy.bytes()).not.toContain("secret-path");
      proxyVariables({ HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: host });
      await expect(send()).rejects.toThrow(/^it cannot be reached: E[A-Z_]+$/);
      const refusing = await startConnectProxy(9, "407 Proxy Authentication Required");
      proxyVariables({ HTTPS_PROXY: `http://127.0.0.1:${refusing.port}` });
      await expect(send()).rejects.toThrow("Proxy response (407)");
      expect(proxy.asked).toHaveLength(1);
    },
  );

  test("does not lead where NO_PROXY names the host, nor to this machine", async () => {
    const proxy = await startConnectProxy(9);
    const address = `http://127.0.0.1:${proxy.port}`;
    const others = "other.example.com,.test.invalid";
    proxyVariables({ HTTPS_PROXY: address, HTTP_PROXY: address, NO_PROXY: others });
    const error = await rejectionOf(transportTo(`https://${host}/api`).send(get("/whoami")));
    expect(error).toMatchObject({ kind: "network", message: expect.stringContaining("host name") });
    const direct = untilTheEnd(await startService((answer) => json(answer, {})));
    expect((await transportTo(direct.baseUrl).send(get("/whoami"))).status).toBe(200);
    expect(proxy.asked).toEqual([]);
  });

  // Fault: network | a proxy that refuses the tunnel, or is silent after the request for it | the proxy of HTTPS_PROXY | an error of the network within the deadline, its hint names the variable
  test("of a proxy that refuses or is silent is an error of the network, with the variable in its hint", async () => {
    const refusing = await startConnectProxy(9, "407 Proxy Authentication Required");
    proxyVariables({ https_proxy: `http://127.0.0.1:${refusing.port}` });
    const transport = transportTo(`https://${host}/api`);
    expect(await rejectionOf(transport.send(get("/whoami")))).toMatchObject({
      kind: "network",
      retryable: true,
      message: expect.stringContaining("407"),
      hint: expect.stringContaining("HTTPS_PROXY"),
    });
    expect(refusing.bytes()).not.toContain(testToken);
    const silent = await startConnectProxy(9, null);
    proxyVariables({ HTTPS_PROXY: `http://127.0.0.1:${silent.port}` });
    const waiting = transportTo(`https://${host}/api`, 200).send(get("/whoami"));
    expect(await rejectionOf(waiting)).toMatchObject({ kind: "network", retryable: true });
  });

  test("that is no address of a proxy is refused without repeating it", () => {
    for (const text of ["proxy:3128", "socks5://me:pass@127.0.0.1:1", "nonsense"]) {
      proxyVariables({ HTTPS_PROXY: text });
      const message = /^HTTPS_PROXY must be a proxy's address such as http/;
      expect(() => httpFor(`https://${host}/api`)).toThrow(message);
    }
  });
});
