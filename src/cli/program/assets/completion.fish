# fish completion of fintoro-mirror. For every shell from now on:
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
