import type { SeededChoice } from "../../support/company/scenario.ts";
import type { ServiceReply } from "../service/service-types.ts";

/** A request as it reached the service. */
interface RequestSent {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Another origin, to which answers lead. */
const elsewhere = "https://elsewhere.example";

type Indiscretion = (reply: ServiceReply, request: RequestSent, choice: SeededChoice) => ServiceReply;

/** Errors that repeat the token, redirects to another origin, answers without a request id: by name. */
export const indiscretions: readonly (readonly [name: string, change: Indiscretion])[] = [
  ["token in an error", withMessage((token) => `Authorization: Bearer ${token}`)],
  [
    "token at the edge of a long error",
    withMessage((token, choice) => ".".repeat(270 + choice.below(30)) + token),
  ],
  ["part of the token in an error", withMessage((token) => `no such token: ${token.split("|")[1]}`)],
  [
    "token in the errors of fields",
    (reply, request) => {
      const token = tokenOf(request);
      return {
        ...reply,
        status: 422,
        body: JSON.stringify({ message: "No.", errors: { [token]: [token] } }),
      };
    },
  ],
  [
    "token as content type",
    (reply, request) => ({
      ...reply,
      headers: { ...reply.headers, "Content-Type": `text/${tokenOf(request)}` },
    }),
  ],
  [
    "token as request id",
    (reply, request) => ({
      ...reply,
      status: 500,
      headers: { ...reply.headers, "X-Request-Id": tokenOf(request) },
      body: "{}",
    }),
  ],
  [
    "no request id",
    (reply) => ({ ...reply, headers: { "Content-Type": reply.headers["Content-Type"] ?? "" } }),
  ],
  [
    "redirect to another origin",
    (reply, { path }) => ({
      ...reply,
      status: 307,
      headers: { ...reply.headers, Location: elsewhere + path },
      body: "",
    }),
  ],
];

function withMessage(textOf: (token: string, choice: SeededChoice) => string): Indiscretion {
  return (reply, request, choice) => ({
    ...reply,
    status: choice.one([403, 422, 500, 503]),
    body: JSON.stringify({ message: textOf(tokenOf(request), choice) }),
  });
}

function tokenOf({ headers }: RequestSent): string {
  return headers["authorization"]?.slice("Bearer ".length) ?? "";
}
