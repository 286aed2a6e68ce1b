import path from "node:path";
import type { Source } from "./read-source.ts";

/** What a reader of the product has to take in. None of it may grow: a feature pays for itself by what it removes. */
export interface Size {
  readonly lines: number;
  readonly files: number;
  readonly exportedNamesPerThousandLines: number;
  /** Files, each of which loads the next one; types load nothing. */
  readonly longestImportChain: number;
  readonly interfacesOfMoreThanEightMembers: number;
  /** Types and classes whose name means another thing elsewhere, exported or not. */
  readonly typeNamesThatStandTwice: number;
}

export function sizeOf(sources: readonly Source[]): Size {
  const lines = sources.reduce((sum, source) => sum + source.lines, 0);
  const types = Map.groupBy(namesIn(sources, declaredType), (name) => name);
  return {
    lines,
    files: sources.length,
    exportedNamesPerThousandLines: Math.ceil((1000 * namesIn(sources, exportedName).length) / lines),
    longestImportChain: longestChain(sources).length,
    interfacesOfMoreThanEightMembers: sources.flatMap(wideInterfaces).length,
    typeNamesThatStandTwice: [...types].filter(([, all]) => all.length > 1).length,
  };
}

const exportedName =
  /^export (?:async )?(?:abstract )?(?:function\*?|class|const|let|interface|type) (\w+)/gm;
const declaredType = /^(?:export )?(?:abstract )?(?:class|interface|type) (\w+)/gm;

function namesIn(sources: readonly Source[], declaration: RegExp): string[] {
  return sources.flatMap(({ code }) => [...code.matchAll(declaration)].map((match) => match[1] ?? ""));
}

function wideInterfaces({ code }: Source): string[] {
  const bodies = code.matchAll(/^(?:export )?interface (\w+)[^{]*\{([\s\S]*?)^\}/gm);
  return [...bodies].flatMap(([, name = "", body = ""]) => {
    const members = body.match(/^ {2}(?:readonly )?\w+\??(?::|\()/gm) ?? [];
    return members.length > 8 ? [name] : [];
  });
}

/** From a file that nobody loads to one that loads nothing. There are no circles: another rule. */
function longestChain(sources: readonly Source[]): readonly string[] {
  const known = new Map(sources.map((source) => [source.path, source]));
  const chains = new Map<string, readonly string[]>();
  const chainFrom = (file: string): readonly string[] => {
    const found = chains.get(file);
    if (found) return found;
    const source = known.get(file);
    const below = source ? loadedFiles(source).map(chainFrom) : [];
    const chain = [...(source ? [file] : []), ...longest(below)];
    chains.set(file, chain);
    return chain;
  };
  return longest([...known.keys()].map(chainFrom));
}

function longest(chains: readonly (readonly string[])[]): readonly string[] {
  return chains.reduce((most, chain) => (chain.length > most.length ? chain : most), []);
}

/** Without types, and without what is imported when it is needed. */
function loadedFiles({ path: file, text }: Source): string[] {
  const clauses = text.matchAll(/^(?:import|export)(?! type\b)[^;"]*?(?:from )?"(\.[^"]+)";/gm);
  return [...clauses].map((clause) => path.posix.join(path.posix.dirname(file), clause[1] ?? ""));
}
