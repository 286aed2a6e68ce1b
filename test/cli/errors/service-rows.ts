import {
  afterWhoami,
  always,
  configOf,
  briefOutage,
  errorRows,
  type ErrorRow,
} from "../../support/program/error-row.ts";
import type { Answering } from "../../support/http/http.ts";

const sync = { command: "sync", config: briefOutage } as const;
const at = (baseUrl: string) => () => configOf(baseUrl, briefOutage);
const failed = { exit: 1, where: "GET /whoami" } as const;
const page = "<html><title>Be right back</title></html>";
const goesOn = "Everything committed is kept: run again to go on";

/** A run whose first question is answered so. */
const answered = (answer: Answering, next = "") => ({ ...sync, ...failed, answer, next });
const cutOff: Answering = (answer) => {
  answer.writeHead(200, { "content-type": "application/json", "content-length": "500" });
  answer.write('{"name":', () => answer.destroy());
};
const elsewhere = always(302, "", { location: "https://elsewhere.example/login" });
const tooMany = always(429, { message: "Too Many Attempts." }, { "retry-after": "0" });
const half = always(200, '{"name":"A', { "content-type": "application/json" });
const revoked = always(401, { message: "Unauthenticated." });
const another = always(200, { name: "Iná firma s. r. o." });

/** What the service answers, or does not. */
export const serviceRows: readonly ErrorRow[] = [
  ...errorRows({ ...sync, answer: revoked }, [
    "4 | 401: the token was revoked |  | 401 Unauthenticated. (request req-7) | GET /whoami | put a valid token of this company into the config",
  ]),
  ...errorRows({ answer: revoked }, [
    "4 | 401 while checking | check | 401 Unauthenticated | fail acme token: GET /whoami | put a valid token",
    "4 | 401 for init | init --no-input --token-env TOKEN -c new.yaml --base-url {base} | 401 Unauthenticated | GET /whoami | put a valid token",
  ]),
  ...errorRows({ mirror: true, config: briefOutage, answer: revoked }, [
    "4 | 401 while verifying | verify | 401 Unauthenticated | GET /whoami | put a valid token",
  ]),
  ...errorRows(answered(always(403, { message: "Invalid ability provided." })), [
    " | 403: the token may not read |  | 403 Invalid ability provided. |  | check its scope in the service",
  ]),
  ...errorRows(answered(always(404, { message: "Not found" })), [
    " | 404: base_url is another address |  | 404 Not found |  | base_url is not the address of the public API",
  ]),
  ...errorRows(answered(always(200, page)), [
    ' | a page of HTML with 200 |  | 200 with content type "text/html" |  | check base_url if it stays',
  ]),
  ...errorRows(answered(elsewhere), [
    " | a redirect to another host |  | redirected to https://elsewhere.example, where the token must not go |  | check base_url",
  ]),
  ...errorRows(answered(tooMany, goesOn), [" | 429 for ever |  | 429 Too Many Attempts. |  | "]),
  ...errorRows(answered(always(503, { message: "Service Unavailable" })), [
    " | 503 |  | 503 Service Unavailable |  | try again later",
  ]),
  ...errorRows(answered(always(503, page, { "retry-after": "3600" }), goesOn), [
    " | maintenance: 503 with a page |  | the service gave no usable answer |  | ",
  ]),
  ...errorRows(answered(cutOff, goesOn), [" | an answer that is cut off |  | the connection was  |  | "]),
  ...errorRows(answered(half), [
    " | half a document of JSON |  | the answer is not the JSON it should be: at byte |  | check base_url",
  ]),
  ...errorRows(answered(always(200, { hello: "world" })), [
    " | JSON that names no company |  | the answer names no company |  | check base_url",
  ]),
  ...errorRows({ ...sync, mirror: true, answer: another }, [
    "4 | the token of another company |  | this token belongs to another company | Iná firma s. r. o. | Nothing was written. Use a token of the company that is mirrored",
  ]),
  ...errorRows({ mirror: true, config: briefOutage, answer: another }, [
    "4 | the token of another company, verifying | verify | this token belongs to another company | Iná firma s. r. o. | Use a token of the company that is mirrored",
  ]),
  ...errorRows({ ...sync, answer: afterWhoami(always(500, { message: "Server Error" })), next: goesOn }, [
    "1 | lists that fail |  | 500 Server Error | GET / | ",
  ]),
  ...errorRows({ ...sync, config: at("http://127.0.0.1:9/api/v1"), ...failed }, [
    " | nothing listens at base_url |  | the connection was refused |  | check the network, HTTPS_PROXY where it is set, and base_url",
  ]),
  ...errorRows({ ...sync, config: at("https://no-such-host.invalid/api/v1"), ...failed }, [
    " | a host name that does not exist |  | the host name does not resolve |  | check the network",
  ]),
  ...errorRows({ ...answered(always(200, {})), config: (url) => at(url.replace("http:", "https:"))() }, [
    " | https:// to a server without it |  | what answers at base_url speaks no HTTPS |  | check the address and the port of base_url",
  ]),
  ...errorRows({}, [
    "5 | a limit that was given | sync --max-requests 3 | requests are left for the next run | acme | A run reads the rest",
  ]),
];
