import { MirrorError, messageOf, type ErrorKind } from "../../../base/errors.ts";
import type { CommandContext } from "../../program/command.ts";
import { text, wholeNumber } from "../../program/option-specs.ts";

/** How a running sandbox is named; without either it is the config's base_url. */
export const sandboxClientOptions = {
  url: text("--url <base>", "of the running sandbox (default: base_url of the config)"),
  port: wholeNumber("--port <n>", "of the running sandbox on this machine", { min: 1, max: 65_535 }),
};

/** A running sandbox, asked past its API. */
export interface SandboxClient {
  readonly origin: string;
  ask(method: "GET" | "POST" | "DELETE", path: string, input?: unknown): Promise<unknown>;
}

const answerWithinMs = 30_000;

export function connectSandbox(
  context: CommandContext,
  named: { readonly url: string | undefined; readonly port: number | undefined },
): SandboxClient {
  const origin = originOf(context, named);
  return {
    origin,
    ask: async (method, path, input) => {
      const response = await sent(origin, method, path, input);
      const answer = response.status === 204 ? {} : await read(response, origin);
      if (response.ok) return answer;
      throw new MirrorError(kinds[response.status] ?? "protocol", messageIn(answer));
    },
  };
}

const kinds: Readonly<Record<number, ErrorKind>> = { 404: "not_found", 409: "invalid", 422: "usage" };

/** Only this machine: nothing here is ever asked of a real service. */
function originOf(
  context: CommandContext,
  { url, port }: { readonly url: string | undefined; readonly port: number | undefined },
): string {
  if (url === undefined && port !== undefined) return `http://127.0.0.1:${port}`;
  const base = URL.parse(url ?? context.config("when_used").config.baseUrl);
  if (base?.protocol === "http:" && /^(127\.0\.0\.1|localhost|\[::1\])$/.test(base.hostname))
    return base.origin;
  throw new MirrorError("usage", `${base?.href ?? String(url)} is no sandbox on this machine`, {
    hint: "start one with `fintoro-mirror sandbox`, and name it with --url or --port",
  });
}

async function sent(origin: string, method: string, path: string, input: unknown): Promise<Response> {
  try {
    return await fetch(`${origin}${path}`, {
      method,
      redirect: "error",
      signal: AbortSignal.timeout(answerWithinMs),
      ...(input !== undefined && {
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(input),
      }),
    });
  } catch (cause) {
    throw new MirrorError("network", `no sandbox answers at ${origin}: ${messageOf(cause)}`, {
      hint: "start one with `fintoro-mirror sandbox --port N`, and name it with --url or --port",
      cause,
    });
  }
}

async function read(response: Response, origin: string): Promise<unknown> {
  try {
    return await response.json();
  } catch (cause) {
    throw new MirrorError("protocol", `what answers at ${origin} is no sandbox`, { cause });
  }
}

function messageIn(answer: unknown): string {
  const { message } = answer as { readonly message?: unknown };
  return typeof message === "string" ? message : "the sandbox refused";
}
