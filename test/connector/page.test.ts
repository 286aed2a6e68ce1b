import { expect, it } from "vitest";
import { readPages, type ListPage } from "../../src/connector/client/page.ts";

type NumberOf = (page: number) => number;
type Page = ListPage<{ readonly id: number; readonly label: string }>;

/** A service whose pages have one record each, 0 for none, and say this of their number. */
function service(idOf: NumberOf, totalPages: NumberOf) {
  const asked: number[] = [];
  const read = async (page: number): Promise<Page> => {
    asked.push(page);
    const record = { id: idOf(page), label: `read ${page}` };
    const paginator = { currentPage: page, totalPages: totalPages(page) } as Page["paginator"];
    return { data: record.id === 0 ? [] : [record], paginator };
  };
  return { asked, read };
}

async function countPages(read: (page: number) => Promise<Page>): Promise<number> {
  let count = 0;
  for await (const _ of readPages(read, 1)) count++;
  return count;
}

it.each<[string, NumberOf, NumberOf, number]>([
  ["that grows while it is read is read to its new end", (page) => page, (page) => (page === 1 ? 2 : 3), 3],
  ["without a number of pages is read until nothing new comes", (page) => page % 5, () => Number.NaN, 4],
])("a list %s", async (_, idOf, totalPages, pages) => {
  await expect(countPages(service(idOf, totalPages).read)).resolves.toBe(pages);
});

it("a page that came before ends the list, whatever its records' labels and the number of pages say", async () => {
  const { read, asked } = service(
    (page) => 1 + (page % 2),
    () => 1e9,
  );
  await expect(countPages(read)).resolves.toBe(2);
  expect(asked).toEqual([1, 2, 3]);
});

it("a list without end is given up with an error", async () => {
  const { read, asked } = service(
    (page) => page,
    (page) => page + 1,
  );
  const message = "the list does not end after 50000 pages";
  await expect(countPages(read)).rejects.toMatchObject({ kind: "protocol", message });
  expect(asked).toHaveLength(50_000);
});
