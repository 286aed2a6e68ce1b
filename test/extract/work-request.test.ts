import { expect, test } from "vitest";
import { requestFor } from "../../src/extract/work-request.ts";
import { recordTarget } from "../../src/state/work-item.ts";
import { resourceOf } from "../support/mirror/mirror.ts";
import { workItem } from "../support/mirror/state-rows.ts";

const page = (payload: object) => workItem({ kind: "list", target: "page::1", payload });

test("a page is requested by number, always with a size, which may be smaller, and the connector's sort", () => {
  expect(requestFor(resourceOf("people"), page({ variant: "", page: 3 }))).toEqual({
    method: "GET",
    path: "/people",
    query: { sortBy: "id", perPage: 2, page: 3 },
    expect: "json",
  });
  const smaller = requestFor(resourceOf("people"), page({ variant: "", page: 1, perPage: 1 }));
  expect(smaller.query).toMatchObject({ perPage: 1 });
});

test("a list in one answer and a single object take no page, and a variant is its parameter", () => {
  expect(requestFor(resourceOf("colours"), page({ variant: "", page: 1 })).query).toEqual({});
  const series = requestFor(resourceOf("counters"), page({ variant: "credit-note", page: 1 }));
  expect(series).toMatchObject({ path: "/counters", query: { documentType: "credit-note" } });
  const single = requestFor(resourceOf("shop"), page({ variant: "", page: 1 }));
  expect(single).toMatchObject({ path: "/shop", query: {} });
});

test.each(["detail", "confirm"] as const)("a %s goes to the record's own route, beyond 2^53 too", (kind) => {
  const target = recordTarget(9_007_199_254_740_993n);
  expect(requestFor(resourceOf("people"), workItem({ kind, target })).path).toBe("/people/9007199254740993");
});

test("a parent's list is requested with that parent's parameter only", () => {
  const payload = { parent: "people", parentId: "17", page: 2 };
  const request = requestFor(resourceOf("notes"), workItem({ kind: "child", resource: "notes", payload }));
  expect(request.query).toEqual({ personId: "17", perPage: 2, page: 2 });
});
