import type { babel } from "@stryker-mutator/core";

type Place = babel.NodePath;

const makesMessage = /(?:Error|^OddValue|^Unexpected|^assert|^malformed\w*|\.malformed\w*)$/;

/** Tests do not repeat the words that people read: log lines, and the texts of errors and of a `why`. */
function shouldIgnore(place: Place): string | undefined {
  if (/(?:^|\.)log\.\w+$/.test(calleeOf(place))) return "a log line";
  const isText = place.isStringLiteral() || place.isTemplateLiteral();
  return isText && place.findParent(isMessage) ? "a message" : undefined;
}

function isMessage(place: Place): boolean {
  if (place.isObjectProperty()) return place.get("key").isIdentifier({ name: "why" });
  return makesMessage.test(calleeOf(place));
}

/** What is called or made here, as it is written. */
function calleeOf(place: Place): string {
  return place.isCallExpression() || place.isNewExpression() ? place.get("callee").toString() : "";
}

export const strykerPlugins = [{ kind: "Ignore", name: "messages", value: { shouldIgnore } }];
