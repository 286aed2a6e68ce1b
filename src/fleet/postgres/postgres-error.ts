import { codeOf, messageOf, MirrorError, type ErrorOptions } from "../../base/errors.ts";

/** Codes of sockets and name lookups that mean: nobody answers there, perhaps later. */
const awayCodes = new Set(
  "ECONNREFUSED ECONNRESET ETIMEDOUT EPIPE ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH ENOENT".split(" "),
);

/** Errors of the driver that have no code. */
const awayMessages =
  /connection (?:terminated|ended|error|is closed)|timeout exceeded when trying to connect|query read timeout|not queryable/i;

/** What an operator can do about an SQLSTATE, or about its class (two characters). */
const hints: Readonly<Record<string, string>> = {
  "28": "Check the user and the password in fleet.postgres.",
  "3D000": "Create the database, or name another one in fleet.postgres.",
  "42501":
    "Grant the user the right to create a schema in this database, or let its owner run the command once.",
  "53300": "Raise max_connections of Postgres, or run fewer nodes.",
  "53100": "The disk of Postgres is full: free space on it.",
  "3F000": "The fleet's tables are missing: `fleet add` makes them, and so does a worker.",
  "42P01": "The fleet's tables are missing: `fleet add` makes them, and so does a worker.",
  "25006": "fleet.postgres names a server that only reads: name the one that writes.",
};

/** Errors of TLS have texts of their own, or codes of OpenSSL. */
const tlsErrors =
  /SSL connections|certificate|^ERR_(?:TLS|SSL)_|^(?:CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)_/i;
const tlsHint =
  "fleet.postgres asks for TLS (sslmode): let the server offer it, with a certificate for this host that this machine trusts (sslrootcert=FILE names another authority).";

const awayHint = "Check that Postgres runs and that fleet.postgres names it.";

export const poolerHint =
  "That is a connection pooler, as PgBouncer: name the Postgres server itself in fleet.postgres. A worker has ten connections at most.";
/** How poolers answer what a session asks for at its start. */
const poolerMessages = /unsupported startup parameter/i;

/**
 * SQLSTATEs after which the same statement can succeed: connection (08), resources (53), operator intervention and
 * shutdown (57), a lock or transaction that gave way (40, 55P03), a session that was ended (25P03), a server that became
 * a standby (25006).
 */
const retryableState = /^(?:08|40|53|57|55P03|25P03|25006)/;

/** Postgres did not do what it was asked. A file or a store that refuses is another thing, whatever its `kind`. */
export class PostgresError extends MirrorError {
  constructor(message: string, options: ErrorOptions) {
    super("database", message, options);
  }
}

/**
 * The MirrorError of what the driver threw. `server` names host, port and database.
 *
 * @param redact removes the password, whatever the message says
 */
export function postgresError(error: unknown, server: string, redact: (text: string) => string): MirrorError {
  if (error instanceof MirrorError) return error;
  const code = codeOf(error);
  const reason = redact(messageOf(error) || code || "no reason was given");
  if (awayCodes.has(code) || awayMessages.test(reason)) {
    const options = { retryable: true, hint: awayHint, cause: error };
    return new PostgresError(`Postgres at ${server} does not answer: ${reason}`, options);
  }
  if (poolerMessages.test(reason))
    return new PostgresError(`Postgres at ${server}: ${reason}`, { hint: poolerHint, cause: error });
  const ofTls = tlsErrors.test(reason) || tlsErrors.test(code) ? tlsHint : undefined;
  const hint = hints[code] ?? hints[code.slice(0, 2)] ?? ofTls;
  const options = { retryable: retryableState.test(code), cause: error, ...(hint ? { hint } : {}) };
  return new PostgresError(`Postgres at ${server}: ${reason}${code && ` (${code})`}`, options);
}

/** Was Postgres away, or did it give way to another transaction? Then the same step can succeed later. */
export function isPostgresAway(error: unknown): error is PostgresError {
  return error instanceof PostgresError && error.retryable;
}
