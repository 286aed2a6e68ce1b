import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { makeFolders, writeFileAtomically } from "../../base/files/atomic-file.ts";
import { messageOf, MirrorError } from "../../base/errors.ts";

/** Who starts the program: a user's crontab every night, or a user's systemd, which keeps `serve` running. */
type Starter = "cron" | "systemd";

/** What is started: absolute paths, and a cron pattern with five fields. */
export interface JobPlace {
  readonly node: string;
  readonly entry: string;
  readonly config: string;
  readonly schedule: string;
}

/** What would be installed, as it is shown first. Pure. */
export function jobText(starter: Starter, { node, entry, config, schedule }: JobPlace): string {
  if (starter === "cron") {
    const words = [node, "--disable-sigusr1", entry, "sync", "--quiet", "--config", config];
    return `${schedule} ${words.map(cronWord).join(" ")}`;
  }
  return `[Unit]
Description=Fintoro mirror: receives events, syncs every night

[Service]
Type=notify
NotifyAccess=all
WatchdogSec=120
ExecStart=${unitWord(node)} --disable-sigusr1 ${unitWord(entry)} serve --config ${unitWord(config)}
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=5s
# 2: the config is wrong; a restart would not help.
RestartPreventExitStatus=2
TimeoutStopSec=35s
UMask=0077
LimitCORE=0

[Install]
WantedBy=default.target`;
}

/** A word for the shell; a percent sign would end a crontab's command. */
function cronWord(text: string): string {
  const word = /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return word.replaceAll("%", String.raw`\%`);
}

/** A word of a unit's command line, where `%` and `$` begin names. */
function unitWord(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll(/[%$]/g, "$&$&")}"`;
}

const unitName = "fintoro-mirror.service";

/**
 * Installs what `jobText` shows, for the user that runs this: a line that the crontab has already is not added again.
 * @returns what was done, in a sentence
 * @throws MirrorError `runtime` where crontab or systemctl fails
 */
export async function installJob(starter: Starter, place: JobPlace, env: NodeJS.ProcessEnv): Promise<string> {
  const text = jobText(starter, place);
  if (starter === "cron") {
    const before = await runTool("crontab", ["-l"], env).catch((error: unknown) => {
      // One that is there and cannot be read is not replaced.
      if (/no crontab|no such file/i.test(messageOf(error))) return "";
      throw error;
    });
    if (before.split("\n").includes(text)) return "the crontab has the line already";
    const gap = before === "" || before.endsWith("\n") ? "" : "\n";
    await runTool("crontab", ["-"], env, `${before}${gap}${text}\n`);
    return "the line is in the crontab: `crontab -l` shows it";
  }
  const folder = path.join(env["XDG_CONFIG_HOME"] || path.join(env["HOME"] ?? "", ".config"), "systemd/user");
  const file = path.join(folder, unitName);
  if (existsSync(file)) throw new MirrorError("runtime", `${file} is there already; it stays as it is`);
  makeFolders(folder);
  writeFileAtomically(file, `${text}\n`);
  await runTool("systemctl", ["--user", "daemon-reload"], env);
  await runTool("systemctl", ["--user", "enable", "--now", unitName], env);
  return `${file} is started; \`loginctl enable-linger\` keeps it running when you log out`;
}

function runTool(name: string, args: readonly string[], env: NodeJS.ProcessEnv, input = ""): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(name, [...args], { env, timeout: 30_000 }, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      const why = stderr.trim() || messageOf(error);
      reject(new MirrorError("runtime", `${name} ${args.join(" ")} failed: ${why}`, { cause: error }));
    });
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input);
  });
}
