# Completion of gale for bash. What can come next says gale itself.

_gale() {
    local line candidate words=() current behind=
    COMPREPLY=()
    # bash takes "--config=a.b" for three words; what stands in the line is what gale knows.
    IFS=$' \t' read -r -a words <<<"${COMP_LINE:0:COMP_POINT}"
    [[ ${COMP_LINE:0:COMP_POINT} == *[[:space:]] ]] && words+=("")
    current=${words[${#words[@]} - 1]}
    [[ $current == *=* && $COMP_WORDBREAKS == *=* ]] && behind=${current%=*}=
    while IFS= read -r line; do
        candidate=${line%%$'\t'*}
        case $candidate in
        :files)
            compopt -o filenames
            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "${current#"$behind"}")
            ;;
        :folders)
            compopt -o filenames
            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "${current#"$behind"}")
            ;;
        :yaml)
            compopt -o filenames
            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$current"; compgen -f -X '!*.yaml' -- "$current"; compgen -f -X '!*.yml' -- "$current")
            ;;
        *)
            [[ $candidate == *= ]] && compopt -o nospace
            COMPREPLY+=("${candidate#"$behind"}")
            ;;
        esac
    done < <("${words[0]}" help --complete "${words[@]:1}" 2>/dev/null)
}

complete -F _gale gale
