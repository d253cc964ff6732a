// Light or dark: what the reader chose, or else what their system prefers.
import { useEffect, useState } from 'preact/hooks';

type Choice = 'auto' | 'light' | 'dark';
const key = 'mneme-theme';
const system = matchMedia('(prefers-color-scheme: dark)');
const watchers = new Set<() => void>();

// A browser may refuse storage; then the choice lasts until the page is closed.
let choice: Choice = 'auto';
try {
  const stored = localStorage.getItem(key);
  if (stored === 'light' || stored === 'dark') choice = stored;
} catch {
  choice = 'auto';
}

export const isDark = (): boolean => (choice === 'auto' ? system.matches : choice === 'dark');

function apply(): void {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
  for (const watcher of watchers) watcher();
}

export function toggleTheme(): void {
  const next = isDark() ? 'light' : 'dark';
  // Choosing what the system prefers is going back to it.
  choice = (next === 'dark') === system.matches ? 'auto' : next;
  try {
    if (choice === 'auto') localStorage.removeItem(key);
    else localStorage.setItem(key, choice);
  } catch {
    // It still holds for this page.
  }
  apply();
}

export function startTheme(): void {
  system.addEventListener('change', apply);
  apply();
}

export function useDark(): boolean {
  const [dark, setDark] = useState(isDark());
  useEffect(() => {
    const watcher = (): void => setDark(isDark());
    watchers.add(watcher);
    return () => {
      watchers.delete(watcher);
    };
  }, []);
  return dark;
}
