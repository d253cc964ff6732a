#!/usr/bin/env bash
# A private Slurm for tests, with several nodes on this machine: prints the path of its slurm.conf when all nodes are
# idle, and is gone when standard input ends, also if this script is killed before. Several may run at once.
# usage: slurm_lab.sh [NODES] [PROCESSORS OF A NODE]
# Partitions: main (the default), high, whose jobs preempt those of main by requeueing them, and closed, which is for
# users of the group root.
# Needs Slurm and munge (Debian: slurm-wlm, munge); exits with 77 and says so where they are missing.
set -euo pipefail
nodes=${1:-4} processors=${2:-1}
patience=90 # seconds for each step of the start; a step takes less than one on an idle machine

skip() { echo "$1" >&2; exit 77; }
PATH=$PATH:/usr/sbin:/sbin
for program in slurmctld slurmd sbatch munged mungekey; do
  command -v "$program" >/dev/null ||
    skip "no Slurm here: $program is missing (script/bootstrap --cluster installs it; Debian: slurm-wlm, munge)"
done

directory=$(mktemp -d /tmp/mneme-slurm.XXXXXX)
chmod 755 "$directory"
# Newer versions want control groups of the system, which a container need not have, even if nothing here uses them.
if [ "$(slurmd -V | sed 's/[^0-9]*\([0-9]*\).*/\1/')" -ge 23 ]; then echo CgroupPlugin=disabled >"$directory/cgroup.conf"; fi
mkdir -p "$directory"/{munge,socket,state,log,run}
chmod 700 "$directory/munge"
export SLURM_CONF=$directory/slurm.conf

# Ends every daemon and every process of a job. Nothing of them is needed again, so nobody is asked politely: that would
# take ten seconds.
stop() {
  local pid environment
  squeue -h -o %A 2>/dev/null | timeout 10 xargs -r scancel --full --signal=KILL 2>/dev/null || true
  for file in "$directory"/run/*.pid; do
    if pid=$(cat "$file" 2>/dev/null) && [ -n "$pid" ]; then kill -9 "$pid" 2>/dev/null || true; fi
  done
  # slurmstepd, and what a test cut off from its slurmd.
  for environment in /proc/[0-9]*/environ; do
    if grep -qsz "^SLURM_CONF=$SLURM_CONF\$" "$environment"; then
      pid=${environment#/proc/}
      pid=${pid%/environ}
      if grep -qsz '^SLURM_JOB_ID=' "$environment" || grep -qs '^slurm' "/proc/$pid/comm"; then
        kill -9 "$pid" 2>/dev/null || true
      fi
    fi
  done
  rm -rf "$directory"
}
# A child of nobody ends the daemons, so that they end also where this script is killed with all of its children.
exec 7<&0
(
  (
    trap 'trap "" TERM; kill "$waiting" 2>/dev/null || true; stop' EXIT
    trap 'exit 0' TERM
    trap '' INT HUP
    cat <&7 >/dev/null &
    waiting=$!
    echo "$BASHPID" >"$directory/run/reaper"
    wait "$waiting"
  ) >/dev/null 2>&1 &
)
while [ ! -s "$directory/run/reaper" ]; do sleep 0.02; done
end() {
  local reaper
  reaper=$(cat "$directory/run/reaper" 2>/dev/null) || true
  kill "$reaper" 2>/dev/null || true
  # If it was killed itself, the daemons are still there.
  while [ -d "$directory" ]; do
    kill -0 "$reaper" 2>/dev/null || stop
    sleep 0.05
  done
}
trap end EXIT
trap 'exit 1' TERM INT HUP

fail() {
  echo "$1" >&2
  for file in "$directory"/log/*; do
    echo "--- ${file##*/}" >&2
    tail -n 15 "$file" >&2
  done
  exit 1
}
# Asks again until the answer is yes: until QUESTION...
until_yes() {
  local start=$SECONDS
  while ! "$@"; do
    [ $((SECONDS - start)) -lt $patience ] || return 1
    sleep 0.1
  done
}
# True if nobody listens on or talks from the ports that begin with this one.
free_from() {
  local number pattern=
  for number in $(seq "$1" $(($1 + nodes))); do pattern+=$(printf '|:%04X' "$number"); done
  ! awk '{ print $2 }' /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -qE "${pattern#|}"
}

host=$(hostname -s 2>/dev/null || cut -d. -f1 /proc/sys/kernel/hostname)
user=$(id -un)

mungekey --create --keyfile="$directory/munge/key"
munged --force --key-file="$directory/munge/key" --socket="$directory/socket/munge" \
  --pid-file="$directory/run/munged.pid" --log-file="$directory/log/munged.log" --seed-file="$directory/munge/seed" \
  2>"$directory/log/munged.err" || fail "munged did not start"
until_yes test -S "$directory/socket/munge" || fail "munged gave no answer"
# cred_expire: Slurm starts a requeued job that much later, and takes nothing below 5.
write_conf() { # first port
  cat >"$SLURM_CONF" <<C
ClusterName=mneme
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$directory/socket/munge,cred_expire=5
SlurmctldPort=$1
StateSaveLocation=$directory/state
SlurmdSpoolDir=$directory/spool-%n
SlurmctldPidFile=$directory/run/slurmctld.pid
SlurmdPidFile=$directory/run/slurmd-%n.pid
SlurmctldLogFile=$directory/log/slurmctld.log
SlurmdLogFile=$directory/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MailProg=/bin/true
ReturnToService=2
MpiDefault=none
KillWait=15
JobRequeue=1
SlurmdTimeout=12
MessageTimeout=30
SlurmdParameters=config_overrides
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SchedulerParameters=sched_interval=2,sched_min_interval=500000,batch_sched_delay=0,requeue_delay=1
NodeName=n[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$(($1 + 1))-$(($1 + nodes))] CPUs=$processors RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes=n[1-$nodes] Default=YES MaxTime=INFINITE PriorityTier=1 PreemptMode=REQUEUE State=UP
PartitionName=high Nodes=n[1-$nodes] MaxTime=INFINITE PriorityTier=10 State=UP
PartitionName=closed Nodes=n[1-$nodes] MaxTime=INFINITE AllowGroups=root State=UP
C
}
# A node that asks a controller which does not listen yet asks again after a pause that doubles: so it is started when the
# controller answers.
# Ports are below those that the kernel gives to outgoing connections. Who is too late for a port that was free a moment ago
# chooses again: slurmctld ends where it cannot have its port.
answers() { scontrol ping 2>/dev/null | grep -q ' is UP'; }
answers_or_died() { answers || ! pgrep -F "$directory/run/slurmctld.pid" >/dev/null 2>&1; }
for _ in $(seq 20); do
  port=$((10000 + RANDOM % 680 * 32))
  free_from $port || continue
  write_conf $port
  slurmctld -f "$SLURM_CONF" 2>>"$directory/log/start" || continue
  until_yes test -s "$directory/run/slurmctld.pid" || fail "slurmctld did not start"
  until_yes answers_or_died || fail "slurmctld gave no answer in $patience s"
  if answers; then break; fi
done
answers || fail "slurmctld did not start"
for number in $(seq "$nodes"); do
  mkdir -p "$directory/spool-n$number"
  slurmd -f "$SLURM_CONF" -N "n$number" 2>>"$directory/log/start" || fail "slurmd of n$number did not start"
done
all_idle() { [ "$(sinfo -h -p main -t idle -o %D 2>/dev/null)" = "$nodes" ]; }
until_yes all_idle || fail "$(sinfo -h -p main 2>&1): not all of $nodes nodes were idle in $patience s"
echo "$SLURM_CONF"
cat >/dev/null
