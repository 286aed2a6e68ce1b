import { existsSync, readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { parse } from "yaml";

/** The vendor's reference lies beside the project where the project is developed, and nowhere else. */
const file = new URL("../../../../shared/reference/fintoro-openapi.yaml", import.meta.url);
export const referencePresent = existsSync(file);

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

interface Operation {
  readonly responses: Record<string, { readonly content?: Record<string, { readonly schema: Schema }> }>;
}

interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, Schema> };
}

/** The vendor's schemas, as checks of answers. */
export class Reference {
  readonly #document = parse(readFileSync(file, "utf8")) as Document;
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  readonly #checks = new Map<string, ValidateFunction>();

  constructor() {
    allowNullInEnums(this.#document);
    this.#ajv.addSchema(this.#document, "reference");
  }

  /** `[method, path]` of everything it publishes. */
  get operations(): [string, string][] {
    const { paths } = this.#document;
    return Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { responses }]): [string, string][] =>
        responses === undefined ? [] : [[method, path]],
      ),
    );
  }

  isJson(method: string, path: string, status: number): boolean {
    return this.#schema(method, path, status) !== undefined;
  }

  /** What is wrong with an answer: by its schema, and by fields it lacks or has too many. */
  complaints(method: string, path: string, status: number, body: unknown): string[] {
    const schema = this.#schema(method, path, status);
    if (!schema) return [`no answer ${status} is published for ${method} ${path}`];
    const check = this.#check(
      `${pointer(path)}/${method}/responses/${status}/content/application~1json/schema`,
    );
    const wrong = check(body)
      ? []
      : (check.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
    return [...wrong, ...this.#gaps(schema, body, "")];
  }

  #schema(method: string, path: string, status: number): Schema | undefined {
    return this.#document.paths[path]?.[method]?.responses[String(status)]?.content?.["application/json"]
      ?.schema;
  }

  #check(at: string): ValidateFunction {
    const known = this.#checks.get(at) ?? this.#ajv.compile({ $ref: `reference#/paths/${at}` });
    this.#checks.set(at, known);
    return known;
  }

  /** Nothing is marked as required in the reference, so fields are compared one by one. */
  #gaps(schema: Schema, value: unknown, at: string): string[] {
    if (Array.isArray(value))
      return value.flatMap((one) => this.#gaps(this.#resolved(schema).items ?? {}, one, `${at}/*`));
    if (typeof value !== "object" || value === null || isOpen(at)) return [];
    const { properties } = this.#resolved(schema);
    if (!properties) return [];
    const missing = Object.keys(properties).filter((key) => !(key in value));
    const extra = Object.keys(value).filter((key) => !(key in properties));
    return [
      ...missing.map((key) => `${at}/${key} is missing`),
      ...extra.map((key) => `${at}/${key} is not published`),
      ...Object.entries(value).flatMap(([key, inner]) =>
        this.#gaps(properties[key] ?? {}, inner, `${at}/${key}`),
      ),
    ];
  }

  /** References followed, alternatives with null read as what they are besides null. */
  #resolved(schema: Schema): Schema {
    const name = schema.$ref?.split("/").at(-1);
    if (name !== undefined) return this.#resolved(this.#document.components.schemas[name] ?? {});
    const parts = schema.allOf ?? schema.anyOf;
    if (!parts) return schema;
    const merged = parts.map((part) => this.#resolved(part));
    return {
      ...schema,
      properties: Object.assign(
        {},
        ...merged.map(({ properties }) => properties),
      ) as Schema["properties"] & {},
    };
  }
}

/** Which fields of a CRM event's metadata there are depends on its type. */
function isOpen(at: string): boolean {
  return at.endsWith("/metadata");
}

/** Some fields are typed `string | null` beside an enum that forgets null. */
function allowNullInEnums(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  const { type, enum: values } = node as { type?: unknown; enum?: unknown };
  const forgotten =
    Array.isArray(type) && type.includes("null") && Array.isArray(values) && !values.includes(null);
  if (forgotten) values.push(null);
  for (const inner of Object.values(node)) allowNullInEnums(inner);
}

function pointer(path: string): string {
  return encodeURIComponent(path.replaceAll("~", "~0").replaceAll("/", "~1"));
}
