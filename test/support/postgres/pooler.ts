import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { listen } from "../http/loopback.ts";

/**
 * A connection pooler before the Postgres at a port. Gives its own port.
 *
 * @param manner what it does with a session's start: it `ignores` all parameters but user and database, as PgBouncer
 *   does with `ignore_startup_parameters`, or `refuses` others
 */
export async function aPooler(target: number, manner: "ignores" | "refuses"): Promise<number> {
  const sockets: Socket[] = [];
  const server = createServer((near) => {
    sockets.push(near.on("error", () => undefined));
    near.once("data", (start: Buffer) => {
      if (manner === "refuses") {
        near.end(refusal("unsupported startup parameter: statement_timeout"));
        return;
      }
      const far = connect(target, "127.0.0.1").on("error", () => undefined);
      sockets.push(far);
      far.write(withoutParameters(start));
      near.pipe(far).pipe(near);
    });
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return listen(server);
}

/** A StartupMessage: length, version, then names and values that end with a zero byte each. */
function withoutParameters(start: Buffer): Buffer {
  const texts = start.subarray(8).toString().split("\0");
  const pairs = texts.flatMap((name, i) =>
    i % 2 === 0 && ["user", "database"].includes(name) ? [name, texts[i + 1]] : [],
  );
  const body = Buffer.from(`${pairs.join("\0")}\0\0`);
  const head = Buffer.from(start.subarray(0, 8));
  head.writeUInt32BE(body.length + 8);
  return Buffer.concat([head, body]);
}

/** An ErrorResponse. */
function refusal(message: string): Buffer {
  const body = Buffer.from(`SFATAL\0C08P01\0M${message}\0\0`);
  const head = Buffer.from("E0000");
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
