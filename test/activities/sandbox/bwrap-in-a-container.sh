#!/bin/sh
case $1 in
--version) echo 'bubblewrap 0.8.0' ;;
--help) echo '--size --perms --clearenv --as-pid-1 --remount-ro --die-with-parent --disable-userns' ;;
*)
  echo 'bwrap: No permissions to create a new namespace, likely because the kernel does not allow non-privileged user namespaces.' >&2
  exit 1
  ;;
esac
