import {
  afterWhoami,
  always,
  configOf,
  briefOutage,
  errorRows,
  type ErrorSetups,
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
const revoked = always(401, { message: "Unauthenticated." });
const another = always(200, { name: "Iná firma s. r. o." });

const setups: ErrorSetups = {
  revoked: { ...sync, answer: revoked },
  revokedOther: { answer: revoked },
  revokedMirror: { mirror: true, config: briefOutage, answer: revoked },
  forbidden: answered(always(403, { message: "Invalid ability provided." })),
  moved: answered(always(404, { message: "Not found" })),
  page: answered(always(200, page)),
  elsewhere: answered(always(302, "", { location: "https://elsewhere.example/login" })),
  busy: answered(always(429, { message: "Too Many Attempts." }, { "retry-after": "0" }), goesOn),
  away: answered(always(503, { message: "Service Unavailable" })),
  maintenance: answered(always(503, page, { "retry-after": "3600" }), goesOn),
  cut: answered(cutOff, goesOn),
  half: answered(always(200, '{"name":"A', { "content-type": "application/json" })),
  unnamed: answered(always(200, { hello: "world" })),
  another: { ...sync, mirror: true, answer: another },
  anotherProving: { mirror: true, config: briefOutage, answer: another },
  failing: { ...sync, answer: afterWhoami(always(500, { message: "Server Error" })), next: goesOn },
  nobody: { ...sync, config: at("http://127.0.0.1:9/api/v1"), ...failed },
  nowhere: { ...sync, config: at("https://no-such-host.invalid/api/v1"), ...failed },
  plain: { ...answered(always(200, {})), config: (url) => at(url.replace("http:", "https:"))() },
};

export const serviceRows = errorRows(setups, [
  "revoked 4 | 401: the token was revoked |  | 401 Unauthenticated. (request req-7) | GET /whoami | put a valid one of this company into the config",
  "revokedOther 4 | 401 while checking | check | 401 Unauthenticated | fail acme token: GET /whoami | put a valid one",
  "revokedOther 4 | 401 for init | init --no-input --token-env TOKEN -c new.yaml --base-url {base} | 401 Unauthenticated | GET /whoami | put a valid one",
  "revokedMirror 4 | 401 while verifying | verify | 401 Unauthenticated | GET /whoami | put a valid one",
  "forbidden | 403: the token may not read |  | 403 Invalid ability provided. |  | check its scope in the service",
  "moved | 404: base_url is another address |  | 404 Not found |  | base_url is not the address of the public API",
  'page | a page of HTML with 200 |  | 200 with content type "text/html" |  | check base_url if it stays',
  "elsewhere | a redirect to another host |  | redirected to https://elsewhere.example, where the token must not go |  | check base_url",
  "busy | 429 for ever |  | 429 Too Many Attempts. |  | ",
  "away | 503 |  | 503 Service Unavailable |  | try again later",
  "maintenance | maintenance: 503 with a page |  | the service gave no usable answer |  | ",
  "cut | an answer that is cut off |  | the connection was  |  | ",
  "half | half a document of JSON |  | the answer is not the JSON it should be: at byte |  | check base_url",
  "unnamed | JSON that names no company |  | the answer names no company |  | check base_url",
  "another 4 | the token of another company |  | this token belongs to another company | Iná firma s. r. o. | Nothing was written. Use a token of the company that is mirrored",
  "anotherProving 4 | the token of another company, verifying | verify | this token belongs to another company | Iná firma s. r. o. | Use a token of the company that is mirrored",
  "failing 1 | lists that fail |  | 500 Server Error | GET / | ",
  "nobody | nothing listens at base_url |  | the connection was refused |  | check the network, HTTPS_PROXY where it is set, and base_url",
  "nowhere | a host name that does not exist |  | the host name does not resolve |  | check the network",
  "plain | https:// to a server without it |  | what answers speaks no HTTPS |  | check the address and the port of base_url, and HTTPS_PROXY",
  "5 | a limit that was given | sync --max-requests 3 | requests are left for the next run | acme | A run reads the rest",
]);
