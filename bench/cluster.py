"""What coordination costs a cluster: the real lease code and a real PostgreSQL with simulated workers (bench/cluster/simulation.h).

Runs last as `mneme plan` says for a study on this machine; only their time is simulated. Every size is simulated with the database, with
leases that cost nothing (the ideal), and with failures: a node dies every hour, and 5 % of the runs take three times as long. The database
is a private one on this machine, and counts as one processor that answers one question after the other. `script/bench --only cluster`
builds the program and runs this; PostgreSQL must be installed (script/bootstrap --cluster). 10,000 workers take most of an hour.
"""
import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent


class Database:
    def __init__(self, connections):
        self.process = subprocess.Popen(["bash", root / "tests/support/postgres_lab.sh", str(connections)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            sys.exit("bench/cluster.py: PostgreSQL did not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def planned_seconds(mneme, study, scale):
    """How long each run of the study takes by itself, the longest first."""
    plan = json.loads(subprocess.run([mneme, "plan", study, "--scale", scale, "--json", "--list"], check=True, capture_output=True,
                                     text=True).stdout)
    steps = {entry["kind"].split()[0]: entry["step_seconds"] for entry in plan["measured"]}
    return sorted((steps[run["config"]["model"]["mixer"]] * run["config"]["train"]["steps"] for run in plan["runs"]), reverse=True)


def ask(program, **wish):
    done = subprocess.run([program], input=json.dumps(wish), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"bench/cluster.py: {done.stderr}")
    return json.loads(done.stdout)


def simulated(program, address, seconds, workers, options, **more):
    runs = [seconds[i % len(seconds)] for i in range(workers * options.runs_per_worker)]
    runs.sort(reverse=True)
    # Under a thousand workers nothing needs to be left out.
    sample = 1 if workers < 1000 else 10
    return ask(program, address=address, seconds=runs, workers=workers, workers_per_node=options.workers_per_node, sample=sample, **more)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release")
    parser.add_argument("--study", default="recall/fig1")
    parser.add_argument("--scale", default="workstation")
    parser.add_argument("--workers", type=int, nargs="+", default=[10, 100, 1000, 10000])
    parser.add_argument("--workers-per-node", type=int, default=16)
    parser.add_argument("--runs-per-worker", type=int, default=4)
    parser.add_argument("--quick", action="store_true", help="10 and 100 workers")
    parser.add_argument("--calm", action="store_true", help="leave out the failures")
    parser.add_argument("--plan", type=pathlib.Path, help="seconds of each run, as a JSON list, in place of mneme plan's")
    parser.add_argument("--out", type=pathlib.Path, help="write everything as JSON")
    options = parser.parse_args()
    if options.quick:
        options.workers = [10, 100]
    program = options.build / "mneme-lease-simulation"
    if not program.exists():
        sys.exit(f"bench/cluster.py: [{program}] not found; script/build release mneme-lease-simulation")
    seconds = json.loads(options.plan.read_text()) if options.plan else planned_seconds(options.build / "mneme", options.study, options.scale)
    print(f"{options.study} at scale {options.scale}: {len(seconds)} kinds of run, {min(seconds):.0f} to {max(seconds):.0f} s, "
          f"{options.runs_per_worker} for each worker, {options.workers_per_node} workers on a node")
    result = {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count(), "study": options.study,
              "scale": options.scale, "run_seconds": sorted(set(seconds)), "runs_per_worker": options.runs_per_worker,
              "workers_per_node": options.workers_per_node, "connections": [], "sizes": []}
    with Database(max(options.workers) // options.workers_per_node + 80) as database:
        for connections in (1, 4, 16, 64):
            rate = ask(program, address=database.address, connections=connections, **{"for": 2})["leases_per_second"]
            result["connections"].append({"connections": connections, "leases_per_second": rate})
            print(f"{connections} connections: {rate:.0f} leases taken and given back a second")
        print(f"{'workers':>8} {'':>9} {'makespan s':>11} {'lost %':>7} {'waited %':>9} {'leases/s':>9} {'load %':>7} {'peak %':>7} "
              f"{'longest s':>10} {'deaths':>7} {'doubles':>8}")
        for workers in options.workers:
            cases = [("calm", {}), ("failures", {"death_period": 3600, "stragglers": 0.05})]
            for name, more in cases[:1] if options.calm else cases:
                ideal = simulated(program, database.address, seconds, workers, options, free_leases=True, **more)
                real = simulated(program, database.address, seconds, workers, options, **more)
                row = {"workers": workers, "case": name, "ideal_makespan": ideal["makespan"],
                       "lost": real["makespan"] / ideal["makespan"] - 1, "waited_share": real["waited"] / (real["waited"] + real["work"]),
                       "leases_per_second": real["runs"] / real["makespan"],
                       "mean_takeover": real["takeover_seconds"] / max(1, real["taken_over"]),
                       "load": sum(real["database_seconds"].values()) / real["makespan"], **real}
                result["sizes"].append(row)
                print(f"{workers:8} {name:>9} {row['makespan']:11.0f} {100 * row['lost']:7.2f} {100 * row['waited_share']:9.2f} "
                      f"{row['leases_per_second']:9.2f} {100 * row['load']:7.2f} {100 * row['busiest_minute']:7.1f} "
                      f"{row['longest_wait']:10.2f} {row['deaths']:7} {row['doubles']:8}", flush=True)
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")


main()
