/** A person of the shop as the service sends it; a text is another name. */
export const person = (id: number, more: object | string = {}) => {
  const own = typeof more === "string" ? { name: more } : more;
  return { id, name: `n${id}`, email: null, score: null, ...own };
};

export const people = (...ids: readonly number[]) => ids.map((id) => person(id));

export const twoLines = ["a", "b"].map((title, i) => ({ id: i + 1, title, quantity: i + 1 }));

/** The detail of an order, without lines and receipts unless they are given. */
export const order = (id: number, more: object = {}) => ({ ...listed(id), lines: [], receipts: [], ...more });

/** What a list shows of it. */
export const listed = (id: number, more: object = {}) => ({ id, number: "A", total: 1, ...more });

export const note = (id: number, personId: number, body = "b") => ({ id, body, personId, attachments: [] });
