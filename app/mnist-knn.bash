# Completion for bash. Commands, options and names come from the program itself, so no list is kept here. Looking for GPUs,
# whose number the help tells, would take longer than a keystroke.

# The names that an option takes, from the error message for the value "?".
_mnist_knn_names() {  # PROGRAM COMMAND OPTION
    "$1" "$2" "$3" '?' 2>&1 | sed -E 's/\[[^]]*\]//g' |
        sed -nE 's/^mnist-knn: error: .*; expected ([a-zA-Z0-9:+_-]+((, | or )[a-zA-Z0-9:+_-]+)*)(, or a build with CUDA)?$/\1/p' |
        sed -E 's/, | or /\n/g' | sed 's/:N$/:/'
}

# The placeholder of an option's value in the help, such as FILE or NAME,...; nothing for a flag.
_mnist_knn_value() {  # PROGRAM COMMAND OPTION
    CUDA_VISIBLE_DEVICES='' "$1" "$2" --help=all 2>/dev/null | awk -F '  +' -v option="$3" '
        { n = split($2, words, ",? +") }
        words[1] == option || words[2] == option { if (words[n] !~ /^-/) print words[n]; exit }'
}

_mnist_knn() {
    local program=${COMP_WORDS[0]/#\~/$HOME} command=${COMP_WORDS[1]} current=${COMP_WORDS[COMP_CWORD]} words
    local option=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()

    if ((COMP_CWORD == 1)); then
        words=$("$program" --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\)\( .*\|$\)/\1/p')
        mapfile -t COMPREPLY < <(compgen -W "$words --help --version" -- "$current")
        return
    fi
    # bash splits --option=value at the equals sign.
    if [[ $current == '=' ]]; then
        current=
    elif [[ $option == '=' ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    elif [[ $current == ':' || $option == ':' ]]; then  # as gpu:0
        mapfile -t COMPREPLY < <(compgen -W "all" -- "${current#:}")
        return
    fi
    case $(_mnist_knn_value "$program" "$command" "$option") in
    FILE | PREFIX)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        ;;
    DIR)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -d -- "$current")
        ;;
    NAME | WHEN | SHARE)
        mapfile -t COMPREPLY < <(compgen -W "$(_mnist_knn_names "$program" "$command" "$option")" -- "$current")
        ;;
    'NAME|FILE')
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -W "$(_mnist_knn_names "$program" "$command" "$option")" -- "$current")
        ;;
    NAME,... | LIST)  # a list: keeps everything up to the last comma
        local begun=
        [[ $current != *,* ]] || begun=${current%,*},
        words=$(_mnist_knn_names "$program" "$command" "$option")
        mapfile -t COMPREPLY < <(compgen -P "$begun" -W "$words" -- "${current##*,}")
        ;;
    ?*) ;;
    *)
        if [[ $current != -* && $("$program" "$command" --help 2>/dev/null) == 'Usage: '*'[OPTION]... '[A-Z]* ]]; then
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            return
        fi
        words=$(CUDA_VISIBLE_DEVICES='' "$program" "$command" --help=all 2>/dev/null | grep -oE '^ {2,6}(-[a-z], +)?--?[a-z][a-z-]*' | tr -d ',')
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
        ;;
    esac
}
complete -F _mnist_knn mnist-knn
