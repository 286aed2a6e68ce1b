import { registerHooks } from "node:module";

/** Imported before the program (`node --import`): packages named in WITHOUT_PACKAGES are not installed for it. */
const absent = (process.env["WITHOUT_PACKAGES"] ?? "").split(",");

registerHooks({
  resolve: (specifier, context, next) => {
    if (!absent.includes(specifier)) return next(specifier, context);
    throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: "ERR_MODULE_NOT_FOUND" });
  },
});
