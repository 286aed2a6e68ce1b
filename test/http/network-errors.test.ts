import { describe, expect, test } from "vitest";
import { networkErrorOf, createSafeText } from "../../src/http/http-errors.ts";

const broken = { where: "GET /x", requestId: "req-9" };
const words = createSafeText("hunter2-hunter2");
const withCode = (code: string, message = "whatever") => Object.assign(new Error(message), { code });
const failureFrom = (error: unknown) => networkErrorOf(error, broken, words);

describe("what breaks a request has a plain message", () => {
  // Fault: network | the name does not resolve, the connection is refused, reset or too slow | the error's code | a plain message, retryable
  test.each([
    ["ENOTFOUND", "the host name does not resolve"],
    ["EAI_AGAIN", "the host name could not be resolved just now"],
    ["ECONNREFUSED", "the connection was refused"],
    ["ECONNRESET", "the connection was reset"],
    ["UND_ERR_SOCKET", "the connection was closed before the answer was complete"],
    ["UND_ERR_CONNECT_TIMEOUT", "the connection timed out"],
  ])("%s is retryable", (code, why) => {
    const facts = { requestId: "req-9", hint: expect.any(String) as string, cause: { code } };
    const error = { kind: "network", message: `GET /x: ${why}`, retryable: true };
    expect(failureFrom(withCode(code))).toMatchObject({ ...error, ...facts });
  });

  // Fault: network | the certificate is expired, self-signed or another name's | the error's code | ended at once: it cannot pass by itself
  test.each([
    "CERT_HAS_EXPIRED",
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "UNABLE_TO_GET_ISSUER_CERT",
  ])("%s is not retryable", (code) => {
    const error = failureFrom(withCode(code, "certificate has expired"));
    expect(error).toMatchObject({ kind: "network", retryable: false });
    expect(error.message).toContain("certificate");
  });

  test("whatever else breaks it becomes a MirrorError, too", () => {
    expect(failureFrom("a string with hunter2-hunter2")).toMatchObject({
      kind: "network",
      message: "GET /x: a string with [redacted]",
    });
  });

  test("I9: the library's error is not passed on, only its code and redacted words", () => {
    const secretive = Object.assign(withCode("EOTHER", "failed with hunter2-hunter2"), {
      request: { headers: { authorization: "Bearer hunter2-hunter2" } },
    });
    const { cause } = failureFrom(secretive);
    expect(cause).toMatchObject({ code: "EOTHER", message: "failed with [redacted]" });
    expect(cause).not.toHaveProperty("request");
  });
});
