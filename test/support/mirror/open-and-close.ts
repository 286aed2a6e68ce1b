/** A process of its own that opens a mirror, which brings it up to date, and closes it. */
import { manifest } from "../../../connectors/fintoro/manifest.ts";
import { openMirror } from "../../../src/state/mirror.ts";

(await openMirror(process.argv[2] ?? "", manifest)).close();
