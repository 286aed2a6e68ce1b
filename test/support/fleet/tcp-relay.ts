import { createServer, connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { listen } from "../http/loopback.ts";

/**
 * A way to a port on loopback that can become silent, as a network does that loses every packet: nothing arrives, and no
 * connection is refused or closed, until what was held back is let through again.
 */
export async function aTcpRelay(target: number) {
  const sockets = new Set<Socket>();
  let isSilent = false;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).once("close", () => sockets.delete(socket));
  };
  const forward = (from: Socket, to: Socket) => {
    from.on("data", (bytes: Buffer) => void to.write(bytes));
    from.once("close", () => to.destroy());
    if (isSilent) from.pause();
  };
  const server = createServer((near) => {
    const far = connect(target, "127.0.0.1");
    for (const socket of [near, far]) keep(socket);
    forward(near, far);
    forward(far, near);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const set = (silent: boolean) => {
    isSilent = silent;
    for (const socket of sockets)
      if (silent) socket.pause();
      else socket.resume();
  };
  return { port: await listen(server), silence: () => set(true), resume: () => set(false) };
}
