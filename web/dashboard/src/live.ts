// The connection that tells what changed. It reopens by itself, and says when the server is away.
import { useEffect, useState } from 'preact/hooks';

import { isStatic, readEvent } from './client';
import type { LiveEvent, Reading } from './types';

export type Connection = 'connecting' | 'live' | 'away' | 'static';
// null: something may have been missed, so everything has to be asked again. A greeting names the generation that the server is at.
export type Listener = (event: LiveEvent | null, greeting: boolean) => void;

const longestWait = 5000;  // milliseconds between two attempts

let connection: Connection = isStatic ? 'static' : 'connecting';
let since = Date.now();
let reading: Reading | null = null;
let trouble: string | null = null;
let hasMet = false;
let source: EventSource | null = null;
let wait = 500;
let retry: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<Listener>();
const watchers = new Set<() => void>();

function become(state: Connection): void {
  if (state === connection) return;
  connection = state;
  since = Date.now();
  for (const watcher of watchers) watcher();
}

function progress(event: LiveEvent): void {
  if (event.reading?.read === reading?.read && event.trouble === trouble) return;
  reading = event.reading;
  trouble = event.trouble;
  for (const watcher of watchers) watcher();
}

function tell(event: LiveEvent | null, greeting = false): void {
  for (const listener of listeners) listener(event, greeting);
}

// Every absence ends with a new connection, however it was noticed: while nothing changes, an open one is silent and would never say
// that the server is back.
function lose(): void {
  become('away');
  source?.close();
  source = null;
  clearTimeout(retry);
  retry = setTimeout(open, wait);
  wait = Math.min(longestWait, wait * 1.6);
}

function open(): void {
  source = new EventSource('api/v1/events');
  const mine = source;
  let first = true;
  mine.onopen = () => {
    wait = 500;
    become('live');
  };
  mine.addEventListener('change', (message) => {
    const event = readEvent(String((message as MessageEvent).data));
    if (!event) return;
    become('live');
    progress(event);
    // The first event of a connection only says where the server is. After an absence anything may have changed, even the server.
    if (first) tell(hasMet ? null : event, !hasMet);
    else tell(event.more ? null : event);
    first = false;
    hasMet = true;
  });
  // The browser tries again by itself only after some kinds of errors; we always do.
  mine.onerror = () => {
    if (source === mine) lose();
  };
}

export function start(): void {
  if (!isStatic) open();
}

// A question found the server away, before the connection noticed or after it was back.
export function reportAway(): void {
  if (connection === 'live') lose();
}
export function reportAnswer(): void {
  if (connection === 'connecting') become('live');
}

export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useConnection(): { state: Connection; since: number; reading: Reading | null; trouble: string | null } {
  const [, redraw] = useState(0);
  useEffect(() => {
    const watcher = () => redraw((n) => n + 1);
    watchers.add(watcher);
    return () => {
      watchers.delete(watcher);
    };
  }, []);
  return { state: connection, since, reading, trouble };
}
