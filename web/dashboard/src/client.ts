// Questions to the server, or to the files of a static export.
import type { LiveEvent } from './types';

// The page is exported if its head says so; then answers are files, and nothing is live.
export const isStatic = document.querySelector('meta[name="mneme"]')?.getAttribute('content') === 'static';

export class ApiError extends Error {
  constructor(readonly status: number, message: string, readonly hint: string) {
    super(message);
  }
}

// The server did not answer at all.
export class AwayError extends Error {}

const encode = encodeURIComponent;

// Where an answer is. A name is one segment of a path, slashes and all; the file of a static export is named after the encoded
// segment, so its address is encoded twice.
export function address(segments: string[], query?: URLSearchParams): string {
  const text = query?.toString();
  if (!isStatic) return `api/v1/${segments.map(encode).join('/')}${text ? `?${text}` : ''}`;
  const scale = query?.get('scale');
  const names = segments.map((segment) => encode(encode(segment)));
  return `api/v1/${names.join('/')}${scale ? `.${encode(encode(scale))}` : ''}.json`;
}

async function refusal(answer: Response): Promise<ApiError> {
  let message = `The server answered ${answer.status}.`;
  let hint = '';
  try {
    const body = (await answer.json()) as { error?: { message?: string; expected?: string } };
    if (body.error?.message) message = body.error.message;
    hint = body.error?.expected ? `Expected ${body.error.expected}.` : '';
  } catch {
    // Not JSON: the status has to do.
  }
  if (answer.status === 403) hint = 'Open the address that the server printed: it has the token.';
  return new ApiError(answer.status, message, hint);
}

export async function ask<T>(where: string, signal?: AbortSignal): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(where, { signal, cache: 'no-cache', credentials: 'same-origin' });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new AwayError('The server does not answer.');
  }
  if (!answer.ok) throw await refusal(answer);
  try {
    return (await answer.json()) as T;
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new AwayError('The answer broke off.');
  }
}

export function readEvent(text: string): LiveEvent | null {
  try {
    const event = JSON.parse(text) as Partial<LiveEvent>;
    return { generation: Number(event.generation ?? 0), runs: event.runs ?? [], studies: event.studies ?? [], papers: event.papers === true, more: event.more === true, reading: event.reading ?? null, trouble: event.trouble ?? null };
  } catch {
    return null;
  }
}
