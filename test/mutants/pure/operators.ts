/** A node of the syntax tree; `start` and `end` are offsets in the text. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}

const operators: Readonly<Record<string, readonly string[]>> = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
  "&&": ["||"],
  "||": ["&&"],
  "??": ["&&"],
  "+=": ["-="],
  "-=": ["+="],
};

const methods: ReadonlyMap<string, string> = new Map(
  Object.entries({
    some: "every",
    every: "some",
    min: "max",
    max: "min",
    floor: "ceil",
    ceil: "floor",
    find: "findLast",
    findLast: "find",
    startsWith: "endsWith",
    endsWith: "startsWith",
  }),
);
/** Without them the value itself is left. */
const dropped = new Set([
  "filter",
  "slice",
  "sort",
  "toSorted",
  "reverse",
  "toLowerCase",
  "toUpperCase",
  "trim",
]);

export function expressionMutants(node: Node, text: (node: Node) => string, isMessage: boolean): string[] {
  switch (node.type) {
    case "BinaryExpression":
    case "LogicalExpression":
    case "AssignmentExpression": {
      const [left, right] = [node["left"] as Node, node["right"] as Node];
      const operator = node["operator"] as string;
      const others = operators[operator] ?? [];
      const halves = operator === "&&" || operator === "||" ? [text(left), text(right)] : [];
      // The target of an assignment stands without brackets.
      const first = node.type === "AssignmentExpression" ? text(left) : `(${text(left)})`;
      return [...others.map((other) => `${first} ${other} (${text(right)})`), ...halves];
    }
    case "UnaryExpression":
      return node["operator"] === "!" ? [`!!(${text(node["argument"] as Node)})`] : [];
    case "UpdateExpression":
      return [text(node).replace(/\+\+|--/, (found) => (found === "++" ? "--" : "++"))];
    case "Literal":
      return literalMutants(node, isMessage);
    case "TemplateLiteral":
      return isMessage ? [] : ['""'];
    case "ArrayExpression":
      return (node["elements"] as readonly unknown[]).length > 0 ? ["[]"] : [];
    case "CallExpression":
      return callMutants(node, text);
    default:
      return [];
  }
}

function literalMutants(node: Node, isMessage: boolean): string[] {
  const value = node["value"];
  if (typeof value === "boolean") return [String(!value)];
  if (typeof value === "number") return [String(value + 1)];
  if (typeof value === "string" && !isMessage) return [value === "" ? '"mutant"' : '""'];
  const pattern = (node["regex"] as { readonly pattern: string; readonly flags: string } | undefined) ?? null;
  if (!pattern) return [];
  const loose = [pattern.pattern.replace(/^\^/, ""), pattern.pattern.replace(/\$$/, "")];
  return loose.filter((one) => one !== pattern.pattern).map((one) => `/${one}/${pattern.flags}`);
}

function callMutants(node: Node, text: (node: Node) => string): string[] {
  const callee = node["callee"] as Node;
  const property = callee["property"];
  if (callee.type !== "MemberExpression" || !isNode(property) || property.type !== "Identifier") return [];
  const name = property["name"] as string;
  const other = methods.get(name);
  const object = callee["object"] as Node;
  if (other) return [`${text(object)}.${other}${text(node).slice(callee.end - node.start)}`];
  return dropped.has(name) ? [text(object)] : [];
}

/** Conditions that are always true or false instead. A loop that never ends shows nothing. */
export const conditions: Readonly<Record<string, readonly string[]>> = {
  IfStatement: ["true", "false"],
  ConditionalExpression: ["true", "false"],
  WhileStatement: ["false"],
  ForStatement: ["false"],
};

export function isRemovable(node: Node): boolean {
  if (node.type === "ThrowStatement" || node.type === "ContinueStatement") return true;
  if (node.type !== "ExpressionStatement" || typeof node["directive"] === "string") return false;
  let expression = node["expression"] as Node;
  while (expression.type === "AwaitExpression" || expression.type === "ChainExpression")
    expression = (expression["argument"] ?? expression["expression"]) as Node;
  return ["CallExpression", "AssignmentExpression", "UpdateExpression"].includes(expression.type);
}
