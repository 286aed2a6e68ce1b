import { describe, expect, test } from "vitest";
import { MirrorError, type ErrorKind } from "../../src/base/errors.ts";
import { ForbiddenError, InvalidError, NetworkError } from "../../src/connector/service-errors.ts";
import { NotFoundError, ProtocolError, RateLimitedError } from "../../src/connector/service-errors.ts";
import { UnauthenticatedError, UnavailableError } from "../../src/connector/service-errors.ts";
import { Tally } from "../../src/sync/context/tally.ts";
import { failureOutcome, itemRetryDelayMs } from "../../src/sync/retry/retry-policy.ts";
import { SetAsideItems } from "../../src/sync/context/run-context.ts";
import type { WorkItem, WorkKind } from "../../src/state/work-item.ts";

function work(kind: WorkKind, attempts = 0): WorkItem {
  const place = { id: 1, resource: "people", target: "id:1", lane: "list", reason: "test" } as const;
  return { ...place, kind, dirtySeq: 1, attempts };
}

const mayPass = new ProtocolError("HTML", { retryable: true });
const refused = (field: string) => new InvalidError("422", { [field]: ["no"] });

describe("what a failed read means", () => {
  test.each([
    ["401 ends the run", new UnauthenticatedError("401"), "detail", "stop"],
    ["403 on a list holds the resource, not the run", new ForbiddenError("403"), "list", "hold"],
    ["403 on a record sets that record aside", new ForbiddenError("403"), "detail", "dead"],
    ["403 on a record to be confirmed too", new ForbiddenError("403"), "confirm", "dead"],
    ["403 on a parent's list concerns that parent", new ForbiddenError("403"), "child", "dead"],
    ["404 of a record may mean that it is deleted", new NotFoundError("404"), "detail", "missing"],
    ["404 of a record to be confirmed too", new NotFoundError("404"), "confirm", "missing"],
    ["404 of a parent's list checks the parent", new NotFoundError("404"), "child", "check parent"],
    ["404 of a list holds the resource", new NotFoundError("404"), "list", "hold"],
    ["422 on the page size asks for smaller pages", refused("perPage"), "list", "other list form"],
    ["422 on the order asks without it", refused("sortBy"), "list", "other list form"],
    ["422 of a parent's list checks the parent", refused("clientId"), "child", "check parent"],
    ["422 on a parent's page size asks for smaller pages", refused("perPage"), "child", "other list form"],
    ["422 of a record makes a dead letter", refused("id"), "detail", "dead"],
    ["503 is tried again", new UnavailableError("503"), "detail", "retry"],
    ["no answer is tried again", new NetworkError("reset"), "list", "retry"],
    ["429 is tried again", new RateLimitedError("429"), "child", "retry"],
    ["a malformed answer that may pass is tried again", mayPass, "list", "retry"],
    ["one that will not pass makes a dead letter", new ProtocolError("too large"), "detail", "dead"],
    ["a limit lets requests in flight finish", new MirrorError("stopped", "enough"), "list", "drain"],
    ["a full disk ends the run", new MirrorError("database", "full"), "list", "stop"],
    ["a bug of ours ends the run", new TypeError("undefined"), "list", "stop"],
    ["a thrown text ends the run", "a text", "list", "stop"],
  ] as const)("%s", (_case, error, kind, consequence) => {
    expect(failureOutcome(error, work(kind)).kind).toBe(consequence);
  });

  test("no attempt is endless: the last one makes a dead letter", () => {
    const error = new UnavailableError("503");
    const kinds = [0, 1, 2, 3].map((attempts) => failureOutcome(error, work("detail", attempts)).kind);
    expect(kinds).toEqual(["retry", "retry", "dead", "dead"]);
  });

  test("each attempt waits longer, up to half a minute", () => {
    expect([0, 1, 2, 5, 50].map(itemRetryDelayMs)).toEqual([1_000, 2_000, 4_000, 32_000, 32_000]);
  });

  test("errors that concern more than one item end the run", () => {
    const kinds: ErrorKind[] = ["usage", "config", "identity", "locked", "unauthenticated", "database"];
    for (const kind of kinds) {
      expect(failureOutcome(new MirrorError(kind, "x"), work("detail"))).toEqual({ kind: "stop" });
    }
  });
});

describe("records that a run sets aside", () => {
  test("count in a row once each, until their resource answers 200", () => {
    const setAside = new SetAsideItems();
    const [first, second] = [work("detail"), { ...work("detail"), target: "id:2" }];
    expect([first, first, second].map((item) => setAside.refused(item))).toEqual([1, 1, 2]);
    expect(setAside.refused({ ...first, resource: "orders" })).toBe(1);
    setAside.answered("people");
    expect(setAside.refused(second)).toBe(1);
  });

  test("are not asked again in the run after the third time, whatever queues them", () => {
    const setAside = new SetAsideItems();
    const item = work("detail");
    for (let times = 1; times <= 3; times++) {
      expect(setAside.spentReason(item)).toBeNull();
      setAside.add(item, "403");
    }
    expect(setAside.spentReason(item)).toBe("403");
    expect(setAside.spentReason({ ...item, target: "id:2" })).toBeNull();
  });

  test("are one trouble for each resource and kind, with the latest message", () => {
    const tally = new Tally();
    tally.trouble({ resource: "people", kind: "dead", message: "first" });
    tally.trouble({ resource: "people", kind: "dead", message: "second" });
    tally.trouble({ resource: "people", kind: "held", message: "third" });
    expect(tally.allTroubles().map(({ message }) => message)).toEqual(["second", "third"]);
  });
});
