// What every view has: a title, and something to show before and instead of its answer.
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

import { ApiError } from './client';
import type { Resource } from './resource';

export function PageTitle({ title, note, children }: { title: string; note?: ComponentChildren; children?: ComponentChildren }) {
  useEffect(() => {
    document.title = `${title} · Mneme`;
  }, [title]);
  return (
    <header class="title">
      <h1>{title}</h1>
      {note && <span class="quiet">{note}</span>}
      {children && <div class="tools">{children}</div>}
    </header>
  );
}

export function Trouble({ error }: { error: Error }) {
  return (
    <div class="trouble" role="alert">
      <p>{error.message}</p>
      {error instanceof ApiError && error.hint && <p class="quiet">{error.hint}</p>}
    </div>
  );
}

export function Answer<T>({ of, children }: { of: Resource<T>; children: (data: T) => ComponentChildren }) {
  if (of.data !== null) {
    return (
      <>
        {of.error instanceof ApiError && <Trouble error={of.error} />}
        {children(of.data)}
      </>
    );
  }
  if (of.error) return <Trouble error={of.error} />;
  return <div class="loading" aria-busy="true">Loading…</div>;
}
