import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** What is wrong, each starting with where. */
export type Complaints = readonly string[];

/** One source file, taken apart as far as the rules need. */
export interface Source {
  /** From the project's folder: `src/cli/run.ts`. */
  readonly path: string;
  readonly lines: number;
  /** The text with comments and the insides of strings blanked out, line for line. */
  readonly code: string;
  readonly comments: string;
  readonly strings: readonly string[];
  /** Whole, as it stands in the file. */
  readonly text: string;
  /** What it imports, as written: `../base/clock.ts`, `zod`. */
  readonly imports: readonly string[];
}

export const projectFolder = fileURLToPath(new URL("../..", import.meta.url));

export function projectText(file: string): string {
  return readFileSync(path.join(projectFolder, file), "utf8");
}

/** Every TypeScript file below the folders, and the JavaScript of bin. */
export function readProject(folders: readonly string[]): Source[] {
  return folders.flatMap((folder) =>
    readdirSync(path.join(projectFolder, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(ts|js|mjs|cjs)$/.test(entry.name))
      .map((entry) =>
        path.relative(projectFolder, path.join(entry.parentPath, entry.name)).replaceAll("\\", "/"),
      )
      .map((file) => readSource(file, projectText(file))),
  );
}

export function readSource(file: string, text: string): Source {
  const parts = split(text);
  return {
    path: file,
    lines: text.split("\n").length - (text.endsWith("\n") ? 1 : 0),
    code: parts.code,
    comments: parts.comments,
    strings: parts.strings,
    text,
    imports: importsOf(text, parts.code),
  };
}

/** The module names are strings, which `code` has blanked: their places are found there, their texts here. */
function importsOf(text: string, code: string): string[] {
  const clauses = code.matchAll(/(?:\bfrom\s+|\bimport\s+|\bimport\s*\(\s*)"( *)"/g);
  return [...clauses].map((clause) => {
    const end = clause.index + clause[0].length - 1;
    return text.slice(end - (clause[1] ?? "").length, end);
  });
}

const pieces = new RegExp(
  [
    String.raw`(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)`,
    String.raw`(?<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')`,
    String.raw`(?<template>${"`"}(?:\\[\s\S]|[^${"`"}\\])*${"`"})`,
    // a slash begins a pattern only where a value may begin
    String.raw`(?<=[(,=:[!&|?{};+\n]\s*|\breturn\s+|=>\s*)(?<pattern>\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*)`,
  ].join("|"),
  "g",
);

/**
 * Close enough to a tokenizer for code that prettier has formatted. A template's inner code is blanked
 * together with it.
 */
function split(text: string): Pick<Source, "code" | "comments" | "strings"> {
  const comments: string[] = [];
  const strings: string[] = [];
  const code = text.replace(pieces, (piece: string, ...rest: unknown[]) => {
    const groups = rest.at(-1) as Partial<Record<"comment" | "string" | "template", string>>;
    if (groups.string !== undefined || groups.template !== undefined) strings.push(piece.slice(1, -1));
    if (groups.comment === undefined) return `${piece[0]}${blank(piece.slice(1, -1))}${piece.at(-1)}`;
    comments.push(piece);
    return blank(piece);
  });
  return { code, comments: comments.join("\n"), strings };
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}
