# Completion of gale for fish. What can come next says gale itself.

function __gale_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] help --complete $words[2..-1] 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path (commandline -ct)
            case ':folders'
                __fish_complete_directories (commandline -ct)
            case ':yaml'
                __fish_complete_suffix .yaml
            case '*'
                echo $line
        end
    end
end

complete -c gale -f -a '(__gale_complete)'
