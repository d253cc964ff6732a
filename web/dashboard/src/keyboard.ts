// Keys of the page. A view adds its own while it is shown.
import { useEffect, useRef } from 'preact/hooks';

export interface Key {
  keys: string;  // as shown: 'g h', 'j', '?'
  what: string;
  act: () => void;
}

const active: Set<{ title: string; keys: Key[] }> = new Set();

export const shownKeys = (): { title: string; keys: Key[] }[] => [...active];

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (/^(input|textarea|select)$/i.test(target.tagName) || target.isContentEditable);

let before = '';
let beforeAt = 0;

function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.key === 'Escape' && isTyping(event.target)) {
    (event.target as HTMLElement).blur();
    return;
  }
  const checkbox = event.target instanceof HTMLInputElement && event.target.type === 'checkbox';
  if (isTyping(event.target) && !checkbox) return;
  // A key of a button or a link is theirs.
  const owns = event.target instanceof HTMLElement && event.target.closest('a, button, summary, input');
  if (owns && (event.key === 'Enter' || event.key === ' ')) return;
  const name = event.key === ' ' ? 'space' : event.key;
  const pair = Date.now() - beforeAt < 1500 ? `${before} ${name}` : '';
  before = name;
  beforeAt = Date.now();
  // The newest view first.
  for (const { keys } of [...active].reverse()) {
    const found = keys.find((key) => key.keys.split(' or ').some((one) => one === pair || one === name));
    if (found) {
      event.preventDefault();
      before = '';
      found.act();
      return;
    }
  }
}

export function startKeyboard(): void {
  document.addEventListener('keydown', onKey);
}

export function useKeys(title: string, keys: Key[]): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const mine = {
      title,
      get keys(): Key[] {
        return latest.current;
      },
    };
    active.add(mine);
    return () => {
      active.delete(mine);
    };
  }, [title]);
}
