import { createServer, connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { listen } from "../http/loopback.ts";

/**
 * A way to a port on loopback that can become silent, as a network does that loses every packet: nothing arrives, and no
 * connection is refused or closed, until what was held back is let through again.
 *
 * @param begin gives what a connection begins with, of what was sent. @default all of it
 */
export async function aTcpRelay(target: number, begin = (sent: Buffer) => sent) {
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server = createServer((near) => {
    const far = connect(target, "127.0.0.1");
    for (const [from, to] of [[near, far] as const, [far, near] as const]) {
      sockets.add(from);
      if (isSilent) from.pause();
      from
        .on("error", () => undefined)
        .once("close", () => {
          sockets.delete(from);
          to.destroy();
        });
    }
    far.on("data", (bytes: Buffer) => void near.write(bytes));
    near.once("data", (sent: Buffer) => {
      far.write(begin(sent));
      near.on("data", (bytes: Buffer) => void far.write(bytes));
    });
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
