import type { Completion } from "./complete.ts";

/** Shells that completion is made for. */
export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/** Each script asks the program itself at every completion, so that it never lags behind. */
const scripts: Readonly<Record<Shell, string>> = {
  bash: String.raw`# bash completion of fintoro-mirror. For every shell from now on:
#   fintoro-mirror completion bash >> ~/.bash_completion
_fintoro_mirror() {
  local IFS=$'\n' program=$1 cur=$2 line
  COMPREPLY=()
  [[ $cur == = ]] && cur=
  while read -r line; do
    if [[ $line == :files ]]; then
      compopt -o filenames 2>/dev/null
      COMPREPLY+=($(compgen -f -- "$cur"))
    else
      COMPREPLY+=("$line")
    fi
  done < <("\${program/#\~/$HOME}" completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _fintoro_mirror fintoro-mirror
`,
  zsh: String.raw`#compdef fintoro-mirror
# zsh completion of fintoro-mirror. For every shell from now on, into a folder of $fpath:
#   fintoro-mirror completion zsh > "\${fpath[1]}/_fintoro-mirror"
_fintoro-mirror() {
  local -a lines
  lines=("\${(@f)$("\${words[1]/#\~/$HOME}" completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ $lines[1] == :files ]]; then
    compset -P '--*='
    _files
  elif [[ -n $lines[1] ]]; then
    _describe -t values fintoro-mirror lines
  fi
}
if [[ $funcstack[1] == _fintoro-mirror ]]; then
  _fintoro-mirror "$@"
else
  compdef _fintoro-mirror fintoro-mirror
fi
`,
  fish: String.raw`# fish completion of fintoro-mirror. For every shell from now on:
#   fintoro-mirror completion fish > ~/.config/fish/completions/fintoro-mirror.fish
function __fintoro_mirror
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l lines ($words[1] completion fish -- $words[2..-1] "$typed" 2>/dev/null)
    if test "$lines[1]" = :files
        __fish_complete_path (string replace -r '^--[\w-]+=' '' -- "$typed")
    else
        printf '%s\n' $lines | string replace ' ' \t
    end
end
complete -c fintoro-mirror -f -a '(__fintoro_mirror)'
`,
};

/** The script that teaches a shell to complete this program's command lines. */
export function shellScript(shell: Shell): string {
  return scripts[shell].replaceAll("\\$", "$").trimEnd();
}

/** All others are not offered: bash puts what it completes on the line as it is, where `$(…)` would be run. */
const plainWord = /^[\w.,=-]+$/;

/** What may be typed, as the script of the shell reads it: a line each. */
export function completionText(shell: Shell, completion: Completion): string {
  if (completion === "files") return ":files";
  const words = completion.filter(({ value }) => plainWord.test(value));
  return words.map(({ value, about }) => lineFor[shell](value, about)).join("\n");
}

const lineFor: Readonly<Record<Shell, (value: string, about: string) => string>> = {
  // What stands before the sign is a word of its own.
  bash: (value) => value.replace(/^--[\w-]+=/, ""),
  zsh: (value, about) => (about === "" ? value : `${value}:${about}`),
  // The script makes a tab of the first space.
  fish: (value, about) => `${value} ${about}`.trimEnd(),
};

/** The words as they were typed: bash gives `--format`, `=` and `csv` for `--format=csv`. */
export function joinedWords(shell: Shell, words: readonly string[]): string[] {
  if (shell !== "bash") return [...words];
  const joined: string[] = [];
  for (const [index, word] of words.entries()) {
    const isValue = word === "=" || (words[index - 1] === "=" && index > 1);
    if (isValue && /^--[\w-]+=?$/.test(joined.at(-1) ?? "")) joined.push(`${joined.pop() ?? ""}${word}`);
    else joined.push(word);
  }
  return joined;
}
