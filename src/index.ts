/** The library: the typed client, its errors, and the connector's own description. */
export { connect, type Connection, type ConnectOptions } from "./connect.ts";
export { createClient, type FintoroClient } from "../connectors/fintoro/client/client.ts";
export type * from "../connectors/fintoro/client/record-types.ts";
export { declaration } from "../connectors/fintoro/declaration.ts";
export type * from "./connector/record-schema.ts";
export type * from "./connector/connector-declaration.ts";
export type * from "./connector/operation.ts";
export type * from "./connector/resource.ts";
export { MirrorError, type ErrorKind } from "./base/errors.ts";
export {
  ContradictionError,
  ForbiddenError,
  InvalidError,
  NetworkError,
  NotFoundError,
  ProtocolError,
  RateLimitedError,
  ServiceError,
  UnauthenticatedError,
  UnavailableError,
} from "./connector/service-errors.ts";
export type { ServiceAnswer, ServiceRequest, Transport } from "./connector/transport.ts";
