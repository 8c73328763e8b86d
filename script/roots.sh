# shellcheck shell=sh
# Bare Debian roots, for the scripts that test in them. Sourced behind lib.sh. Needs root and debootstrap; mirror, keys and apt's
# proxies are this machine's own.
#
#   root_make SUITE DIRECTORY     makes the root, unless it is there; mounts what it needs
#   root_leave DIRECTORY          unmounts; removes it, unless it is to be kept: root_keep=1
#   root_inside DIRECTORY FOLDER COMMAND...

root_keep=${root_keep:-0}

[ "$(id -u)" -eq 0 ] || die "this needs root (it makes a root and enters it)"
command -v debootstrap >/dev/null || die "this needs debootstrap: apt-get install debootstrap"

# The first mirror that the host's sources name for Debian's suite $1; either format of apt. Without one, of its own suite.
root_mirror() {
    for root_suite in "$1" "$(. /etc/os-release && echo "${VERSION_CODENAME:-}")"; do
        cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
            sed -nE "s/^deb +(\[[^]]*\] +)?([^ ]+) +$root_suite .*/\2/p"
        cat /etc/apt/sources.list.d/*.sources 2>/dev/null |
            awk -v suite="$root_suite" '
                /^URIs:/ { uri = $2 }
                /^Suites:/ { for (i = 2; i <= NF; i++) if ($i == suite) hit = 1 }
                /^[ \t]*$/ { if (hit) print uri; hit = 0; uri = "" }
                END { if (hit) print uri }'
    done | grep -m 1 /debian
}

# What the host needs to reach its sources: addresses, keys and proxies. Sources of others are left out; so are those of another
# suite, for which the one mirror stands in.
root_apt() { # SUITE DIRECTORY MIRROR
    rm -f "$2/etc/apt/sources.list"
    for root_file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
        if [ -f "$root_file" ] && grep -q "$1" "$root_file" && grep -q debian.org "$root_file"; then
            cp "$root_file" "$2/$root_file"
        fi
    done
    [ -n "$(ls "$2/etc/apt/sources.list.d" 2>/dev/null)" ] || [ -e "$2/etc/apt/sources.list" ] ||
        echo "deb $3 $1 main" >"$2/etc/apt/sources.list"
    for root_file in /etc/apt/apt.conf /etc/apt/apt.conf.d/*; do
        if [ -f "$root_file" ] && grep -qiE 'proxy|Acquire' "$root_file"; then cp "$root_file" "$2/$root_file"; fi
    done
    for root_file in /etc/resolv.conf /etc/hosts; do
        [ ! -e "$root_file" ] || cp "$root_file" "$2/$root_file"
    done
}

root_make() { # SUITE DIRECTORY
    if [ ! -e "$2/etc/debian_version" ]; then
        root_from=$(root_mirror "$1") || die "no source of this machine's apt names a mirror of Debian"
        say "making a bare $1 root in $2 from $root_from"
        mkdir -p "$2"
        quietly "debootstrap" debootstrap --variant=minbase "$1" "$2" "$root_from"
        root_apt "$1" "$2" "$root_from"
    fi
    # The sources of a keyring that only the host has would fail for everybody.
    for root_file in /etc/apt/trusted.gpg.d/* /etc/ssl/certs/ca-certificates.crt; do
        [ ! -f "$root_file" ] || { mkdir -p "$2/$(dirname "$root_file")" && cp "$root_file" "$2/$root_file"; }
    done
    mount -t proc proc "$2/proc" 2>/dev/null || mount --bind /proc "$2/proc"
    mount --bind /dev "$2/dev"
}

root_leave() { # DIRECTORY
    umount "$1/proc" 2>/dev/null || true
    umount "$1/dev" 2>/dev/null || true
    # Never with something of the host still mounted inside.
    if [ "$root_keep" != 1 ] && ! grep -q " $1/" /proc/mounts; then
        rm -rf "$1"
    fi
}

root_inside() { # DIRECTORY FOLDER COMMAND...
    root_of=$1
    root_folder=$2
    shift 2
    env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" \
        chroot "$root_of" sh -c 'cd "$0" && exec "$@"' "$root_folder" "$@"
}
