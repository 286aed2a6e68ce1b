import { expect, test } from "vitest";
import { NodesTable } from "../../src/fleet/postgres/tables/heartbeats.ts";
import { runCommand, temporaryFolder } from "../support/program/cli.ts";
import { blocks } from "../support/docs/docs.ts";
import { connectNode, describeWithPostgres, freshDatabase } from "../support/postgres/databases.ts";

const page = "docs/fleet.md";
const own = blocks.filter(({ file }) => file === page);

describeWithPostgres("the page about many machines", () => {
  test("its commands do what it says, in their order, with its config", async () => {
    const url = await freshDatabase();
    const node = { node: "worker-1", version: "1", role: "all", held: 1, capacity: 50 };
    await new NodesTable(await connectNode(url)).register(node);
    const fleet = own.find(({ language }) => language === "yaml")?.text ?? "";
    const companies = "companies: { acme: { token: '${env:ACME}' }, beta: { token: '${env:BETA}' } }\n";
    const cwd = temporaryFolder({ "config.yaml": `${companies}${fleet}` });
    const lines = own
      .filter(({ language, marks }) => language === "sh" && marks[1] === "test/docs/fleet.test.ts")
      .flatMap(({ text }) => [...text.matchAll(/^npx fintoro-mirror +([^#\n]+?) *(?:#.*)?$/gm)]);
    expect(lines.length).toBeGreaterThan(4);
    const failed: string[] = [];
    for (const [, line = ""] of lines) {
      const env = { DATABASE_URL: url, ACME: "token-of-acme", BETA: "token-of-beta" };
      const { code, stderr } = await runCommand(line.split(" "), { cwd, env });
      if (code !== 0) failed.push(`${line}: ${stderr}`);
    }
    expect(failed).toEqual([]);
  });
});
