#!/usr/bin/env bash
# A private Slurm for tests, with several nodes on this machine: prints the path of its slurm.conf when all nodes are
# idle, and is gone when standard input ends. usage: slurm_lab.sh [NODES] [PROCESSORS OF A NODE]
# Partitions: main (the default), and high, whose jobs preempt those of main by requeueing them.
# Needs Slurm and munge (Debian: slurm-wlm, munge); exits with 77 and says so where they are missing.
# A start has once not ended within the limit of a test, so only slow tests make one.
if [ -z "${MNEME_SLOW:-}" ]; then
  echo "slow: run by script/test --slow" >&2
  exit 77
fi
set -euo pipefail
nodes=${1:-4} processors=${2:-1}

skip() { echo "$1" >&2; exit 77; }
PATH=$PATH:/usr/sbin:/sbin
for program in slurmctld slurmd sbatch munged mungekey; do
  command -v "$program" >/dev/null ||
    skip "no Slurm here: $program is missing (script/bootstrap --cluster installs it; Debian: slurm-wlm, munge)"
done

directory=$(mktemp -d /tmp/mneme-slurm.XXXXXX)
chmod 755 "$directory"
mkdir -p "$directory"/{munge,socket,state,log,run}
chmod 700 "$directory/munge"
export SLURM_CONF=$directory/slurm.conf

end_process() {  # pid file
  local pid
  pid=$(cat "$1" 2>/dev/null) || return 0
  kill "$pid" 2>/dev/null || return 0
  for _ in $(seq 30); do kill -0 "$pid" 2>/dev/null || return 0; sleep 0.1; done
  kill -9 "$pid" 2>/dev/null || true
}
stop() {
  squeue -h -o %A 2>/dev/null | xargs -r scancel --full --signal=KILL 2>/dev/null || true
  for file in "$directory"/run/slurmd-*.pid "$directory/run/slurmctld.pid" "$directory/run/munged.pid"; do
    end_process "$file"
  done
  # What a test cut off from its slurmd.
  for environment in /proc/[0-9]*/environ; do
    if grep -qsz "^SLURM_CONF=$SLURM_CONF\$" "$environment"; then
      pid=${environment#/proc/}
      pid=${pid%/environ}
      if [ "$pid" != $$ ] && grep -qsz '^SLURM_JOB_ID=' "$environment"; then kill -9 "$pid" 2>/dev/null || true; fi
    fi
  done
  rm -rf "$directory"
}
trap stop EXIT
trap 'exit 1' TERM INT HUP

mungekey --create --keyfile="$directory/munge/key"
munged --force --key-file="$directory/munge/key" --socket="$directory/socket/munge" \
  --pid-file="$directory/run/munged.pid" --log-file="$directory/log/munged.log" --seed-file="$directory/munge/seed" \
  2>"$directory/log/munged.err" || { cat "$directory/log/munged.err" >&2; exit 1; }
# Several labs may run at once: each takes a range of ports of its own.
port=$((20000 + RANDOM % 1200 * 32))
host=$(hostname -s)
cat >"$SLURM_CONF" <<C
ClusterName=mneme
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$directory/socket/munge,cred_expire=2
SlurmctldPort=$port
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
ReturnToService=2
MpiDefault=none
KillWait=15
JobRequeue=1
SlurmdTimeout=12
SlurmdParameters=config_overrides
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SchedulerParameters=sched_interval=2,sched_min_interval=500000,batch_sched_delay=0,requeue_delay=1
NodeName=n[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + nodes))] CPUs=$processors RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes=n[1-$nodes] Default=YES MaxTime=INFINITE PriorityTier=1 PreemptMode=REQUEUE State=UP
PartitionName=high Nodes=n[1-$nodes] MaxTime=INFINITE PriorityTier=10 State=UP
PartitionName=closed Nodes=n[1-$nodes] MaxTime=INFINITE AllowGroups=root State=UP
C
slurmctld -f "$SLURM_CONF" 2>"$directory/log/start"
for number in $(seq "$nodes"); do
  mkdir -p "$directory/spool-n$number"
  slurmd -f "$SLURM_CONF" -N "n$number" 2>>"$directory/log/start"
done
for _ in $(seq 150); do
  if [ "$(sinfo -h -p main -t idle -o %D 2>/dev/null)" = "$nodes" ]; then
    echo "$SLURM_CONF"
    cat >/dev/null
    exit 0
  fi
  sleep 0.1
done
cat "$directory/log/start" "$directory/log/slurmctld.log" >&2
exit 1
