import type { Route } from "./router.ts";
import { documentWritingRoutes } from "./document-routes.ts";
import { fileRoutes } from "./file-routes.ts";
import { readingRoutes } from "./read-routes.ts";
import { uploadRoutes } from "./upload-routes.ts";
import { writingRoutes } from "./record-routes.ts";

export function allRoutes(): Route[] {
  return [
    ...readingRoutes(),
    ...fileRoutes(),
    ...writingRoutes(),
    ...documentWritingRoutes(),
    ...uploadRoutes(),
  ];
}
