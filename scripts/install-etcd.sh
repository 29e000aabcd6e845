#!/bin/sh
# Installs etcd from Debian's packages for the tests that need it, where that is possible: as root,
# with apt and a network. Status 0: etcd runs on this machine. Else those tests are skipped.
runs() { etcd --version >/dev/null 2>&1; }

runs && exit 0
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || exit 1
export DEBIAN_FRONTEND=noninteractive
# Installing must not start a server: the tests start their own members.
export RUNLEVEL=1
packages='etcd-server etcd-client'
install() { timeout 300 apt-get install -y --no-install-recommends $packages >/dev/null 2>&1; }
install || { timeout 120 apt-get update >/dev/null 2>&1; install; }
runs
