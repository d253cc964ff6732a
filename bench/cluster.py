"""What coordination costs a cluster: the real lease code and a real PostgreSQL with simulated workers (bench/cluster/simulation.h).

Runs last as `mneme plan` says for a study on this machine; only their time is simulated. Every size is simulated calm and with failures (a
node dies every hour on average, and 5 % of the runs take three times as long), with several draws of the failures, and each of these twice: with
the database, and with ideal leases, which cost nothing, are there at once and end when their holder dies. What the makespan of the first is
above the second's, with the same nodes dying at the same times, is lost to coordination; what the ideal one is above a calm one is lost
to the failures themselves. The database is a private one on this machine. It counts as one processor that answers one question after the other,
with the processor time that each took, so that other programs of this machine change nothing. `script/bench --only cluster` builds the
program and runs this; PostgreSQL must be installed (script/bootstrap --cluster).
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
    return ask(program, address=address, seconds=runs, workers=workers, workers_per_node=options.workers_per_node, sample=sample,
               lease=options.lease, **more)


def pair(program, address, seconds, workers, options, **more):
    """One draw, with ideal leases and with real ones."""
    ideal = simulated(program, address, seconds, workers, options, ideal=True, **more)
    real = simulated(program, address, seconds, workers, options, **more)
    kinds = ("acquire", "release", "renew", "look")
    return {"ideal_makespan": ideal["makespan"], "lost": real["makespan"] / ideal["makespan"] - 1,
            "waited_share": real["waited"] / (real["waited"] + real["work"]), "leases_per_second": real["runs"] / real["makespan"],
            "mean_takeover": real["takeover_seconds"] / max(1, real["taken_over"]),
            "statements": sum(real[kind]["count"] for kind in kinds),
            "load": sum(real[kind]["seconds"] for kind in kinds) / real["makespan"], "ideal_last_run": ideal["last_run"], **real}


def told(pieces):
    return "; ".join(f"on node {piece['node']} from {piece['from']:.0f} to {piece['to']:.0f} s{', when the node died' if piece['died'] else ''}"
                     for piece in pieces)


def summary(workers, case, draws, calm):
    def mean(key):
        return sum(draw[key] for draw in draws) / len(draws)
    lost = [draw["lost"] for draw in draws]
    row = {"workers": workers, "case": case, "draws": len(draws), "lost": mean("lost"), "least_lost": min(lost), "most_lost": max(lost),
           "lost_to_failures": mean("ideal_makespan") / calm["ideal_makespan"] - 1, "doubles": sum(draw["doubles"] for draw in draws),
           "longest_wait": max(draw["longest_wait"] for draw in draws), "busiest_minute": max(draw["busiest_minute"] for draw in draws),
           "all": draws}
    row.update({key: mean(key) for key in ("makespan", "ideal_makespan", "waited_share", "leases_per_second", "statements", "load", "deaths",
                                           "last_first_start")})
    print(f"{workers:8} {case:>9} {row['makespan']:11.0f} {100 * row['lost']:7.2f} {100 * min(lost):7.2f} {100 * max(lost):7.2f} "
          f"{100 * row['waited_share']:9.3f} {row['leases_per_second']:9.2f} {row['statements']:11.0f} {100 * row['load']:7.2f} "
          f"{100 * row['busiest_minute']:7.1f} {row['longest_wait']:10.2f} {row['last_first_start']:8.2f} {row['deaths']:7.1f} "
          f"{row['doubles']:8}", flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release")
    parser.add_argument("--study", default="recall/fig1")
    parser.add_argument("--scale", default="workstation")
    parser.add_argument("--workers", type=int, nargs="+", default=[10, 100, 1000, 10000])
    parser.add_argument("--workers-per-node", type=int, default=16)
    parser.add_argument("--runs-per-worker", type=int, default=4)
    parser.add_argument("--lease", type=float, default=300, help="seconds")
    parser.add_argument("--draws", type=int, default=10, help="of the failures")
    parser.add_argument("--quick", action="store_true", help="10 and 100 workers")
    parser.add_argument("--calm", action="store_true", help="leave out the failures")
    parser.add_argument("--trace", action="store_true", help="say of every draw with failures where its last run was")
    parser.add_argument("--plan", type=pathlib.Path, help="seconds of each run, as a JSON list, in place of mneme plan's")
    parser.add_argument("--out", type=pathlib.Path, help="write everything as JSON")
    options = parser.parse_args()
    if options.quick:
        options.workers = [10, 100]
    program = options.build / "mneme-lease-simulation"
    if not program.exists():
        sys.exit(f"bench/cluster.py: [{program}] not found; script/build release mneme-lease-simulation")
    seconds = json.loads(options.plan.read_text()) if options.plan else planned_seconds(options.build / "mneme", options.study, options.scale)
    print(f"{options.study} at scale {options.scale}: {len(seconds)} runs of {min(seconds):.0f} to {max(seconds):.0f} s, "
          f"{options.runs_per_worker} for each worker, {options.workers_per_node} workers on a node")
    result = {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count(), "study": options.study,
              "scale": options.scale, "run_seconds": seconds, "runs_per_worker": options.runs_per_worker,
              "workers_per_node": options.workers_per_node, "lease": options.lease, "connections": [], "rushes": [], "sizes": []}
    with Database(max(options.workers) // options.workers_per_node + 80) as database:
        for connections in (1, 4, 16, 64):
            rate = ask(program, address=database.address, connections=connections, **{"for": 2})["leases_per_second"]
            result["connections"].append({"connections": connections, "leases_per_second": rate})
            print(f"{connections} connections: {rate:.0f} leases taken and given back a second")
        for workers in options.workers:
            nodes = max(1, workers // options.workers_per_node)
            rush = ask(program, address=database.address, nodes=nodes, workers_per_node=options.workers_per_node)
            result["rushes"].append({"nodes": nodes, **rush})
            print(f"{nodes} nodes that ask at once: {rush['leases']} leases in {rush['seconds']:.2f} s, {rush['doubles']} doubles")
        print(f"{'workers':>8} {'':>9} {'makespan s':>11} {'lost %':>7} {'least':>7} {'most':>7} {'waited %':>9} {'leases/s':>9} {'statements':>11} "
              f"{'load %':>7} {'peak %':>7} {'longest s':>10} {'start s':>8} {'deaths':>7} {'doubles':>8}")
        for workers in options.workers:
            calm = pair(program, database.address, seconds, workers, options)
            result["sizes"].append(summary(workers, "calm", [calm], calm))
            if options.calm:
                continue
            draws = [pair(program, database.address, seconds, workers, options, death_period=3600, stragglers=0.05, seed=seed)
                     for seed in range(1, options.draws + 1)]
            result["sizes"].append(summary(workers, "failures", draws, calm))
            for seed, draw in enumerate(draws, 1):
                if options.trace:
                    print(f"  draw {seed}: lost {100 * draw['lost']:.2f} %, {draw['deaths']} deaths; the last run was {told(draw['last_run'])}; "
                          f"with ideal leases {told(draw['ideal_last_run'])}")
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")


main()
