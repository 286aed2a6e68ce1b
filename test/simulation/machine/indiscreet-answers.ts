import type { SeededChoice } from "../../support/company/scenario.ts";
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

/** Errors that repeat the token, redirects to another origin, answers without a request id: by name. */
export const indiscretions: readonly (readonly [name: string, change: Indiscretion])[] = [
  ["token in an error", withMessage(({ token }) => `Authorization: Bearer ${token}`)],
  [
    "token at the edge of a long error",
    withMessage(({ token, choice }) => ".".repeat(270 + choice.below(30)) + token),
  ],
  ["part of the token in an error", withMessage(({ token }) => `no such token: ${token.split("|")[1]}`)],
  [
    "token in the errors of fields",
    ({ token }) => ({
      status: 422,
      body: JSON.stringify({ message: "No.", errors: { [token]: [token] } }),
    }),
  ],
  [
    "token as content type",
    ({ token, headers }) => ({ headers: { ...headers, "Content-Type": `text/${token}` } }),
  ],
  [
    "token as request id",
    ({ token, headers }) => ({ status: 500, headers: { ...headers, "X-Request-Id": token }, body: "{}" }),
  ],
  ["no request id", ({ headers }) => ({ headers: { "Content-Type": headers["Content-Type"] ?? "" } })],
  [
    "redirect to another origin",
    ({ path, headers }) => ({ status: 307, headers: { ...headers, Location: elsewhere + path }, body: "" }),
  ],
];

function withMessage(textOf: (asked: Asked) => string): Indiscretion {
  return (asked) => ({
    status: asked.choice.one([403, 422, 500, 503]),
    body: JSON.stringify({ message: textOf(asked) }),
  });
}
