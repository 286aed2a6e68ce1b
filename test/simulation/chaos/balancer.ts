import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import type { Random } from "../../../src/base/random.ts";

/** What stands before the receivers: each connection goes to one of them. */
export interface Balancer {
  readonly port: number;
  close(): Promise<void>;
}

/** Starts a balancer on a free port of 127.0.0.1. A receiver that does not accept the connection is left out. */
export async function startBalancer(ports: readonly number[], random: Random): Promise<Balancer> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
  };
  const pass = async (socket: Socket) => {
    const first = Math.floor(random.next() * ports.length);
    const order = ports.map((_, i) => ports[(first + i) % ports.length] ?? 0);
    const upstream = await connectFirst(order);
    if (!upstream || socket.destroyed) {
      upstream?.destroy();
      socket.destroy();
      return;
    }
    keep(upstream);
    socket.pipe(upstream).pipe(socket);
    socket.on("close", () => upstream.destroy());
    upstream.on("close", () => socket.destroy());
  };
  const server = createServer((socket) => {
    keep(socket);
    void pass(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { port: (server.address() as AddressInfo).port, close };
}

async function connectFirst(ports: readonly number[]): Promise<Socket | null> {
  for (const port of ports) {
    const upstream = connect(port, "127.0.0.1");
    try {
      await once(upstream, "connect");
      return upstream;
    } catch {
      upstream.destroy();
    }
  }
  return null;
}
