/** One thing that may stand at the cursor. */
export interface Candidate {
  readonly value: string;
  readonly about: string;
}

export const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

/** Each script asks the program itself at every completion, so that it never lags behind. Without an answer it takes files. */
const scripts: Readonly<Record<Shell, string>> = {
  bash: String.raw`# bash completion of fintoro-mirror. For every shell from now on:
#   fintoro-mirror completion bash >> ~/.bash_completion
_fintoro_mirror() {
  local IFS=$'\n' program=$1
  COMPREPLY=($("\${program/#\~/$HOME}" completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _fintoro_mirror fintoro-mirror
`,
  zsh: String.raw`#compdef fintoro-mirror
# zsh completion of fintoro-mirror. For every shell from now on, into a folder of $fpath:
#   fintoro-mirror completion zsh > "\${fpath[1]}/_fintoro-mirror"
_fintoro-mirror() {
  local -a lines
  lines=("\${(@f)$("\${words[1]/#\~/$HOME}" completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n $lines[1] ]]; then
    _describe -t values fintoro-mirror lines
  else
    compset -P '--*='
    _files
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
    if test -n "$lines[1]"
        printf '%s\n' $lines | string replace ' ' \t
    else
        __fish_complete_path (string replace -r '^--[\w-]+=' '' -- "$typed")
    end
end
complete -c fintoro-mirror -f -a '(__fintoro_mirror)'
`,
};

export function shellScript(shell: Shell): string {
  return scripts[shell].replaceAll("\\$", "$").trimEnd();
}

/** All others are not offered: bash puts what it completes on the line as it is, where `$(…)` would be run. */
const plainWord = /^[\w.,=-]+$/;

/** What may be typed, as the script of the shell reads it: a line each. */
export function completionText(shell: Shell, candidates: readonly Candidate[]): string {
  const words = candidates.filter(({ value }) => plainWord.test(value));
  return words.map(({ value, about }) => lineFor[shell](value, about)).join("\n");
}

const lineFor: Readonly<Record<Shell, (value: string, about: string) => string>> = {
  bash: (value) => value,
  zsh: (value, about) => (about === "" ? value : `${value}:${about}`),
  // The script makes a tab of the first space.
  fish: (value, about) => `${value} ${about}`.trimEnd(),
};
