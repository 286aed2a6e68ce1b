"use strict";
// The built program, or the source of a fresh checkout. Node strips types outside node_modules only.
const { existsSync } = require("node:fs");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");

const built = join(__dirname, "..", "dist", "src", "main.js");
const source = join(__dirname, "..", "src", "main.ts");
module.exports = import(pathToFileURL(existsSync(built) ? built : source).href);
