import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Connections that never said a word are not idle in Node's eyes: they are kept count of here. */
export function trackSilent(server: Server): () => void {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return () => {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };
}

/** What is on its way is answered; what is not by then is cut off. */
export async function closeServer(server: Server, endSilent: () => void, graceMs: number): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  endSilent();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}
