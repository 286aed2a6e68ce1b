import * as fc from "fast-check";

/** A property that a mutant breaks needs no smallest example. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true });
