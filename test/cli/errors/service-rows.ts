import {
  afterWhoami,
  always,
  configOf,
  briefOutage,
  errorRows,
  type ErrorRow,
} from "../../support/program/error-row.ts";

const sync = { command: "sync", config: briefOutage } as const;
const at = (baseUrl: string) => () => configOf(baseUrl, briefOutage);
const failed = { exit: 1, where: "GET /whoami" } as const;
const page = "<html><title>Be right back</title></html>";
const goesOn = "Everything committed is kept: run again to go on";

/** What the service answers, or does not. */
export const serviceRows: readonly ErrorRow[] = [
  ...errorRows({ ...sync, answer: always(401, { message: "Unauthenticated." }) }, [
    "4 | 401: the token was revoked |  | 401 Unauthenticated. (request req-7) | GET /whoami | put a valid token of this company into the config",
  ]),
  ...errorRows({ answer: always(401, { message: "Unauthenticated." }) }, [
    "4 | 401 while checking | check | 401 Unauthenticated | fail acme token: GET /whoami | put a valid token",
    "4 | 401 for init | init --no-input --token-env TOKEN -c new.yaml --base-url {base} | 401 Unauthenticated | GET /whoami | put a valid token",
  ]),
  ...errorRows({ mirror: true, config: briefOutage, answer: always(401, { message: "Unauthenticated." }) }, [
    "4 | 401 while verifying | verify | 401 Unauthenticated | GET /whoami | put a valid token",
  ]),
  ...errorRows({ ...sync, answer: always(403, { message: "Invalid ability provided." }), ...failed }, [
    " | 403: the token may not read |  | 403 Invalid ability provided. |  | check its scope in the service",
  ]),
  ...errorRows({ ...sync, answer: always(404, { message: "Not found" }), ...failed }, [
    " | 404: base_url is another address |  | 404 Not found |  | base_url is not the address of the public API",
  ]),
  ...errorRows({ ...sync, answer: always(200, page), ...failed }, [
    ' | a page of HTML with 200 |  | 200 with content type "text/html" |  | check base_url if it stays',
  ]),
  ...errorRows(
    { ...sync, answer: always(302, "", { location: "https://elsewhere.example/login" }), ...failed },
    [
      " | a redirect to another host |  | redirected to https://elsewhere.example, where the token must not go |  | check base_url",
    ],
  ),
  ...errorRows(
    {
      ...sync,
      answer: always(429, { message: "Too Many Attempts." }, { "retry-after": "0" }),
      ...failed,
      next: goesOn,
    },
    [" | 429 for ever |  | 429 Too Many Attempts. |  | "],
  ),
  ...errorRows({ ...sync, answer: always(503, { message: "Service Unavailable" }), ...failed }, [
    " | 503 |  | 503 Service Unavailable |  | try again later",
  ]),
  ...errorRows({ ...sync, answer: always(503, page, { "retry-after": "3600" }), ...failed, next: goesOn }, [
    " | maintenance: 503 with a page |  | the service gave no usable answer |  | ",
  ]),
  ...errorRows(
    {
      ...sync,
      answer: (answer) => {
        answer.writeHead(200, { "content-type": "application/json", "content-length": "500" });
        answer.write('{"name":', () => answer.destroy());
      },
      ...failed,
      next: goesOn,
    },
    [" | an answer that is cut off |  | the connection was  |  | "],
  ),
  ...errorRows(
    { ...sync, answer: always(200, '{"name":"A', { "content-type": "application/json" }), ...failed },
    [" | half a document of JSON |  | the answer is not the JSON it should be: at byte |  | check base_url"],
  ),
  ...errorRows({ ...sync, answer: always(200, { hello: "world" }), ...failed }, [
    " | JSON that names no company |  | the answer names no company |  | check base_url",
  ]),
  ...errorRows({ mirror: true, answer: always(200, { hello: "world" }) }, [
    "1 | no company, while checking a mirror | check | the answer names no company | fail acme token: GET /whoami | check base_url",
  ]),
  ...errorRows({ ...sync, mirror: true, answer: always(200, { name: "Iná firma s. r. o." }) }, [
    "4 | the token of another company |  | this token belongs to another company | Iná firma s. r. o. | Nothing was written. Use a token of the company that is mirrored",
  ]),
  ...errorRows({ mirror: true, config: briefOutage, answer: always(200, { name: "Iná firma s. r. o." }) }, [
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
  ...errorRows(
    {
      ...sync,
      answer: always(200, {}),
      config: (baseUrl) => configOf(baseUrl.replace("http:", "https:"), briefOutage),
      ...failed,
    },
    [
      " | https:// to a server without it |  | what answers at base_url speaks no HTTPS |  | check the address and the port of base_url",
    ],
  ),
  ...errorRows({}, [
    "5 | a limit that was given | sync --max-requests 3 | requests are left for the next run | acme | A run reads the rest",
  ]),
];
