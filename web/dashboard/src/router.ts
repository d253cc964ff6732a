// The address of a view is the part after '#': it can be shared, reloaded and used without a server.
import { useEffect, useState } from 'preact/hooks';

export interface Route {
  segments: string[];  // decoded
  query: URLSearchParams;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#?\/?/, '');
  const mark = text.indexOf('?');
  const path = mark < 0 ? text : text.slice(0, mark);
  return {
    segments: path.split('/').filter((segment) => segment !== '').map(decode),
    query: new URLSearchParams(mark < 0 ? '' : text.slice(mark + 1)),
  };
}

export type QueryValues = Record<string, string | string[] | null | undefined>;

export function link(segments: string[], query: QueryValues = {}): string {
  const values = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === '') continue;
    for (const one of Array.isArray(value) ? value : [value]) values.append(key, one);
  }
  const text = values.toString().replaceAll('%2C', ',');
  return `#/${segments.map(encodeURIComponent).join('/')}${text ? `?${text}` : ''}`;
}

export const runLink = (id: string): string => link(['runs', id]);
export const studyLink = (name: string): string => link(['studies', name]);

export function go(to: string): void {
  location.hash = to;
}

// Changes the query of the present address; null removes a key. A change of a setting is not a step back.
export function setQuery(values: QueryValues, step = false): void {
  const { segments, query } = parseRoute(location.hash);
  const merged: QueryValues = {};
  for (const key of new Set(query.keys())) merged[key] = query.getAll(key);
  const to = link(segments, { ...merged, ...values });
  if (to === location.hash) return;
  if (step) {
    location.hash = to;
    return;
  }
  history.replaceState(null, '', to);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = (): void => setHash(location.hash);
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return parseRoute(hash);
}
