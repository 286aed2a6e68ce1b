#compdef fintoro-mirror
# zsh completion of fintoro-mirror. For every shell from now on, into a folder of $fpath:
#   fintoro-mirror completion zsh > "${fpath[1]}/_fintoro-mirror"
_fintoro-mirror() {
  local -a lines
  lines=("${(@f)$("${words[1]/#\~/$HOME}" completion zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
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
