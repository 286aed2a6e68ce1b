import { keepUpload } from "../../domain/crm/activities.ts";
import { refuse } from "../../rules/refusals.ts";
import { value, type Answer } from "../answer.ts";
import type { Call, Route } from "../route.ts";

export function uploadRoutes(): Route[] {
  return [{ method: "POST", path: "/contact-activity-attachments", scope: "write", handle: upload }];
}

function upload({ company, files }: Call): Answer {
  if (files.length === 0) refuse("files", "required");
  const data = files.map((file) => ({
    uploadToken: keepUpload(company, file),
    fileName: file.name,
    mimeType: file.mimeType,
    size: file.content.length,
  }));
  return value({ data }, 201);
}
