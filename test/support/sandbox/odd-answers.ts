import type { Fault } from "../../../connectors/fintoro/sandbox/service/faults.ts";
import type { Dict } from "./sandbox.ts";

type Answer = NonNullable<Fault["answer"]>;
interface List {
  readonly data: readonly Dict[];
  readonly paginator?: Dict;
}

/** Rewrites what succeeded: the JSON of each record, of a list or alone. */
export function eachRecord(rewrite: (text: string, record: Dict) => string): Answer {
  const textOf = (record: Dict) => rewrite(JSON.stringify(record), record);
  return (whole) => {
    if (whole.status >= 300 || whole.headers["Content-Type"] !== "application/json") return whole;
    const json = JSON.parse(whole.body.toString()) as Dict | List;
    const rest = "data" in json ? JSON.stringify({ ...json, data: [] }).replace(/^\{"data":\[\]/, "") : "";
    const text =
      "data" in json ? `{"data":[${(json as List).data.map(textOf).join(",")}]${rest}` : textOf(json);
    return { ...whole, body: Buffer.from(text) };
  };
}

const withFields = (fields: string) =>
  eachRecord((text) => (text === "{}" ? `{${fields}}` : `${text.slice(0, -1)},${fields}}`));

const answers = {
  /** A careless error page that prints the request. */
  echo_token: (whole, authorization) => {
    const message = `Server Error while handling Authorization: ${authorization}`;
    const token = authorization.replace(/^Bearer +/i, "");
    const headers = { ...whole.headers, "Content-Type": "application/json" };
    return { status: 500, headers, body: Buffer.from(JSON.stringify({ message, token })) };
  },
  duplicate_ids: (whole) => {
    const { data, ...rest } = JSON.parse(whole.body.toString()) as List;
    const body = Buffer.from(JSON.stringify({ data: [...data.slice(0, 1), ...data], ...rest }));
    return { ...whole, body };
  },
  missing_ids: eachRecord((text) => text.replace(/^\{"id":[^,}]+,?/, "{")),
  /** Up to the largest that a row can hold, one apart for neighbours: as doubles all are the same number. */
  huge_ids: eachRecord((text) =>
    text.replace(/^\{"id":(\d+)/, (_, id: string) => `{"id":${2n ** 63n - BigInt(id)}`),
  ),
  unknown_values: eachRecord((text) => text.replace(/"(type|status)":"[^"]*"/g, '"$1":"brand_new_value"')),
  unknown_fields: withFields('"brandNewField":{"deep":[1,"ň",null]},"snowman ☃":true'),
  missing_fields: eachRecord((text) => text.replace(/"(number|name)":"(?:[^"\\]|\\.)*",?/, "")),
  proto_key: withFields('"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}'),
  /** Numbers of the usual kinds, written in ways that only the text preserves. */
  number_literals: eachRecord((text) => {
    const literal = text.replace(/"total":-?[\d.]+/, '"total":1e3');
    return `${literal.slice(0, -1)},"bigNumber":9007199254740993}`;
  }),
} as const satisfies Readonly<Record<string, Answer>>;

/** A fault of the sandbox whose answers are not what the interface describes. */
export function odd(kind: keyof typeof answers): Fault & { readonly answer: Answer } {
  return { kind, answer: answers[kind] };
}
