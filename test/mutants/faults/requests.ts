import { faultsIn } from "../planted-fault.ts";

/** I8 and I9: the budget is kept, and the token stays with the service. */
export const requestFaults = faultsIn(
  `
  src/http/exchange.ts, found by test/rate-limit/processes.test.ts
    request-without-permit, I8: a request is sent without waiting for its permit
      - return await rateLimiter.admit(lane, signal);
      + void rateLimiter.admit(lane, signal);
      +     return { answered: () => undefined, lost: () => undefined };
  src/rate-limit/state.ts, found by test/rate-limit
    requests-in-flight-not-counted, I8: permits are given for a budget that requests in flight are spending
      - return window.lowest - window.spent.length - state.flights.length;
      + return window.lowest - window.spent.length;
    lost-request-not-counted, I8: a request without an answer costs nothing, although the service counted it
      - return countAsSpent(removeFlight(state, flight), flight, nowMs, mayArrive ? flight.deadlineAt : nowMs);
      + return mayArrive && nowMs < 0 ? countAsSpent(state, flight, nowMs) : removeFlight(state, flight);
    window-ends-too-early, I8: the next window is counted on before the last one has ended
      - return state.window && nowMs < state.window.deadAt ? state.window : null;
      + return state.window && nowMs < state.window.aliveUntil - 2_000 ? state.window : null;
  src/rate-limit/budget-answers.ts, found by test/rate-limit
    retry-after-zero-means-now, I8: the service may say 0 or a second too little, and refuses again
      - return Math.min(longestMs, (Math.max(1, retryAfterS) + 1) * 1000);
      + return Math.min(longestMs, retryAfterS * 1000);
    stated-limit-ignored, I8: a service that grants less than 120 is asked too often
      - const known = limit !== null && limit >= 1 ? { ...before, limit } : before;
      + const known = limit !== null && limit >= 1e9 ? { ...before, limit } : before;
    late-requests-not-counted, I8: a request that ended late is counted by the new window, and not by us
      -     spent,
      +     spent: [],
  src/rate-limit/foreign-use.ts, found by test/rate-limit
    no-reserve-for-others, I8: other programs on the company's budget are refused
      - const reserve = lane === "webhook" ? 0 : Math.ceil(limit * share);
      + const reserve = lane === "webhook" ? 0 : Math.ceil(limit * share * 0);
  src/http/exchange.ts, found by test/http/base-url.test.ts test/http/secrecy.test.ts
    token-to-another-origin, I9: a redirect carries the token to another origin
      - throw redirectError(head, \`to \${safeText(target.origin, 100)}, where the token must not go\`);
      + void fetch(target, { headers: (arguments[1] as PreparedCall).headers }).catch(() => safeText);
      outside: network
  src/base/secret.ts, found by test/base/secret.test.ts
    redactor-changes-nothing, I9: the token stands in logs and errors where the service echoes it
      - const form = this.formAt(text, at);
      + const form = text === redacted ? this.formAt(text, at) : undefined;
    secret-in-json, I9: whatever prints its options prints the token
      - toJSON(): string {
      -     return mask;
      + toJSON(): string {
      +     return String(this.#text);
  src/http/http-errors.ts, found by test/http/secrecy.test.ts
    cut-before-redacted, I9: a secret at the edge of a shortened text is cut, not found, and half of it printed
      - terminalText(redacted(text).replace
      + terminalText(redacted(text.slice(0, maxLength)).replace
    parts-of-the-token-shown, I9: a service that echoes the part of the token behind the bar gives it away
      - createRedactor([...secrets, ...parts])
      + createRedactor([...secrets, ...parts.slice(0, 0)])
  src/http/http-errors.ts, found by test/http/errors.test.ts test/http/secrecy.test.ts
    error-keeps-the-request, I9: the library's error is kept as the cause, and may hold the request with its token
      - cause: Object.assign(new Error(why), { code }) };
      + cause: error instanceof Error ? error : Object.assign(new Error(why), { code }) };
  src/config/address.ts, found by test/config/address.test.ts
    http-to-any-host, I9: the token goes over the network in plain text
      - if (url.protocol === "http:" && isLoopbackHost(url.hostname)) return { value: url };
      + if (url.protocol === "http:") return { value: url };
      outside: report
  src/rate-limit/admission.ts, found by test/rate-limit
    two-openers, I8: many requests go into a window of which nothing is known
      - if (nowMs < answerBy) return answerBy;
  src/state/meta.ts, found by test/sync/run.test.ts
    token-in-the-mirror, I9: whoever reads the mirror has the token
      - return createHash("sha256").update(\`\${salt}:\${token}\`).digest("hex");
      + return createHash ? \`\${salt}:\${token}\` : salt;
  src/http/exchange.ts, found by test/http/secrecy.test.ts
    token-in-network-errors, I9: a connection that breaks writes the request with its token into the log
      - throw errorOfExchange(error, wire, { where, requestId: null }, deadline);
      + throw errorOfExchange(error, wire, { where: \`\${where} \${call.headers["authorization"]}\`, requestId: null }, deadline);
  src/http/exchange.ts, found by test/http/secrecy.test.ts test/http/content.test.ts
    token-as-request-id, I9: where the service gives no request id, the change log keeps the token
      - const requestId = idHeader ? safeText(idHeader, 128) : null;
      + const requestId = idHeader ? safeText(idHeader, 128) : (call.headers["authorization"] ?? null);
`,
);
