import { registerHooks } from "node:module";

/** Imported before the program (`node --import`): prints the packages it loaded on stderr, as a last line. */
const packages = new Set<string>();

registerHooks({
  load: (url, context, next) => {
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
    if (name !== undefined) packages.add(name);
    return next(url, context);
  },
});

process.once("exit", () => process.stderr.write(`${JSON.stringify([...packages].toSorted())}\n`));
