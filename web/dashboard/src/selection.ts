// The runs that are chosen to be compared: they stay chosen while the reader walks through the page.
import { useEffect, useState } from 'preact/hooks';

let chosen: ReadonlySet<string> = new Set();
const watchers = new Set<() => void>();

function become(next: Set<string>): void {
  chosen = next;
  for (const watcher of watchers) watcher();
}

export function choose(ids: string[], on: boolean): void {
  const next = new Set(chosen);
  for (const id of ids) {
    if (on) next.add(id);
    else next.delete(id);
  }
  become(next);
}

export function clearSelection(): void {
  become(new Set());
}

export function useSelection(): ReadonlySet<string> {
  const [set, setSet] = useState(chosen);
  useEffect(() => {
    const watcher = (): void => setSet(chosen);
    watchers.add(watcher);
    watcher();
    return () => {
      watchers.delete(watcher);
    };
  }, []);
  return set;
}
