import type { Route } from "../route.ts";
import { documentWritingRoutes } from "./documents.ts";
import { fileRoutes } from "./files.ts";
import { readingRoutes } from "./reading.ts";
import { uploadRoutes } from "./uploads.ts";
import { writingRoutes } from "./writing.ts";

export function allRoutes(): Route[] {
  return [
    ...readingRoutes(),
    ...fileRoutes(),
    ...writingRoutes(),
    ...documentWritingRoutes(),
    ...uploadRoutes(),
  ];
}
