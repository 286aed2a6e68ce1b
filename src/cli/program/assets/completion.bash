# bash completion of fintoro-mirror. For every shell from now on:
#   fintoro-mirror completion bash >> ~/.bash_completion
_fintoro_mirror() {
  local IFS=$'\n' program=$1
  COMPREPLY=($("${program/#\~/$HOME}" completion bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _fintoro_mirror fintoro-mirror
