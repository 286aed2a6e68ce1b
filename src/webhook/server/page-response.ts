import type { ServerResponse } from "node:http";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";

export interface Page {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const broken: Page = {
  status: 500,
  type: "text/plain; charset=utf-8",
  body: "the page cannot be made now\n",
};

export async function showPage(
  response: ServerResponse,
  make: () => Promise<Page> | Page,
  log: Log,
  close: boolean,
): Promise<void> {
  let page = broken;
  try {
    page = await make();
  } catch (error) {
    log.error("a page could not be made", { error: messageOf(error) });
  }
  response.writeHead(page.status, {
    "Cache-Control": "no-store",
    ...page.headers,
    "X-Content-Type-Options": "nosniff",
    "Content-Type": page.type,
    "Content-Length": Buffer.byteLength(page.body),
    ...(close && { Connection: "close" }),
  });
  response.end(page.body);
}
