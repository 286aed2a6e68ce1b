import { MirrorError } from "../base/errors.ts";
import { UnauthenticatedError } from "../connector/service-errors.ts";
import { attempt, type Outcome } from "./attempt.ts";
import type { Call, Wire } from "./exchange.ts";

/** One attempt of a call. Where there are access tokens it is made again, once, if the service refuses the token: it may have ended. */
export async function attemptWithToken(wire: Wire, call: Call): Promise<Outcome> {
  const { accessTokens } = wire;
  if (!accessTokens) return attempt(wire, call);
  try {
    for (let isRenewed = false; ; isRenewed = true) {
      const token = await accessTokens.current(
        (authorization) => askForToken(wire, call, authorization),
        call,
      );
      const headers = { ...call.headers, authorization: `Bearer ${token}` };
      const outcome = await attempt(wire, { ...call, headers });
      const isRefused =
        "error" in outcome && outcome.error instanceof UnauthenticatedError && outcome.error.status === 401;
      if (isRefused) accessTokens.refuse(token);
      if (!isRefused || isRenewed) return outcome;
    }
  } catch (error) {
    if (error instanceof MirrorError) return { error };
    throw error;
  }
}

/** Asks for an access token in the lane of the call that needs it. Throws what the attempt ended with. */
async function askForToken(wire: Wire, call: Call, authorization: string): Promise<Buffer> {
  const { access } = wire.protocol;
  const path = access?.kind === "client_credentials" ? access.tokenPath : "";
  const type = { accept: "application/json", "content-type": "application/json" };
  const outcome = await attempt(wire, {
    method: "POST",
    path,
    where: `POST ${path}`,
    target: wire.base.path + path,
    headers: { ...call.headers, ...type, authorization },
    body: JSON.stringify({ grant_type: "client_credentials" }),
    expect: "json",
    lane: call.lane,
    signal: call.signal,
    repeatable: true,
    once: true,
  });
  if ("error" in outcome) throw outcome.error;
  return outcome.body;
}
