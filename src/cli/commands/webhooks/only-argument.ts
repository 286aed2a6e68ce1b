/** Of a command that takes exactly one, which the command line has made sure of. */
export function onlyArgument([argument]: readonly string[]): string {
  if (argument === undefined) throw new Error("broken promise: the argument is required");
  return argument;
}
