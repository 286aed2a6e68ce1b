import type { SeededChoice } from "../../support/seeded-choice.ts";
import type { ServiceReply } from "../service/service-types.ts";

/** What an indiscreet answer is made of: the request's path and token, and the headers of the service's own answer. */
interface Asked {
  readonly path: string;
  readonly token: string;
  readonly headers: ServiceReply["headers"];
  readonly choice: SeededChoice;
}

/** Gives what is other than in the service's own answer. */
type Indiscretion = (asked: Asked) => Partial<ServiceReply>;

/** Another origin, to which answers lead. */
const elsewhere = "https://elsewhere.example";

/** Errors that repeat the token, redirects to another origin, answers without a request id. */
export const indiscretions: readonly Indiscretion[] = [
  withMessage(({ token }) => `Authorization: Bearer ${token}`),
  // At the edge of where a long text is cut.
  withMessage(({ token, choice }) => ".".repeat(270 + choice.below(30)) + token),
  withMessage(({ token }) => `no such token: ${token.split("|")[1]}`),
  ({ token }) => ({ status: 422, body: JSON.stringify({ message: "No.", errors: { [token]: [token] } }) }),
  ({ token, headers }) => ({ headers: { ...headers, "Content-Type": `text/${token}` } }),
  ({ token, headers }) => ({ status: 500, headers: { ...headers, "X-Request-Id": token }, body: "{}" }),
  ({ headers }) => ({ headers: { "Content-Type": headers["Content-Type"] ?? "" } }),
  ({ path, headers }) => ({ status: 307, headers: { ...headers, Location: elsewhere + path }, body: "" }),
];

function withMessage(textOf: (asked: Asked) => string): Indiscretion {
  return (asked) => ({
    status: asked.choice.one([403, 422, 500, 503]),
    body: JSON.stringify({ message: textOf(asked) }),
  });
}
