#!/usr/bin/env bash
# Make examples/auth.log: a real OpenSSH server, a real log daemon, a few ordinary users and one attacker.
#
# It creates users and sets passwords, so run it as root in a container that you throw away:
#     apt-get install -y openssh-server openssh-client rsyslog netcat-openbsd
#     examples/make_auth_log.sh auth.log      (about three minutes)
# Everything listens and connects on the loopback interface only.
set -euo pipefail
log=$(realpath -m "${1:?usage: make_auth_log.sh FILE}")
work=$(mktemp -d)
chmod 755 "$work"
trap 'for pid in "$work"/*.pid; do kill "$(cat "$pid")"; done; sleep 1; rm -rf "$work"' EXIT
rm -f "$log"

# The log daemon: the machine is called `gateway`, whatever its real name is.
cat >"$work/rsyslog.conf" <<CONF
global(localHostname="gateway" workDirectory="$work")
module(load="imuxsock")
if \$programname == "sshd" then action(type="omfile" file="$log" template="RSYSLOG_TraditionalFileFormat")
CONF
rsyslogd -f "$work/rsyslog.conf" -i "$work/rsyslogd.pid"

# Ordinary users: one with a key, one with a password. `backup` is Debian's own system account; somebody gave it a
# password that is in every word list.
ssh-keygen -q -t ed25519 -N '' -f "$work/deploy_key"
useradd --create-home --shell /bin/bash deploy
useradd --create-home --shell /bin/bash alice
install -d -m 700 -o deploy -g deploy ~deploy/.ssh
install -m 600 -o deploy -g deploy "$work/deploy_key.pub" ~deploy/.ssh/authorized_keys
usermod --password '*' deploy
chpasswd <<<$'alice:plum-Orbit-41-violin\nbackup:backup123'
usermod --shell /bin/bash backup

# The server. Without PAM each attempt is one line, and no attempt is slowed down.
ssh-keygen -q -t ed25519 -N '' -f "$work/host_key"
mkdir -p /run/sshd
cat >"$work/sshd_config" <<CONF
Port 2222
ListenAddress 127.0.0.1
HostKey $work/host_key
PidFile $work/sshd.pid
PermitRootLogin prohibit-password
UsePAM no
MaxAuthTries 6
CONF
/usr/sbin/sshd -f "$work/sshd_config"
sleep 1

# Passwords come from SSH_ASKPASS: each prompt takes the next line of the file that PASSWORDS names.
cat >"$work/askpass" <<'ASK'
#!/bin/sh
sleep 1
head -n 1 "$PASSWORDS"
sed -i 1d "$PASSWORDS"
ASK
chmod 755 "$work/askpass"
export SSH_ASKPASS=$work/askpass SSH_ASKPASS_REQUIRE=force PASSWORDS=$work/passwords

client() { # client ADDRESS USER COMMAND [OPTION...]
    local address=$1 user=$2 command=$3
    shift 3
    ssh -q -F none -b "$address" -p 2222 -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
        "$@" "$user@127.0.0.1" "$command" >/dev/null 2>&1 </dev/null || true
}
with_key() { # with_key ADDRESS USER COMMAND
    client "$@" -i "$work/deploy_key" -o IdentitiesOnly=yes -o PasswordAuthentication=no
}
with_passwords() { # with_passwords ADDRESS USER COMMAND PASSWORD...
    local address=$1 user=$2 command=$3
    shift 3
    printf '%s\n' "$@" >"$PASSWORDS"
    client "$address" "$user" "$command" -o PubkeyAuthentication=no -o PreferredAuthentications=password \
        -o NumberOfPasswordPrompts=$#
}

deploy=127.0.0.10 alice=127.0.0.11 attacker=127.0.0.23 monitor=127.0.0.5

# An ordinary quarter of an hour in one minute; alice mistypes her password once.
with_key $deploy deploy 'sleep 4'
sleep 11
with_passwords $alice alice 'sleep 9' plum-Orbit-41-violin
sleep 7
nc -z -s $monitor 127.0.0.1 2222 # a monitor that only looks whether the port is open
sleep 13
with_key $deploy deploy 'sleep 2'
sleep 9
with_passwords $alice alice 'sleep 6' plum-Orbit-14-violin plum-Orbit-41-violin
sleep 12

# The attacker works through a list of names; deploy and alice go about their business meanwhile.
with_passwords $attacker root true 123456 password root toor qwerty 12345678
with_passwords $attacker admin true admin 123456 password admin123 letmein 1q2w3e
sleep 1
with_passwords $attacker test true test 123456 test123
with_passwords $attacker oracle true oracle oracle123 welcome1
with_key $deploy deploy 'sleep 1' &
with_passwords $attacker tomcat true tomcat tomcat123 s3cret
sleep 2
with_passwords $attacker ubuntu true ubuntu 123456
with_passwords $attacker git true git git123
with_passwords $attacker pi true raspberry pi
wait $!
with_passwords $attacker root true root123 letmein changeme admin passw0rd root@123
sleep 3
with_passwords $attacker user true user 123456
with_key $deploy deploy 'sleep 3' &
with_passwords $attacker mysql true mysql mysql123
with_passwords $attacker jenkins true jenkins jenkins123
with_passwords $attacker nagios true nagios
with_passwords $attacker deploy true deploy deploy123 123456
wait $!
sleep 2
with_passwords $attacker ftpuser true ftpuser 123456
with_passwords $attacker backup 'id; sleep 8' backup 123456 backup123
sleep 5
with_key $deploy deploy 'sleep 2'
sleep 2

userdel --remove deploy 2>/dev/null
userdel --remove alice 2>/dev/null
usermod --lock --shell /usr/sbin/nologin backup
