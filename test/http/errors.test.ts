import { describe, expect, test } from "vitest";
import type { ServiceError } from "../../src/connector/service-errors.ts";
import { get } from "../support/http/http-client.ts";
import { rejectionOf } from "../support/errors.ts";
import { json, serviceWith } from "../support/http/http.ts";

describe("any other answer becomes an error with its request id and a hint", () => {
  test.each([
    [401, "UnauthenticatedError", "Unauthenticated."],
    [403, "ForbiddenError", "This action is unauthorized."],
    [404, "NotFoundError", "No query results for model."],
    [409, "ProtocolError", "Conflict"],
    [410, "ProtocolError", "Gone"],
  ])("%i is a %s", async (status, name, message) => {
    const { service, http } = await serviceWith((answer) => json(answer, { message }, status));
    const error = await rejectionOf(http.send(get("/invoices/7")));
    const facts = { requestId: "req-1", serviceMessage: message, retryable: false };
    expect(error).toMatchObject({ name, status, ...facts });
    expect(error.message).toBe(`GET /invoices/7: ${status} ${message} (request req-1)`);
    expect(service.asked).toHaveLength(1);
  });

  test("422 names the fields", async () => {
    const errors = { perPage: ["must be at most 200", "must be a number"], page: "must be at least 1" };
    const { http } = await serviceWith((answer) =>
      json(answer, { message: "The given data was invalid.", errors }, 422),
    );
    expect(await rejectionOf(http.send(get("/x")))).toMatchObject({
      kind: "invalid",
      fields: { ...errors, page: ["must be at least 1"] },
    });
  });

  test.each([
    ["without a body", ""],
    ["with HTML", "<html>502</html>"],
    ["with broken JSON", '{"message":'],
    ["with JSON of another shape", "[1,2]"],
    ["with a message that is no text", '{"message":{"a":1},"errors":[1]}'],
  ])("an error %s is reported by its status alone", async (_, body) => {
    const { http } = await serviceWith((answer) => void answer.writeHead(404).end(body));
    const facts = { status: 404, serviceMessage: null, requestId: null };
    expect(await rejectionOf(http.send(get("/x")))).toMatchObject(facts);
  });

  // Fault: network | an error answer whose body never ends | a server in the service's place | reported by its status, and the connection is closed
  test("an error whose body never ends is reported by its status, and its connection closed", async () => {
    const { http } = await serviceWith((answer) => {
      answer.writeHead(403, { "content-type": "application/json" });
      const timer = setInterval(() => answer.write("x".repeat(20_000)), 1);
      answer.on("close", () => clearInterval(timer));
    });
    expect(await rejectionOf(http.send(get("/x")))).toMatchObject({ kind: "forbidden" });
  });

  // Fault: data | control characters in an error's message | a server in the service's place | escaped and shortened
  test("control characters in a message of the service are escaped, and it is shortened", async () => {
    const { http } = await serviceWith((answer) =>
      json(answer, { message: `\u001b[31mred\u202e ${"x".repeat(900)}` }, 403),
    );
    const error = (await rejectionOf(http.send(get("/x")))) as ServiceError;
    expect(error.serviceMessage).toMatch(/^\\x1b\[31mred\\u202e x+…$/);
    expect(error.serviceMessage).toHaveLength(300);
  });
});
