import { describe, expect, test } from "vitest";
import { InvalidError } from "../../src/connector/service-errors.ts";
import type { ListForm } from "../../src/extract/work-request.ts";
import { otherListForm } from "../../src/sync/plan/list-reads.ts";

const list = {
  kind: "paged",
  path: "/people",
  perPage: 500,
  params: { sortBy: "id", sortDirection: "asc" },
} as const;
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
  ])("becomes the one that the message allows, in any language, else half: %s", (text, perPage) => {
    expect(otherListForm(list, {}, refused({ perPage: text }))).toEqual({ perPage });
    expect(otherListForm(list, { unsorted: true }, refused({ per_page: text }))).toEqual({
      perPage,
      unsorted: true,
    });
  });

  test("is halved down to 10, and then there is nothing left to try", () => {
    const sizes: number[] = [];
    let form: ListForm | null = {};
    while ((form = otherListForm(list, form, refused({ perPage: "No." })))) sizes.push(form.perPage ?? 0);
    expect(sizes).toEqual([250, 125, 62, 31, 15, 10]);
  });

  test("may be named by the message alone", () => {
    const error = refused({}, "The per page field must not be greater than 100.");
    expect(otherListForm(list, {}, error)).toEqual({ perPage: 100 });
  });

  test("of a parent's list is smaller as well", () => {
    const notes = { kind: "parents", path: "/notes", perPage: 200, parents: [] } as const;
    const form = otherListForm(notes, {}, refused({ perPage: "At most 2." }));
    expect(form).toEqual({ perPage: 2 });
  });
});

describe("an order that is refused", () => {
  test.each<Readonly<Record<string, string>>>([{ sortBy: "Invalid." }, { sort_direction: "x" }, {}])(
    "is left out once: %o",
    (fields) => {
      expect(otherListForm(list, { perPage: 10 }, refused(fields))).toEqual({ perPage: 10, unsorted: true });
    },
  );

  test("is left out where only its direction is sent, and is not blamed twice", () => {
    const byId = { ...list, params: { sortDirection: "asc" } };
    const error = refused({ sortBy: "Invalid." });
    expect(otherListForm(byId, {}, error)).toEqual({ unsorted: true });
    expect(otherListForm(byId, { unsorted: true }, error)).toBeNull();
  });

  test("is tried first where nothing is named, and smaller pages after it", () => {
    const forms: ListForm[] = [];
    let form: ListForm | null = {};
    while ((form = otherListForm(list, form, refused({})))) forms.push(form);
    const sizes = [250, 125, 62, 31, 15, 10].map((perPage) => ({ perPage, unsorted: true }));
    expect(forms).toEqual([{ unsorted: true }, ...sizes]);
  });

  test("is not blamed for a refusal that names something else", () => {
    expect(otherListForm(list, {}, refused({ page: "The page is invalid." }))).toBeNull();
  });
});

test("a refusal that says nothing at all leaves out the order, where there is one, and then asks for half", () => {
  const error = new InvalidError("GET /people was answered with 422", {}, {});
  expect(otherListForm(list, {}, error)).toEqual({ unsorted: true });
  expect(otherListForm({ ...list, params: {} }, {}, error)).toEqual({ perPage: 250 });
  expect(otherListForm({ kind: "whole", path: "/colours" }, {}, error)).toBeNull();
});

test("a size of one record is none that a message allows, and two is", () => {
  expect(otherListForm(list, {}, refused({ perPage: "At least 1." }))).toEqual({ perPage: 250 });
  expect(otherListForm(list, {}, refused({ perPage: "At most 2." }))).toEqual({ perPage: 2 });
});
