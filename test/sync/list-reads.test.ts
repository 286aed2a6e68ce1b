import { describe, expect } from "vitest";
import { InvalidError } from "../../src/connector/service-errors.ts";
import type { ListForm } from "../../src/extract/work-request.ts";
import type { RunContext } from "../../src/sync/context/run-context.ts";
import {
  listPage,
  queueOtherForm,
  queueOtherPages,
  queueStaleList,
  queueSweepAgain,
  otherListForm,
} from "../../src/sync/plan/list-reads.ts";
import { openHasty, resourceOf } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { startMs, texts } from "../support/mirror/store.ts";
import { answered, runContextOf, waiting } from "../support/mirror/run.ts";

const aRun = async () => runContextOf(await openHasty());

function answerTo(run: RunContext, payload: object, target = "page::1") {
  const page = { kind: "list", resource: "people", target, lane: "list", reason: "sweep" } as const;
  return answered(run, { ...page, payload });
}

const payloads = (run: RunContext) =>
  texts(run.mirror, "SELECT payload FROM _work ORDER BY id").map((one) => JSON.parse(one) as object);

const targetOf = (params: Readonly<Record<string, string>>) =>
  listPage("people", { variant: "v", page: 2, quick: { kind: "all", params } }, 1).target;

describe("the pages of a list", () => {
  // Fault: pagination | pages are smaller than asked for | the first page of a list | the others are asked for in its size
  test("are read from the last one down, of the size of page 1 where that is less", async ({ run }) => {
    const first = { variant: "", page: 1 };
    const [second, third] = [2, 3].map((page) => ({ variant: "", page }));
    queueOtherPages(answerTo(run, first), { pages: 3, perPage: 2 });
    expect(payloads(run)).toEqual([third, second]);
    const smaller = await aRun();
    queueOtherPages(answerTo(smaller, first), { pages: 2, perPage: 1 });
    expect(payloads(smaller)).toEqual([{ ...second, perPage: 1 }]);
    const larger = await aRun();
    queueOtherPages(answerTo(larger, first), { pages: 2, perPage: 9 });
    expect(payloads(larger)).toEqual([second]);
    const parents = await aRun();
    const payload = { parent: "people", parentId: "1" };
    const answer = answerTo(parents, { ...payload, page: 1 });
    queueOtherPages({ ...answer, resource: resourceOf("notes") }, { pages: 2, perPage: 1 });
    expect(payloads(parents)).toEqual([{ ...payload, page: 2, perPage: 1 }]);
  });

  test("are read again from the first one, as the next attempt", ({ run }) => {
    const answer = answerTo(run, { variant: "", page: 3, attempt: 2, again: true }, "page::3");
    const listing = { attempt: 2, pages: 3 } as Parameters<typeof queueSweepAgain>[1];
    queueSweepAgain(answer, listing);
    expect(payloads(run)).toEqual([{ variant: "", page: 1, attempt: 3 }]);
  });

  test("that are asked for in another form begin anew, and no page of the old form is left", ({ run }) => {
    const answer = answerTo(run, { variant: "", page: 2, perPage: 1, unsorted: true }, "page::2");
    run.queue.add(listPage("people", { variant: "", page: 3 }, 1));
    run.queue.add(listPage("people", { variant: "other", page: 3 }, 1));
    queueOtherForm(answer);
    expect(waiting(run)).toEqual(["people page:other:3 list sweep", "people page::1 list sweep"]);
    expect(payloads(run)[1]).toEqual({ variant: "", page: 1 });
  });

  test("of two quick lists have targets of their own", () => {
    expect(targetOf({ a: "1", b: "2" })).toBe("page:quick v a,1 b,2:2");
    expect(targetOf({})).not.toBe(listPage("people", { variant: "v", page: 2 }, 1).target);
  });
});

test("a list that showed what is gone is read before all else, and counts as begun now", ({ run }) => {
  queueStaleList(run, { resource: "people", variant: "" }, startMs + 5);
  expect([...run.begunLists.values()]).toEqual([{ resource: "people", variant: "", begunMs: startMs + 5 }]);
  expect(texts(run.mirror, "SELECT target, rank FROM _work")).toEqual(["page::1 0"]);
});

const sorted = {
  kind: "paged",
  path: "/people",
  perPage: 500,
  params: { sortBy: "id", sortDirection: "asc" },
} as const;
const halves = [250, 125, 62, 31, 15, 10];

/** The forms that are tried one after the other while the service refuses each of them so. */
function formsAfter(error: InvalidError): ListForm[] {
  const forms: ListForm[] = [];
  let form: ListForm | null = {};
  while ((form = otherListForm(sorted, form, error))) forms.push(form);
  return forms;
}

const refused = (fields: Readonly<Record<string, string>>, serviceMessage = "The data was invalid.") =>
  new InvalidError(
    "GET /people was answered with 422",
    Object.fromEntries(Object.entries(fields).map(([field, text]) => [field, [text]])),
    { serviceMessage },
  );

describe("a page size that is refused", () => {
  test.each([
    ["The per page field must not be greater than 100.", 100],
    ["Hodnota musí byť medzi 1 a 200.", 200],
    ["500 is not one of 10, 25, 50.", 50],
    ["Too many.", 250],
    // Never of one record.
    ["At least 1.", 250],
  ])("becomes the one that the message allows, in any language, else half: %s", (text, perPage) => {
    expect(otherListForm(sorted, {}, refused({ perPage: text }))).toEqual({ perPage });
    const unsorted = { unsorted: true } as const;
    expect(otherListForm(sorted, unsorted, refused({ per_page: text }))).toEqual({ perPage, ...unsorted });
  });

  test("is halved down to 10, and then there is nothing left to try", () => {
    expect(formsAfter(refused({ perPage: "No." }))).toEqual(halves.map((perPage) => ({ perPage })));
  });

  test("may be named by the message alone", () => {
    const error = refused({}, "The per page field must not be greater than 100.");
    expect(otherListForm(sorted, {}, error)).toEqual({ perPage: 100 });
  });

  test("of a parent's list is smaller as well", () => {
    const notes = { kind: "parents", path: "/notes", perPage: 200, parents: [] } as const;
    expect(otherListForm(notes, {}, refused({ perPage: "At most 2." }))).toEqual({ perPage: 2 });
  });
});

describe("an order that is refused", () => {
  test.each<Readonly<Record<string, string>>>([{ sortBy: "Invalid." }, { sort_direction: "x" }, {}])(
    "is left out once: %o",
    (fields) => {
      const form = { perPage: 10, unsorted: true };
      expect(otherListForm(sorted, { perPage: 10 }, refused(fields))).toEqual(form);
    },
  );

  test("is left out where only its direction is sent, and is not blamed twice", () => {
    const byId = { ...sorted, params: { sortDirection: "asc" } };
    const error = refused({ sortBy: "Invalid." });
    expect(otherListForm(byId, {}, error)).toEqual({ unsorted: true });
    expect(otherListForm(byId, { unsorted: true }, error)).toBeNull();
  });

  test("is tried first where nothing is named, and smaller pages after it", () => {
    const smaller = halves.map((perPage) => ({ perPage, unsorted: true }));
    expect(formsAfter(refused({}))).toEqual([{ unsorted: true }, ...smaller]);
  });

  test("is not blamed for a refusal that names something else", () => {
    expect(otherListForm(sorted, {}, refused({ page: "The page is invalid." }))).toBeNull();
  });
});

test("a refusal that says nothing at all leaves out the order, where there is one, and then asks for half", () => {
  const error = new InvalidError("GET /people was answered with 422", {}, {});
  expect(otherListForm(sorted, {}, error)).toEqual({ unsorted: true });
  expect(otherListForm({ ...sorted, params: {} }, {}, error)).toEqual({ perPage: 250 });
  expect(otherListForm({ kind: "whole", path: "/colours" }, {}, error)).toBeNull();
});
