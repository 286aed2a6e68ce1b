#!/usr/bin/env node
"use strict";
// Every Node there is must be able to read this file: the libraries end an older one with a bare crash.
var needed = [22, 19];
var parts = process.versions.node.split(".");
var tooOld = Number(parts[0]) < needed[0] || (Number(parts[0]) === needed[0] && Number(parts[1]) < needed[1]);
if (tooOld) {
  var message =
    "fintoro-mirror needs Node " +
    needed.join(".") +
    " or newer; this is Node " +
    process.versions.node +
    " (" +
    process.execPath +
    ")";
  var hint = "install a newer Node, or start bin/fintoro-mirror.js with the path of one";
  var line = process.stderr.isTTY
    ? "error: " + message + "\nhint: " + hint
    : JSON.stringify({ level: "error", msg: message, kind: "usage", hint: hint });
  process.stderr.write(line + "\n");
  process.exitCode = 2;
} else {
  module.exports = require("./start.js");
}
