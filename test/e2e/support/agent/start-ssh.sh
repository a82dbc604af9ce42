#!/bin/bash
# The start of a pod image, as in the public ones: an SSH server that accepts the keys of PUBLIC_KEY.
set -e

setup_ssh() {
  [ -n "$PUBLIC_KEY" ] || return 0
  mkdir -p ~/.ssh
  echo "$PUBLIC_KEY" >>~/.ssh/authorized_keys
  chmod 700 -R ~/.ssh
  [ -f /etc/ssh/ssh_host_ed25519_key ] || ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key
  service ssh start
}

# A login over SSH does not inherit the environment of the container.
export_env_vars() {
  printenv | grep -E '^RUNPOD_' | sed 's/^\([^=]*\)=\(.*\)$/export \1="\2"/' >/etc/rp_environment
  grep -q rp_environment ~/.bashrc 2>/dev/null || sed -i '1i source /etc/rp_environment' ~/.bashrc
}

trap 'exit 0' TERM
setup_ssh
export_env_vars
echo 'Start script finished, pod is ready to use.'
sleep infinity &
wait
