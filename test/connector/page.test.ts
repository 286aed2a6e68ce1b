import { expect, it } from "vitest";
import { readPages, type ListPage } from "../../src/connector/client/page.ts";

interface Row {
  readonly id: number;
  readonly label?: string;
}

/** A service that answers with these rows and says this of the number of its pages. */
function service(rowsOf: (page: number) => readonly Row[], totalPages: (page: number) => number) {
  const asked: number[] = [];
  const read = async (page: number): Promise<ListPage<Row>> => {
    asked.push(page);
    const paginator = { currentPage: page, totalPages: totalPages(page) } as ListPage<Row>["paginator"];
    return { data: rowsOf(page), paginator };
  };
  return { asked, read };
}

async function countPages(read: (page: number) => Promise<ListPage<Row>>): Promise<number> {
  let count = 0;
  for await (const _ of readPages(read, 1)) count++;
  return count;
}

it("a list that grows while it is read is read to its new end", async () => {
  const { read } = service(
    (page) => [{ id: page }],
    (page) => (page === 1 ? 2 : 3),
  );
  await expect(countPages(read)).resolves.toBe(3);
});

it("a page that came before ends the list, whatever its records' labels and the number of pages say", async () => {
  const { read, asked } = service(
    (page) => [{ id: page % 2, label: `read ${page}` }],
    () => 1e9,
  );
  await expect(countPages(read)).resolves.toBe(2);
  expect(asked).toEqual([1, 2, 3]);
});

it("a paginator without a number of pages is read until nothing new comes", async () => {
  const { read } = service(
    (page) => (page <= 4 ? [{ id: page }] : []),
    () => Number.NaN,
  );
  await expect(countPages(read)).resolves.toBe(4);
});

it("a list without end is given up with an error", async () => {
  const { read, asked } = service(
    (page) => [{ id: page }],
    (page) => page + 1,
  );
  const message = "the list does not end after 50000 pages";
  await expect(countPages(read)).rejects.toMatchObject({ kind: "protocol", message });
  expect(asked).toHaveLength(50_000);
});
