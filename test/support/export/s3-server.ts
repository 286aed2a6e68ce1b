import { createRequire } from "node:module";

/** The part of s3rver that tests use; it has no types. */
type S3rver = new (options: {
  readonly address: string;
  readonly port: number;
  readonly silent: boolean;
  readonly directory: string;
  readonly vhostBuckets: boolean;
  readonly configureBuckets: readonly { readonly name: string }[];
}) => { run(): Promise<{ readonly port: number }>; close(): Promise<void> };

const require = createRequire(import.meta.url);

/** Starts a real S3 server with one bucket, which checks signatures and stores objects in `directory`. */
export async function startS3(directory: string, bucket: string) {
  const Server = require("@20minutes/s3rver") as S3rver;
  const address = "127.0.0.1";
  const configureBuckets = [{ name: bucket }];
  const options = { address, port: 0, silent: true, vhostBuckets: false };
  const server = new Server({ ...options, directory, configureBuckets });
  const { port } = await server.run();
  return { url: `http://${address}:${port}`, close: () => server.close() };
}

export function s3Env(url: string) {
  return { AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER", AWS_ENDPOINT_URL: url };
}
