import { MirrorError } from "../base/errors.ts";
import { isLoopbackUrl } from "../config/address.ts";

/** A place in an object store. */
export interface S3Target {
  readonly bucket: string;
  /** Without slashes at its ends; may be empty. */
  readonly prefix: string;
}

/** How to reach a bucket. */
export interface S3Access {
  /** With the bucket: `https://acme.s3.eu-central-1.amazonaws.com`, `http://127.0.0.1:9000/acme`. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Parses `s3://bucket/some/prefix`. @throws MirrorError `usage` */
export function readTarget(text: string): S3Target {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text);
  const prefix = (match?.[2] ?? "").replace(/^\/+|\/+$/g, "");
  if (match?.[1] && !prefix.split("/").includes("..")) return { bucket: match[1], prefix };
  throw new MirrorError("usage", `"${text}" is not an address in an object store`, {
    hint: "Write s3://BUCKET or s3://BUCKET/PREFIX.",
  });
}

type Env = Readonly<Record<string, string | undefined>>;

/** Reads the environment variables that S3 tools share. @throws MirrorError `usage`: one is missing or unusable */
export function readAccess(env: Env, { bucket }: S3Target): S3Access {
  if (env["AWS_SESSION_TOKEN"])
    throw new MirrorError(
      "usage",
      "keys with a session token (AWS_SESSION_TOKEN) cannot be used for the object store",
      { hint: "Use a key of its own that may write below the prefix." },
    );
  const region = env["AWS_REGION"] || env["AWS_DEFAULT_REGION"] || "us-east-1";
  const own = env["AWS_ENDPOINT_URL_S3"] || env["AWS_ENDPOINT_URL"];
  return {
    region,
    endpoint: own ? `${webAddress(own)}/${bucket}` : amazonAddress(bucket, region),
    accessKeyId: needed(env, "AWS_ACCESS_KEY_ID"),
    secretAccessKey: needed(env, "AWS_SECRET_ACCESS_KEY"),
  };
}

function needed(env: Env, name: string): string {
  const value = env[name];
  if (value) return value;
  throw new MirrorError("usage", `the object store needs the environment variable ${name}`, {
    hint: "Also: AWS_REGION, and AWS_ENDPOINT_URL for a service other than Amazon's.",
  });
}

function webAddress(text: string): string {
  const isWeb = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isWeb) throw new MirrorError("usage", `AWS_ENDPOINT_URL must be a web address (it is "${text}")`);
  if (new URL(text).protocol === "https:" || isLoopbackUrl(text)) return text.replace(/\/+$/, "");
  throw new MirrorError("usage", `AWS_ENDPOINT_URL must use https:// beyond this machine (it is "${text}")`, {
    hint: "Without it everybody on the way reads what is stored.",
  });
}

/** Amazon's certificate does not cover bucket names with a dot; such a bucket stands in the path. */
function amazonAddress(bucket: string, region: string): string {
  const host = `s3.${region}.amazonaws.com`;
  return bucket.includes(".") ? `https://${host}/${bucket}` : `https://${bucket}.${host}`;
}
