import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { commands } from "../../src/cli/commands/all-commands.ts";
import { readCommandLine } from "../../src/cli/program/command-line.ts";
import { root } from "../support/program/cli.ts";
import { at, type Tree } from "../support/docs/examples.ts";

const hosting = path.join(root, ".github");
const textOf = (name: string) => readFileSync(path.join(root, name), "utf8");
const treeOf = (name: string) => parse(textOf(path.join(".github", name))) as Tree;
const { engines, scripts } = JSON.parse(textOf("package.json")) as {
  engines: { node: string };
  scripts: Record<string, string>;
};

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

function stepsOf(workflow: string, job: string): Step[] {
  return at(treeOf(`workflows/${workflow}.yml`), "jobs", job, "steps") as Step[];
}

describe("the workflow of a change", () => {
  test("runs .ci/run on the oldest Node that the program takes, on the newest, and on one that is too old", () => {
    const nodes = at(treeOf("workflows/ci.yml"), "jobs", "ci", "strategy", "matrix", "node");
    expect(nodes).toEqual(["20", "22", "24"]);
    expect(engines.node).toBe(">=22.19");
    const steps = stepsOf("ci", "ci");
    expect(steps.flatMap(({ run }) => run ?? [])).toEqual(["bash .ci/run"]);
    expect(path.join(root, ".ci/run")).toSatisfy(existsSync);
    const setup = steps.find(({ uses = "" }) => uses.startsWith("actions/setup-node@"));
    expect(setup?.with?.["node-version"]).toBe("${{ matrix.node }}");
  });

  test("may read the repository and nothing else", () => {
    expect(at(treeOf("workflows/ci.yml"), "permissions")).toEqual({ contents: "read" });
    expect(Object.keys(at(treeOf("workflows/ci.yml"), "on") as object)).toEqual(["pull_request", "push"]);
  });
});

describe("the workflow of a release", () => {
  test("publishes with provenance what passed .ci/run, by an identity and not by a token", () => {
    const packing = stepsOf("release", "package").flatMap(({ run }) => run ?? []);
    expect(packing.slice(1)).toEqual([
      "bash .ci/run",
      'npm pkg set "repository.type=git" "repository.url=git+https://github.com/$GITHUB_REPOSITORY.git"',
      "npm pack",
    ]);
    const tree = treeOf("workflows/release.yml");
    expect(at(tree, "jobs", "publish", "needs")).toBe("package");
    expect(at(tree, "jobs", "publish", "permissions", "id-token")).toBe("write");
    const publishing = stepsOf("release", "publish").flatMap(({ run }) => run ?? []);
    expect(publishing[0]).toBe("npm publish --provenance --access public ./fintoro-mirror-*.tgz");
    expect(textOf(".github/workflows/release.yml")).not.toContain("secrets.");
  });

  test("runs no code of the project or of a library where it may publish", () => {
    const tree = treeOf("workflows/release.yml");
    expect(at(tree, "permissions")).toEqual({ contents: "read" });
    expect(at(tree, "jobs", "package", "permissions")).toBeUndefined();
    const publishing = stepsOf("release", "publish");
    expect(publishing.map(({ uses = "" }) => uses).join("\n")).not.toContain("actions/checkout@");
    expect(publishing.flatMap(({ run = "" }) => /npm (?:ci|i|run|exec)|npx/.exec(run) ?? [])).toEqual([]);
  });
});

test.each(readdirSync(path.join(hosting, "workflows")))(
  "%s ends by itself, names a version of each action, takes no text of strangers into a shell, and calls scripts that are there",
  (file) => {
    type Jobs = Record<string, { steps: Step[]; "timeout-minutes": number }>;
    const jobs = Object.values(at(treeOf(`workflows/${file}`), "jobs") as Jobs);
    for (const { steps, "timeout-minutes": minutes } of jobs) {
      expect(minutes).toBeLessThanOrEqual(60);
      for (const { uses, run = "" } of steps) {
        if (uses !== undefined) expect(uses).toMatch(/^[\w-]+\/[\w-]+@v\d+$/);
        expect(run).not.toContain("${{");
        for (const [, name = ""] of run.matchAll(/npm run ([\w:]+)/g)) expect(scripts).toHaveProperty([name]);
      }
    }
  },
);

test("updates come for libraries, tools, actions and the image, a few at a time", () => {
  const updates = at(treeOf("dependabot.yml"), "updates") as Tree[];
  const places = updates.map((one) => `${String(one["package-ecosystem"])} ${String(one["directory"])}`);
  expect(places).toEqual(["npm /", "github-actions /", "docker /examples/docker"]);
  expect(path.join(root, "examples/docker/Dockerfile")).toSatisfy(existsSync);
  expect(Object.keys(at(updates[0], "groups") as object)).toEqual(["libraries", "tools"]);
});

test.each([
  ["defect", { required: true }],
  ["wish", undefined],
])(
  "the form of a %s asks for `check --json`, and every command in it is one that the program takes",
  (name, must) => {
    const form = treeOf(`ISSUE_TEMPLATE/${name}.yml`);
    const check = (form["body"] as Tree[]).find(({ id }) => id === "check");
    expect(check?.["attributes"]).toMatchObject({ label: "`fintoro-mirror check --json`", render: "json" });
    expect(check?.["validations"]).toEqual(must);
    for (const [, line = ""] of JSON.stringify(form).matchAll(/`fintoro-mirror ([^`]+)`/g))
      expect(() => readCommandLine(line.split(" "), commands, "1.2.3")).not.toThrow();
  },
);

test("a change says what `check --json` says", () => {
  expect(textOf(".github/pull_request_template.md")).toContain("fintoro-mirror check --json");
});
