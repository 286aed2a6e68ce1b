import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Mutant } from "./instrument.ts";

const file = "test/mutants/SURVIVORS.md";
const unexplained = "Without a reason";

/** Sections of the file: heading and text, then one line for each survivor. */
interface Section {
  readonly heading: string;
  readonly text: string[];
  readonly lines: Set<string>;
}

/**
 * Compares survivors with the list of those that have a reason, for these files of the product. With `update` the
 * list is written anew.
 *
 * @returns whether each has a reason
 */
export function reportSurvivors(
  survivors: readonly Mutant[],
  files: ReadonlySet<string>,
  update: boolean,
): boolean {
  const { head, sections } = readList();
  const living = new Set(survivors.map(lineOf));
  const known = new Set(
    sections.flatMap(({ heading, lines }) => (heading === unexplained ? [] : [...lines])),
  );
  const fresh = [...living].filter((line) => !known.has(line));
  if (update) {
    const isOld = (line: string) => living.has(line) || !files.has(/^- `([^`]+)`/.exec(line)?.[1] ?? "");
    const kept = sections.filter(({ heading }) => heading !== unexplained);
    const all = [...kept, { heading: unexplained, text: [], lines: new Set(fresh) }];
    const written = all.map(({ heading, text, lines }) => {
      const listed = [...lines].filter(isOld).toSorted();
      return listed.length === 0
        ? ""
        : `## ${heading}\n\n${text.map((one) => `${one}\n\n`).join("")}${listed.join("\n")}`;
    });
    writeFileSync(file, `${[head.trim(), ...written.filter(Boolean)].join("\n\n").trim()}\n`);
  }
  if (fresh.length > 0)
    process.stdout.write(`\n${fresh.length} survivors without a reason:\n${fresh.join("\n")}\n`);
  return fresh.length === 0;
}

/** Without the number of the line, which other changes move. */
function lineOf({ file: name, source, code, mutated }: Mutant): string {
  return `- \`${name}\` \`${short(source)}\`: \`${short(code)}\` to \`${short(mutated) || "nothing"}\``;
}

function readList(): { head: string; sections: Section[] } {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "# Surviving mutants\n";
  const [head = "", ...parts] = text.split(/^## /m);
  const sections = parts.map((part) => {
    const [heading = "", ...rest] = part.split("\n");
    const lines = rest.filter((line) => line.startsWith("- `"));
    const others = rest.filter((line) => line !== "" && !line.startsWith("- `"));
    return { heading, text: others, lines: new Set(lines) };
  });
  return { head, sections };
}

function short(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll("`", "'").slice(0, 100);
}
