// An answer of the server that stays true: asked again when something that it depends on changes.
import { useEffect, useRef, useState } from 'preact/hooks';

import { ApiError, ask, AwayError } from './client';
import { listen, reportAnswer, reportAway } from './live';
import type { LiveEvent } from './types';

export interface Resource<T> {
  data: T | null;
  error: Error | null;
  loading: boolean;
}

export interface ResourceOptions<T> {
  // Does this event touch the answer? Default: yes.
  affected?: (event: LiveEvent) => boolean;
  // Makes the new answer from the old one and a smaller question, given the runs that changed.
  patch?: (old: T, runs: string[], signal: AbortSignal) => Promise<T>;
  // Milliseconds between two questions, at least.
  pause?: number;
  // Milliseconds after which it is asked again though nothing changed.
  every?: number;
}

const kept = new Map<string, unknown>();  // the last answers, so that going back shows something at once
const keptAnswers = 24;

function keep(where: string, data: unknown): void {
  kept.delete(where);
  kept.set(where, data);
  for (const oldest of kept.keys()) {
    if (kept.size <= keptAnswers) break;
    kept.delete(oldest);
  }
}

const generationOf = (data: unknown): unknown => (data as { generation?: number } | null)?.generation;

// `where` is null while there is nothing to ask.
export function useResource<T>(where: string | null, options: ResourceOptions<T> = {}): Resource<T> {
  const [state, setState] = useState<Resource<T> & { where: string | null }>({ where: null, data: null, error: null, loading: true });
  const latest = useRef(options);
  latest.current = options;

  useEffect(() => {
    if (where === null) return undefined;
    const abort = new AbortController();
    let data: T | null = (kept.get(where) as T | undefined) ?? null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let asking = false;
    let wanted = false;
    let changed: Set<string> | null = new Set();  // null: anything may have changed
    let last = 0;
    setState({ where, data, error: null, loading: true });

    const run = async (): Promise<void> => {
      timer = undefined;
      asking = true;
      wanted = false;
      last = Date.now();
      const runs = changed;
      changed = new Set();
      try {
        const { patch } = latest.current;
        const small = patch && data !== null && runs !== null && runs.size > 0;
        data = small ? await patch(data as T, [...runs], abort.signal) : await ask<T>(where, abort.signal);
        if (abort.signal.aborted) return;
        keep(where, data);
        reportAnswer();
        setState({ where, data, error: null, loading: false });
      } catch (error) {
        if (abort.signal.aborted) return;
        changed = null;
        if (error instanceof AwayError) reportAway();
        // What was seen before stays on the screen while the server is away.
        setState({ where, data, error: error as Error, loading: false });
        // What is wrong with the server may pass; what is wrong with the question does not.
        if (error instanceof AwayError || (error instanceof ApiError && error.status >= 500)) setTimeout(schedule, 3000);
      } finally {
        asking = false;
        if (wanted) schedule();
      }
    };
    const schedule = (): void => {
      if (abort.signal.aborted) return;
      wanted = true;
      if (asking || timer !== undefined || document.hidden) return;
      timer = setTimeout(run, Math.max(0, (latest.current.pause ?? 300) - (Date.now() - last)));
    };

    const stop = listen((event, greeting) => {
      if (event && greeting) {
        // Asked before the connection stood: news in between is missed.
        if (data === null || generationOf(data) === event.generation) return;
        changed = null;
        schedule();
        return;
      }
      if (event && latest.current.affected && !latest.current.affected(event)) return;
      if (event === null) changed = null;
      else for (const id of event.runs) changed?.add(id);
      schedule();
    });
    const onVisible = (): void => {
      if (wanted) schedule();
    };
    document.addEventListener('visibilitychange', onVisible);
    const interval = latest.current.every ? setInterval(() => {
      changed = null;
      schedule();
    }, latest.current.every) : undefined;
    changed = null;
    void run();
    return () => {
      abort.abort();
      stop();
      clearTimeout(timer);
      clearInterval(interval);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [where]);

  // The answer to another question is no answer.
  if (state.where !== where) return { data: where === null ? null : ((kept.get(where) as T | undefined) ?? null), error: null, loading: true };
  return state;
}
